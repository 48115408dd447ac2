"""One offline model for all tests of a process: it keeps the vectors of documents that come again with each request."""

from __future__ import annotations

from services.memory.multilingual import Multilingual
from services.model.offline import OfflineModel

EMBEDDER = Multilingual()
MODEL = OfflineModel(EMBEDDER)
