"""mem0 2.2 with pgvector on the same vectors, as its own documentation sets it up; None where it is not installed."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Mapping, Sequence
from typing import Any

from services.core.memory.embeddings import Vector

THRESHOLD = 0.0  # its default hides hits of low cosine, which a ranking needs


def is_installed() -> bool:
    """Whether mem0 can be imported here."""
    return importlib.util.find_spec("mem0") is not None


class KnownVectors:
    """mem0's embedder port over vectors that were made before."""

    def __init__(self, vectors: Mapping[str, Vector]) -> None:
        self._vectors = {text: vector.tolist() for text, vector in vectors.items()}

    def embed(self, text: str, memory_action: str | None = None) -> list[float]:
        return self._vectors[text]

    def embed_batch(self, texts: Sequence[str], memory_action: str | None = None) -> list[list[float]]:
        return [self._vectors[text] for text in texts]


class Mem0:
    """A mem0 memory in its own collection of the database at `url`; its model is never called (`infer=False`)."""

    def __init__(self, url: str, vectors: Mapping[str, Vector], dimensions: int = 384) -> None:
        os.environ["MEM0_TELEMETRY"] = "False"
        from mem0 import Memory

        store = {"connection_string": url, "collection_name": "mem0", "embedding_model_dims": dimensions, "hnsw": True}
        keyless = {"api_key": "none", "model": "none"}
        self._memory: Any = Memory.from_config(
            {
                "vector_store": {"provider": "pgvector", "config": store},
                "embedder": {"provider": "openai", "config": keyless},
                "llm": {"provider": "anthropic", "config": {**keyless, "enable_sampling_parameters": False}},
            }
        )
        self._memory.embedding_model = KnownVectors(vectors)

    def add(self, user: str, text: str, number: int) -> None:
        """One memory, as it stands."""
        self._memory.add([{"role": "user", "content": text}], user_id=user, metadata={"number": number}, infer=False)

    def search(self, user: str, query: str, limit: int) -> list[int]:
        """The numbers of the memories it finds, best first."""
        found = self._memory.search(query, filters={"user_id": user}, top_k=limit, threshold=THRESHOLD)
        return [hit["metadata"]["number"] for hit in found["results"]]
