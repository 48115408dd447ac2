"""What became of one mail of the demo, read from the tables: for the terminal, and for the check at the end."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from schemas.events.base import EventData
from schemas.events.memory import FactRecorded, FactRefused, ParticipantStateChanged
from schemas.events.threads import StateChanged
from services.core.app import App
from services.core.db import Connection, fetch_all, fetch_one, queries
from services.demo.world import Mail, SentReply
from services.mail.report_tokens import make_report_token

SQL = queries(__file__)

Row = dict[str, Any]

_OUTCOMES = {"sent": "replied", "park": "parked"}


@dataclass(frozen=True, slots=True)
class Aftermath:
    """A mail's outcome and everything that changed because of it."""

    mail: Row
    outcome: str
    reason: str
    thread_state: str
    participant_state: str
    replies: tuple[Row, ...]
    facts: tuple[Row, ...]
    known: str
    steps: tuple[Row, ...]
    refused: tuple[Row, ...]

    def sent_reply(self, app: App, app_reply: Row) -> SentReply:
        """Our reply as the customer's mail program has it."""
        return SentReply(
            message_id=app_reply["message_id"],
            references=(*self.mail["references_ids"], self.mail["message_id"]),
            subject=f"Re: {self.mail['subject']}",
            text=app_reply["text"],
            sent_at=app_reply["at"],
            report_token=make_report_token(app.keyring, app.settings.workspace, UUID(app_reply["reply_id"])),
        )


async def look(app: App, mail_id: UUID) -> Aftermath:
    """Read it all."""
    async with app.database.reading() as conn:
        mail = await fetch_one(conn, SQL.mail, {"mail_id": mail_id})
        assert mail is not None
        args = {"mail_id": mail_id, "thread_id": mail["thread_id"], "participant_id": mail["participant_id"]}
        correlated = {**args, "correlation_id": mail["correlation_id"]}
        replies = await fetch_all(conn, SQL.replies, correlated)
        return Aftermath(
            mail=mail,
            outcome=str(_OUTCOMES.get(mail["outcome"], mail["outcome"])),
            reason=mail["reason"],
            thread_state=mail["thread_state"] or "",
            participant_state=mail["participant_state"] or "",
            replies=tuple({**row, **row["data"], "goals": row["data"]["goals_add"]} for row in replies),
            facts=await _caused(conn, correlated, FactRecorded),
            known=" | ".join(row["text"] for row in await fetch_all(conn, SQL.facts_known, args)),
            steps=await _caused(conn, correlated, StateChanged, ParticipantStateChanged),
            refused=await _caused(conn, correlated, FactRefused),
        )


async def _caused(conn: Connection, args: Row, *types: type[EventData]) -> tuple[Row, ...]:
    """The data of events that came of the mail, with their aggregate."""
    rows = await fetch_all(conn, SQL.caused, {**args, "types": [one.TYPE for one in types]})
    return tuple({"aggregate": row["aggregate"], **row["data"]} for row in rows)


def differences(mail: Mail, came: Aftermath) -> list[str]:
    """Where what became of a mail is not what the story expects."""
    wanted = mail.expected
    said = " ".join(reply["text"] for reply in came.replies).casefold()
    faults = []
    if came.outcome != wanted.outcome:
        faults.append(f"ended as {came.outcome} ({came.reason}), expected {wanted.outcome}")
    faults += [f"the reply does not mention {word!r}" for word in wanted.must_mention if word.casefold() not in said]
    faults += [f"the reply mentions {word!r}" for word in wanted.must_not_mention if word.casefold() in said]
    faults += [f"{word!r} was not learned" for word in wanted.learned if word.casefold() not in came.known.casefold()]
    for name, want, got in (
        ("thread", wanted.thread_state, came.thread_state),
        ("customer", wanted.participant_state, came.participant_state),
    ):
        if want and want != got:
            faults.append(f"the {name} is {got or 'unknown'}, expected {want}")
    return faults
