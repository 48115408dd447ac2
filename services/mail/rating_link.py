"""The link in a reply by which whoever got it says whether it was a good answer."""

from __future__ import annotations

from uuid import UUID

from services.mail.link_tokens import make_link_token, named_by
from services.mail.tokens import Keyring

PATH = "/rate"
PURPOSE = b"correspondent rating token 1"


def rating_link(keyring: Keyring, workspace: str, reply_id: UUID, base: str) -> str:
    """The link of one reply. It names the reply, and nobody."""
    return f"{base.rstrip('/')}{PATH}/{make_link_token(keyring, PURPOSE, workspace, reply_id)}"


def rated_by(keyring: Keyring, workspace: str, token: str) -> UUID | None:
    """The reply that a token is of; None where it is none of ours."""
    return named_by(keyring, PURPOSE, workspace, token)
