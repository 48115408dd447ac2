"""Keeps the knowledge base: documents in editions, cut into passages that are found, cited, and stay for their time.

In: document-events (what people ask), deliveries (what is cited), thread-events (what people answered).
Out: document-events. Owns the aggregate `document`; a proposed article is one that nobody has accepted yet.
"""

from services.core.bus.processor import Processor
from services.learn_documents.apply import APPLIERS
from services.learn_documents.handler import HANDLERS

PROCESSOR = Processor(name="learn_documents", handlers=HANDLERS, appliers=APPLIERS, background=True)
