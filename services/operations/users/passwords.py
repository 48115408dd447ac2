"""Hashes of passwords: Argon2id with OWASP's parameters (Password Storage Cheat Sheet), in PHC form.

One at a time in this process: each takes 19 MB and 40 ms of CPU, so that a flood of guesses cannot take the rest.
"""

from __future__ import annotations

import asyncio
from functools import cache

from cryptography.exceptions import InvalidKey
from cryptography.hazmat.primitives.kdf.argon2 import Argon2id

from services.core.clock import random_bytes
from services.core.errors import Permanent

SHORTEST, LONGEST = 12, 200  # characters
ITERATIONS, LANES, MEMORY_KIB, BYTES = 2, 1, 19 * 1024, 32
_one_at_a_time = asyncio.Semaphore(1)


class PasswordRefused(Permanent):
    """A password is 12 to 200 characters."""


def check_password(password: str) -> None:
    """Raises `PasswordRefused` for one that nobody may have."""
    if not SHORTEST <= len(password) <= LONGEST:
        raise PasswordRefused(f"a password is {SHORTEST} to {LONGEST} characters")


async def hash_password(password: str) -> str:
    """The hash to store. Raises `PasswordRefused`."""
    check_password(password)
    async with _one_at_a_time:
        return await asyncio.to_thread(_hashed, password)


async def is_password(password: str, hashed: str) -> bool:
    """Whether it is the password of this hash. Without a hash it takes as long, and is not."""
    if len(password) > LONGEST:
        return False
    async with _one_at_a_time:
        return await asyncio.to_thread(_verified, password, hashed or _nobodys()) and bool(hashed)


def _hashed(password: str) -> str:
    kdf = Argon2id(salt=random_bytes(16), length=BYTES, iterations=ITERATIONS, lanes=LANES, memory_cost=MEMORY_KIB)
    return kdf.derive_phc_encoded(password.encode("utf-8", "surrogatepass"))


def _verified(password: str, hashed: str) -> bool:
    try:
        Argon2id.verify_phc_encoded(password.encode("utf-8", "surrogatepass"), hashed)
    except InvalidKey:
        return False
    return True


@cache
def _nobodys() -> str:
    return _hashed("nobody has this password")
