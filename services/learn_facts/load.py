"""Reads a participant, and the mails that a proposal may cite, under the participant's lock."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any
from uuid import UUID

from services.core.bus.unit import Unit
from services.core.db import fetch_several
from services.learn_facts.apply_facts import SQL
from services.learn_facts.participant import KnownFact, KnownIssue, Participant, PastFact, Session, Source
from services.learn_facts.support import Support

Row = dict[str, Any]


async def load(unit: Unit, participant_id: UUID) -> Participant:
    """The participant, held until the end of the transaction."""
    await unit.lock("participant", participant_id)
    of = {"workspace": unit.workspace, "participant_id": participant_id}
    queries = (SQL.participant, SQL.issues, SQL.sources, SQL.facts, SQL.past, SQL.parents, SQL.members, SQL.session)
    found, issues, sources, facts, past, parents, members, sessions = await fetch_several(unit.conn, queries, of)
    supports = _grouped((row["fact_id"], Support(**row)) for row in sources)
    row = found[0] if found else None
    told = {name: row[name] for name in ("name", "state", "sentiment", "frustrated_in_row")} if row else {}
    return Participant(
        participant_id=participant_id,
        exists=row is not None,
        **told,
        tags=tuple(row["tags"]) if row else (),
        facts=_facts(facts, supports, parents, members),
        past=tuple(PastFact(**one, supports=tuple(supports[one["fact_id"]])) for one in past),
        issues=tuple(KnownIssue(**issue) for issue in issues),
        session=_session(sessions[0]) if sessions else None,
    )


async def load_sources(unit: Unit, participant_id: UUID, mail_ids: Sequence[UUID], thread_id: UUID) -> list[Source]:
    """The mails of a turn, then others of the thread, then what we wrote there, for what is ours to say."""
    of = {"workspace": unit.workspace, "participant_id": participant_id, "thread_id": thread_id}
    rows = await unit.all(SQL.mails, mail_ids=list(mail_ids), **of)
    ours = await unit.all(SQL.our_words, thread_ids=[thread_id, *(row["thread_id"] for row in rows)])
    mails = [_mail(row, tuple(one["text"] for one in ours if one["at"] < row["received_at"])) for row in rows]
    return [*mails, *(_our_mail(row) for row in ours if row["reply_id"])]


def _facts(
    rows: Iterable[Row], supports: dict[UUID, list[Support]], parents: Iterable[Row], members: Iterable[Row]
) -> tuple[KnownFact, ...]:
    parents_of = _grouped((one["fact_id"], one["parent_id"]) for one in parents)
    members_of = _grouped((one["merged_into"], one["fact_id"]) for one in members)
    return tuple(
        KnownFact(
            **{**row, "apart_from": tuple(row["apart_from"])},
            supports=tuple(one for id in (row["fact_id"], *members_of[row["fact_id"]]) for one in supports[id]),
            parents=tuple(parents_of[row["fact_id"]]),
            members=tuple(members_of[row["fact_id"]]),
        )
        for row in rows
    )


def _session(row: Row) -> Session:
    return Session(**{**row, "entities": tuple(row["entities"]), "actions": tuple(row["actions"])})


def _grouped(pairs: Iterable[tuple[UUID, Any]]) -> dict[UUID, list[Any]]:
    groups: dict[UUID, list[Any]] = defaultdict(list)
    for key, value in pairs:
        groups[key].append(value)
    return groups


def _mail(row: Row, our_words: tuple[str, ...]) -> Source:
    return Source(
        mail_id=row["mail_id"],
        thread_id=row["thread_id"],
        message_id=row["message_id"],
        text=row["text"],
        received_at=row["received_at"],
        sent_at=row["sent_at"],
        history=row["mode"] == "history",
        trusted=row["trusted"],
        our_words=our_words,
    )


def _our_mail(row: Row) -> Source:
    return Source(
        mail_id=None,
        thread_id=row["thread_id"],
        message_id="",
        text=row["text"],
        received_at=row["at"],
        sent_at=None,
        history=False,
        trusted=True,
        reply_id=row["reply_id"],
    )
