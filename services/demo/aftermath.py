"""What became of one mail of the demo, read from the tables: for the terminal, and for the check at the end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TypeVar
from uuid import UUID

from schemas.events.base import EventData
from schemas.events.memory import FactRecorded, FactRefused, ParticipantStateChanged
from schemas.events.threads import StateChanged
from services.core.app import App
from services.core.db import Connection, fetch_all, queries, row_as
from services.demo.world import Mail, SentReply
from services.mail.report_tokens import make_report_token

SQL = queries(__file__)

E = TypeVar("E", bound=EventData)
StateChange = StateChanged | ParticipantStateChanged

_OUTCOMES = {"sent": "replied", "park": "parked"}


@dataclass(frozen=True, slots=True)
class DemoOutcome:
    """A mail as it was read, and how it ended; the states are those of its thread and its author, if it has them."""

    thread_id: UUID
    participant_id: UUID | None
    message_id: str
    references_ids: Sequence[str]
    author_name: str
    author_addr: str
    subject: str
    text: str
    identity: str
    verdict: str
    thread_state: str
    participant_state: str
    correlation_id: UUID
    outcome: str
    reason: str


@dataclass(frozen=True, slots=True)
class DemoReply:
    """A reply that left."""

    reply_id: UUID
    message_id: str
    recipient: str
    text: str
    at: datetime


@dataclass(frozen=True, slots=True)
class Aftermath:
    """A mail's outcome and everything that changed because of it."""

    mail: DemoOutcome
    outcome: str
    replies: tuple[DemoReply, ...]
    facts: tuple[FactRecorded, ...]
    known: str
    steps: tuple[StateChange, ...]
    refused: tuple[FactRefused, ...]

    def sent_reply(self, app: App, reply: DemoReply) -> SentReply:
        """Our reply as the customer's mail program has it."""
        return SentReply(
            message_id=reply.message_id,
            references=(*self.mail.references_ids, self.mail.message_id),
            subject=f"Re: {self.mail.subject}",
            text=reply.text,
            sent_at=reply.at,
            report_token=make_report_token(app.signing_keys, app.settings.workspace, reply.reply_id),
        )


async def look(app: App, mail_id: UUID) -> Aftermath:
    """Read it all."""
    async with app.database.reading() as conn:
        mail = await row_as(conn, DemoOutcome, SQL.mail, {"mail_id": mail_id})
        assert mail is not None
        correlated = {"correlation_id": mail.correlation_id}
        replies = await _replies(conn, correlated)
        known = await fetch_all(conn, SQL.facts_known, {"participant_id": mail.participant_id})
        return Aftermath(
            mail=mail,
            outcome=_OUTCOMES.get(mail.outcome, mail.outcome),
            replies=replies,
            facts=await _caused(conn, correlated, FactRecorded),
            known=" | ".join(row["text"] for row in known),
            steps=await _caused(conn, correlated, StateChanged, ParticipantStateChanged),
            refused=await _caused(conn, correlated, FactRefused),
        )


async def _replies(conn: Connection, args: dict[str, UUID]) -> tuple[DemoReply, ...]:
    rows = await fetch_all(conn, SQL.replies, args)
    return tuple(
        DemoReply(row["reply_id"], row["message_id"], row["recipient"], row["data"]["text"], row["at"]) for row in rows
    )


async def _caused(conn: Connection, args: dict[str, UUID], *types: type[E]) -> tuple[E, ...]:
    """The events of these types that came of the mail."""
    by_name = {one.TYPE: one for one in types}
    rows = await fetch_all(conn, SQL.caused, {**args, "types": list(by_name)})
    return tuple(by_name[row["type"]].model_validate(row["data"]) for row in rows)


def differences(mail: Mail, came: Aftermath) -> list[str]:
    """Where what became of a mail is not what the story expects."""
    wanted = mail.expected
    said = " ".join(reply.text for reply in came.replies).casefold()
    faults = []
    if came.outcome != wanted.outcome:
        faults.append(f"ended as {came.outcome} ({came.mail.reason}), expected {wanted.outcome}")
    faults += [f"the reply does not mention {word!r}" for word in wanted.must_mention if word.casefold() not in said]
    faults += [f"the reply mentions {word!r}" for word in wanted.must_not_mention if word.casefold() in said]
    faults += [f"{word!r} was not learned" for word in wanted.learned if word.casefold() not in came.known.casefold()]
    for name, want, got in (
        ("thread", wanted.thread_state, came.mail.thread_state),
        ("customer", wanted.participant_state, came.mail.participant_state),
    ):
        if want and want != got:
            faults.append(f"the {name} is {got or 'unknown'}, expected {want}")
    return faults
