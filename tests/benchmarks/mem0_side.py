"""mem0 2.2 with pgvector on the same vectors, as its own documentation sets it up; None where it is not installed."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

from services.memory.embeddings import Vector

THRESHOLD = 0.0  # its default hides hits of low cosine, which a ranking needs


def is_installed() -> bool:
    """Whether mem0 can be imported here."""
    return importlib.util.find_spec("mem0") is not None


class Vectors(Protocol):
    """Whatever knows the vector of a text at once."""

    def __call__(self, text: str, /) -> Vector: ...


class KnownVectors:
    """mem0's embedder port over vectors that cost nothing."""

    def __init__(self, vector_of: Vectors) -> None:
        self._vector_of = vector_of

    def embed(self, text: str, memory_action: str | None = None) -> list[float]:
        found: list[float] = self._vector_of(text).tolist()
        return found

    def embed_batch(self, texts: Sequence[str], memory_action: str | None = None) -> list[list[float]]:
        return [self.embed(text) for text in texts]


class SaidBefore:
    """mem0's model port: answers at once with what it was told to."""

    answer = ""

    def generate_response(self, *args: Any, **kwargs: Any) -> str:
        return self.answer


class Mem0:
    """A mem0 memory in its own collection of the database at `url`; its history in a file where one is given."""

    def __init__(self, url: str, vector_of: Vectors, dimensions: int = 384, history: Path | None = None) -> None:
        os.environ["MEM0_TELEMETRY"] = "False"
        from mem0 import Memory

        store = {"connection_string": url, "collection_name": "mem0", "embedding_model_dims": dimensions, "hnsw": True}
        keyless = {"api_key": "none", "model": "none"}
        kept = {"history_db_path": str(history)} if history else {}
        self._memory: Any = Memory.from_config(
            {
                **kept,
                "vector_store": {"provider": "pgvector", "config": store},
                "embedder": {"provider": "openai", "config": keyless},
                "llm": {"provider": "anthropic", "config": {**keyless, "enable_sampling_parameters": False}},
            }
        )
        self._memory.embedding_model = KnownVectors(vector_of)
        self._memory.llm = self._model = SaidBefore()

    def add(self, user: str, text: str, number: int) -> None:
        """One memory, as it stands; the model is not asked (`infer=False`)."""
        self._memory.add([{"role": "user", "content": text}], user_id=user, metadata={"number": number}, infer=False)

    def learn(self, user: str, text: str, extracted: str) -> None:
        """A message, of which the model extracts this (JSON as mem0 asks for it)."""
        self._model.answer = extracted
        self._memory.add([{"role": "user", "content": text}], user_id=user)

    def search(self, user: str, query: str, limit: int) -> list[dict[str, Any]]:
        """The memories it finds, best first."""
        found = self._memory.search(query, filters={"user_id": user}, top_k=limit, threshold=THRESHOLD)
        results: list[dict[str, Any]] = found["results"]
        return results

    def numbers(self, user: str, query: str, limit: int) -> list[int]:
        """The numbers that the memories it finds were added under, best first."""
        return [hit["metadata"]["number"] for hit in self.search(user, query, limit)]
