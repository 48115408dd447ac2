"""Keeps the knowledge base: documents cut into passages, versioned, found by words and meaning.

In: document-events (submitted). Out: document-events (indexed, refused).
Owns the aggregate `document`.
"""

from services.core.bus.processor import Processor
from services.learn_documents.apply import APPLIERS
from services.learn_documents.handler import HANDLERS

PROCESSOR = Processor(name="learn_documents", handlers=HANDLERS, appliers=APPLIERS)
