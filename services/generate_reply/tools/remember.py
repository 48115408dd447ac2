"""Tools that propose changes to memory. learn_facts decides; here the quote has to stand in the mail."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal
from uuid import UUID

from schemas.events.replies import FactProposal, MemoryLoaded
from schemas.model_output import CorrectInput, ForgetInput, ParticipantStateInput, RememberInput
from services.generate_reply.desk import MOST_FACTS, Desk
from services.generate_reply.tools.refusal import CallRefused
from services.memory.quotes import find_quote

Operation = Literal["add", "update", "delete"]
DONE: Mapping[Operation, str] = MappingProxyType(
    {"add": "noted a fact", "update": "corrected a fact", "delete": "took a fact back"}
)


async def remember(given: RememberInput, desk: Desk) -> str:
    """Store one fact about the author."""
    return _propose(desk, "add", given)


async def correct(given: CorrectInput, desk: Desk) -> str:
    """Replace a stored fact."""
    return _propose(desk, "update", given)


async def forget(given: ForgetInput, desk: Desk) -> str:
    """End a stored fact."""
    return _propose(desk, "delete", given)


async def set_state(given: ParticipantStateInput, desk: Desk) -> str:
    """Propose a step of the lifecycle."""
    may_note(desk.event)
    desk.participant_state, desk.participant_state_reason = given.state, given.reason
    desk.did("proposed a step of the customer's lifecycle", given.state)
    return "proposed"


def _propose(desk: Desk, op: Operation, given: RememberInput | CorrectInput | ForgetInput) -> str:
    may_note(desk.event)
    if len(given.quote) > (most := desk.app.settings.learning.quote_characters):
        raise CallRefused(f"the quote has more than {most} characters: copy the few words that say it")
    if len(desk.facts) >= MOST_FACTS:
        raise CallRefused(f"one mail tells of at most {MOST_FACTS} facts")
    fields = given.model_dump(exclude={"reason"})
    proposed = FactProposal(op=op, mail_id=_source(desk, given.quote), **fields)
    desk.facts.append(proposed)
    desk.did(DONE[op], f"{proposed.kind}/{proposed.key}")
    return "noted"


def _source(desk: Desk, quote: str) -> UUID:
    for mail in reversed(desk.mails):
        if find_quote(quote, mail.text):
            return mail.mail_id
    raise CallRefused("the quote does not stand in the customer's new text; copy the words exactly, or leave it")


def may_note(event: MemoryLoaded) -> None:
    """Raises `CallRefused` where nothing is kept: a colleague has the thread, or nothing proves who wrote."""
    if event.purpose == "suggestion":
        raise CallRefused("a colleague has the thread: what the mail tells is noted when they have answered")
    if not event.trusted:
        raise CallRefused("the sender is not authenticated: nothing is remembered or changed for them")
