"""Somebody gets no more mail that we begin: by the token of one, or because a person of ours says so; or again."""

from __future__ import annotations

from uuid import UUID

from schemas.events.outreach import UnsubscribeRequested
from services.core.app import App
from services.core.errors import Permanent
from services.core.ids import outreach_book_id
from services.mail.unsubscribe import unsubscribed_by
from services.operations.requests import ask, decision_on

CONSUMER = "reach_out"


class TokenUnknown(Permanent):
    """The token is none of ours."""


async def by_token(app: App, token: str) -> None:
    """Put it on the log that whom this mail was to wants no more. Raises `TokenUnknown`."""
    outreach_id = unsubscribed_by(app.keyring, app.settings.workspace, token)
    if outreach_id is None:
        raise TokenUnknown("this link is not one of ours, or not whole")
    await ask(app, UnsubscribeRequested(book_id=_book(app), outreach_id=outreach_id, how="link"))


async def by_person(app: App, participant_id: UUID, *, lifted: bool, by: str, timeout_s: float) -> None:
    """Have somebody get no more such mail, or again. Raises `NotDecidedYet`."""
    asked = UnsubscribeRequested(book_id=_book(app), participant_id=participant_id, how="person", lifted=lifted, by=by)
    await decision_on(app, asked, CONSUMER, timeout_s=timeout_s)


def _book(app: App) -> UUID:
    return outreach_book_id(app.settings.workspace)
