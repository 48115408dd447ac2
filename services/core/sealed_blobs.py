"""Blobs under the keys of data subjects, in whichever store there is.

What is about somebody is sealed with their key before it is stored; its name is the key's id and the store's own name
for the sealed bytes, so that neither says anything of the content, and nobody's copy of a file is anybody else's. What
is about nobody (documents) is stored as it is. Storing twice is storing once, as the store promises.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from uuid import UUID

from services.core.blobs import BlobDamaged, BlobMissing, BlobStore
from services.core.keys import Keys, NotAuthentic, SubjectKey
from services.core.keys.aead import seal_again, unseal

SEALED = re.compile(r"(?P<key>[0-9a-f]{32})/(?P<name>[0-9a-f]{64})")


class SealedBlobs:
    """A blob store with keys; without them (`None`) it has only what is about nobody."""

    def __init__(self, store: BlobStore, keys: Keys | None) -> None:
        self._store, self._keys = store, keys

    async def put(self, content: bytes, key: SubjectKey | None = None) -> str:
        """Store `content`, sealed where a key is given; its name. Returns only when it is safe."""
        if key is None:
            return await self._store.put(content)
        return f"{key.id.hex}/{await self._store.put(seal_again(key, content))}"

    async def get(self, name: str) -> bytes:
        """The content of this name. Raises `BlobMissing`, `BlobDamaged`, or `Erased` where its key is gone."""
        sealed = SEALED.fullmatch(name)
        if sealed is None:
            return await self._store.get(name)
        if self._keys is None:
            raise BlobMissing(f"blob {name} is sealed, and there are no keys here")
        key = await self._keys.key(UUID(sealed["key"]))
        try:
            return unseal(key.secret, await self._store.get(sealed["name"]), key.id.bytes)
        except NotAuthentic:
            raise BlobDamaged(f"blob {name} does not have the content it had") from None

    def lying(self) -> AsyncIterator[tuple[str, bytes]]:
        """Every file of the store as it lies there, sealed or not."""
        return self._store.lying()

    async def delete(self, name: str) -> None:
        """Remove a sealed blob; one that is not there is no error."""
        if sealed := SEALED.fullmatch(name):
            await self._store.delete(sealed["name"])
