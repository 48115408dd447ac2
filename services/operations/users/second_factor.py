"""Codes of an authenticator app (TOTP, RFC 6238): six digits, 30 s each, one step early or late, none of them twice."""

from __future__ import annotations

import base64
import hashlib
from uuid import UUID

from cryptography.hazmat.primitives.hashes import SHA1
from cryptography.hazmat.primitives.twofactor.totp import TOTP

from services.core.app import App
from services.core.clock import random_bytes
from services.core.db import fetch_one
from services.core.keys.aead import seal, unseal
from services.operations.users import SQL, User

ISSUER = "Correspondent"
KEY_BYTES, DIGITS, STEP_S = 20, 6, 30
EARLY_OR_LATE = (0, -1, 1)  # steps


def new_key() -> str:
    """A key for an app, in base32."""
    return base64.b32encode(random_bytes(KEY_BYTES)).decode()


def app_address(user: User, key: str) -> str:
    """The `otpauth` address that an app takes a key from."""
    return _totp(_bytes(key)).get_provisioning_uri(user.email or user.name, ISSUER)


def is_code(key: str, code: str, now: float) -> bool:
    """Whether an app that has the key shows this code. Raises ValueError for a key that is not one of `new_key`."""
    return _step_of(_bytes(key), code, now) is not None


async def set_key(app: App, user: User, key: str) -> None:
    """Ask for codes of this key when the user signs in; "" asks for none."""
    sealed = seal(_sealing(app), _bytes(key), user.user_id.bytes) if key else None
    args = {"workspace": app.settings.workspace, "user_id": user.user_id, "secret": sealed}
    async with app.database.reading() as conn:
        await conn.execute(SQL.set_second_factor, args)


async def takes_code(app: App, user_id: UUID, code: str) -> bool:
    """Whether this is the user's code now. It is used up by that, and so are those before it."""
    args = {"workspace": app.settings.workspace, "user_id": user_id}
    async with app.database.reading() as conn:
        row = await fetch_one(conn, SQL.second_factor, args)
        if row is None:
            return False
        secret = unseal(_sealing(app), bytes(row["totp_secret"]), user_id.bytes)
        step = _step_of(secret, code, app.now().timestamp())
        return step is not None and await fetch_one(conn, SQL.use_step, args | {"step": step}) is not None


def _step_of(secret: bytes, code: str, now: float) -> int | None:
    given = "".join(code.split()).encode("utf-8", "surrogatepass")
    return next((step for off in EARLY_OR_LATE if _shown(secret, step := int(now) // STEP_S + off) == given), None)


def _shown(secret: bytes, step: int) -> bytes:
    return _totp(secret).generate(step * STEP_S)


def _totp(secret: bytes) -> TOTP:
    return TOTP(secret, DIGITS, SHA1(), STEP_S, enforce_key_length=False)


def _bytes(key: str) -> bytes:
    decoded = base64.b32decode(key)
    if len(decoded) != KEY_BYTES:
        raise ValueError(f"a key is {KEY_BYTES} bytes")
    return decoded


def _sealing(app: App) -> bytes:
    return hashlib.sha256(b"second factor\0" + app.secret).digest()
