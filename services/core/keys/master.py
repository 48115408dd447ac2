"""The keys that wrap the subjects' keys: kept below `home` or in the settings, never in the database.

The first one wraps what is made from now on; the others still unwrap what they wrapped. One key a line, as 64
hexadecimal digits. A key's id is the start of its hash, so that it is known which one a wrapped key needs.
"""

from __future__ import annotations

import hashlib
import os
import re
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from uuid import UUID

from services.core.clock import random_bytes
from services.core.errors import Permanent
from services.core.keys.aead import KEY_BYTES, SubjectKey, seal, unseal

FILE = "master.key"
_KEY = re.compile(r"[0-9a-fA-F]{64}")


class MasterKeyMissing(Permanent):
    """A subject's key was wrapped by a master key that is not here."""


class MasterKeysWrong(Permanent):
    """The master keys cannot be read: one key a line, 64 hexadecimal digits each."""


@dataclass(frozen=True, slots=True)
class MasterKeys:
    """Master keys, the one in use first."""

    secrets: tuple[bytes, ...] = field(repr=False)

    @property
    def current(self) -> str:
        """The id of the one in use."""
        return master_id(self.secrets[0])

    def wrap(self, key: SubjectKey) -> bytes:
        """The subject's key, readable only with the master key in use."""
        return seal(self.secrets[0], key.secret, key.id.bytes)

    def unwrap(self, id: UUID, master: str, wrapped: bytes) -> SubjectKey:
        """The subject's key that the master key with the id `master` wrapped. Raises `MasterKeyMissing`."""
        for secret in self.secrets:
            if master_id(secret) == master:
                return SubjectKey(id, unseal(secret, wrapped, id.bytes))
        raise MasterKeyMissing(
            f"a key was wrapped by the master key {master}, which is not here ({FILE} below home, or master_keys in "
            "the settings); every process of a deployment, and a restored one too, needs the same master keys"
        )


def master_id(secret: bytes) -> str:
    """The id of a master key: it tells keys apart and nothing of them."""
    return hashlib.sha256(b"master\0" + secret).hexdigest()[:16]


def read_master_keys(home: Path, given: str = "") -> MasterKeys:
    """The master keys that are given, else those below `home`, where the first is made at the first start."""
    path = home / FILE
    if not given and not path.exists():
        _put(path, "")
    words = (given or path.read_text(encoding="ascii", errors="replace")).split()
    if not words or not all(_KEY.fullmatch(word) for word in words):
        raise MasterKeysWrong(f"{'the setting master_keys' if given else path}: one key a line, 64 hex digits each")
    return MasterKeys(tuple(bytes.fromhex(word) for word in words))


def add_master_key(home: Path) -> None:
    """Put a new master key before those below `home`."""
    path = home / FILE
    _put(path, path.read_text(encoding="ascii") if path.exists() else "")


def _put(path: Path, before: str) -> None:
    """A new key before those that were there. Where there were none, the first one to make it wins."""
    path.parent.mkdir(parents=True, exist_ok=True)
    number, name = tempfile.mkstemp(prefix=f"{FILE}.", dir=path.parent)  # readable by its owner alone
    aside = Path(name)
    with os.fdopen(number, "w", encoding="ascii") as file:
        file.write(f"{random_bytes(KEY_BYTES).hex()}\n{before}")
    try:
        if before:
            aside.replace(path)
        else:
            os.link(aside, path)
    except FileExistsError:
        pass
    finally:
        aside.unlink(missing_ok=True)
