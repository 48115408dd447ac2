"""The offline model: no network, no weights, no invention.

It answers from the layers of its request alone: it picks the sentences of our documents that fit a question,
the facts that are remembered about the author, and says so when it has nothing. The same request gives the same
answer. It is there for the first trial, for tests and for benchmarks, and its name says what it is;
docs/adr/0004-offline-model.md says why.
"""

from services.model.offline.model import OfflineModel

__all__ = ["OfflineModel"]
