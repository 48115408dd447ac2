"""Unsubscribing from mail that nobody asked for: the token that stands in such a mail, and how it comes back.

A token names one mail (`link_tokens`), so nobody unsubscribes whom we did not write to. Whoever has the mail may: it
stands in the headers List-Unsubscribe and List-Unsubscribe-Post (RFC 2369, RFC 8058).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import quote
from uuid import UUID

from services.mail.link_tokens import make_link_token, named_by
from services.mail.tokens import SigningKeys

PATH = "/unsubscribe"
ONE_CLICK = "List-Unsubscribe=One-Click"
PURPOSE = b"correspondent unsubscribe token 1"
_MARKED = r"(?:\s{0,3}\[[^\[\]]{1,40}\]){0,3}"  # by who carried it: "[EXTERNAL]"
_SUBJECT = re.compile(rf"{_MARKED}\s{{0,10}}unsubscribe\s{{1,10}}([a-z2-7]{{42}})\s{{0,10}}", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Unsubscribe:
    """How one mail is unsubscribed from: by mail to `address`, and by `url` where there is one ("" for none)."""

    address: str
    token: str
    url: str = ""

    @property
    def headers(self) -> list[tuple[str, str]]:
        """The header fields; one-click needs a link."""
        by_mail = f"<mailto:{self.address}?subject={quote(f'unsubscribe {self.token}')}>"
        if not self.url:
            return [("List-Unsubscribe", by_mail)]
        return [("List-Unsubscribe", f"<{self.url}>, {by_mail}"), ("List-Unsubscribe-Post", ONE_CLICK)]

    @property
    def how(self) -> str:
        """The same in words."""
        return self.url or f"Write to {self.address} with the subject: unsubscribe {self.token}"


def make_unsubscribe_token(signing_keys: SigningKeys, workspace: str, outreach_id: UUID) -> str:
    """The token (42 characters) of one mail."""
    return make_link_token(signing_keys, PURPOSE, workspace, outreach_id)


def unsubscribed_by(signing_keys: SigningKeys, workspace: str, token: str) -> UUID | None:
    """The mail that a token is of, under any key; None where it is none of ours."""
    return named_by(signing_keys, PURPOSE, workspace, token)


def token_of_subject(subject: str) -> str:
    """The token in a subject that unsubscribes, or ""."""
    found = _SUBJECT.fullmatch(subject)
    return found[1].lower() if found else ""
