"""Embedders without a model: vectors drawn from a hash of their name and the text, so that no two of them agree."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

import numpy as np

from services.memory.embeddings import TextRefused, Vector


@dataclass
class HashVectors:
    """Unit vectors of 384 numbers. Texts with a word of `refuses` in them are refused; `asked` counts calls."""

    name: str
    dimensions: int = 384
    refuses: Collection[str] = ()
    asked: list[int] = field(default_factory=list)

    async def embed(self, texts: Sequence[str]) -> list[Vector]:
        """See `Embedder.embed`."""
        self.asked.append(len(texts))
        if any(word in text for word in self.refuses for text in texts):
            raise TextRefused("one of these texts is not taken")
        return [self.of(text) for text in texts]

    def of(self, text: str) -> Vector:
        """The vector of one text."""
        seed = int.from_bytes(hashlib.sha256(f"{self.name}\n{text}".encode()).digest()[:8], "big")
        drawn = np.random.default_rng(seed).standard_normal(self.dimensions)
        vector: Vector = (drawn / np.linalg.norm(drawn)).astype(np.float32)
        return vector
