"""The blobs of a sandbox: those of the case and of the deployment, and aside those that are stored while it runs."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from services.core.blobs import BlobMissing, Blobs, BlobStore
from services.core.keys import Keys, SubjectKey
from services.core.sealed_blobs import SealedBlobs


class OverlaidBlobs(Blobs):
    """Reads what the deployment has stored; what is stored now goes aside."""

    def __init__(self, aside: Path, app: BlobStore) -> None:
        super().__init__(aside)
        self._app = app

    async def get(self, sha256: str) -> bytes:
        """The content, from aside or from the deployment. Raises `BlobMissing` or `BlobDamaged`."""
        try:
            return await super().get(sha256)
        except BlobMissing:
            return await self._app.get(sha256)


class CaseBlobs(SealedBlobs):
    """Has what a case holds, else what the deployment holds; remembers by name what of them was read."""

    def __init__(self, store: BlobStore, keys: Keys) -> None:
        super().__init__(store, keys)
        self._given: Mapping[str, bytes] = {}
        self._made: set[str] = set()
        self.taken: dict[str, bytes] = {}

    def begin(self, given: Mapping[str, bytes]) -> None:
        """From here on, a case with these blobs is played."""
        self._given, self._made, self.taken = given, set(), {}

    async def put(self, content: bytes, key: SubjectKey | None = None) -> str:
        """Store `content` aside."""
        name = await super().put(content, key)
        self._made.add(name)
        return name

    async def get(self, name: str) -> bytes:
        """The content of this name. Raises as `SealedBlobs` does."""
        content = self._given[name] if name in self._given else await super().get(name)
        if name not in self._made:
            self.taken[name] = content
        return content
