"""Whom we write to: name, state, risk, tags, issues, what memory answers, and the facts that bear on this mail.

What was included says why, with its scores: a small memory whole, else the best of what fits; and what a question of
the mail brought up, changed or expired facts among it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import timedelta
from uuid import UUID

from services.core.db import Connection, fetch_all, fetch_one
from services.load_memory.participant_lines import fact_entry, issue_entry, person_entry, recall_entry
from services.load_memory.section import Section, entry, section
from services.load_memory.turn import SQL, Turn
from services.memory.facts import KINDS
from services.memory.recall import Answer, recall
from services.memory.search import Hit, search_facts

NAME, SHARED, TRUSTED = "participant", False, False
ABOUT = "The author: how they stand, their issues, what memory answers, then facts by kind, each with its [id]."

ASKED = "asked for"
UNUSED = "- {facts} left out as of little weight, which no mail has asked for in a long time; search_memory finds them"
NOT_SEARCHED = "- facts were not searched: the mail asks nothing; search_memory finds them"


def budget(turn: Turn) -> int:
    """Tokens."""
    return turn.settings.facts_tokens


async def load(turn: Turn, conn: Connection) -> Section:
    """Nothing for an author who is not authenticated."""
    if turn.participant_id is None:
        return Section()
    args = {"participant_id": turn.participant_id}
    row = await fetch_one(conn, SQL.participant, args)
    issues = await fetch_all(conn, SQL.issues, args)
    answers = await _answers(turn, turn.participant_id, conn)
    hits = await _bearing(turn, turn.participant_id, conn) if turn.recalls else []
    entries = [] if row is None else [person_entry(row, issues)]
    unconfirmed = turn.app.settings.recall.unconfirmed_below
    unused = await _unused(turn, hits, conn)
    used = [hit for hit in hits if hit.fact.fact_id not in unused]
    chosen = list(_chosen(answers, used))
    unused -= {hit.fact.fact_id for hit, _ in chosen}  # what a question brought back
    facts = [(why, fact_entry(hit, why, turn.now, unconfirmed)) for hit, why in chosen]
    entries += [
        recall_entry(asked, answer.recall, shown=bool(facts))
        for (asked, _), answer in zip(turn.asked, answers, strict=True)
    ]
    entries += [one for why, one in facts if why == ASKED]
    entries += [issue_entry(issue) for issue in issues[: turn.app.settings.people.issues]]
    entries += [one for why, one in facts if why != ASKED]
    entries += [entry(UNUSED.format(facts=_facts(len(unused))), unused=len(unused))] if unused else []
    entries += [] if turn.recalls else [entry(NOT_SEARCHED, searched=False)]
    return section(entries, by="kind", groups=KINDS)


async def _bearing(turn: Turn, participant_id: UUID, conn: Connection) -> list[Hit]:
    """The facts that bear on the mail as a whole."""
    return await search_facts(
        conn,
        workspace=turn.workspace,
        participant_id=participant_id,
        query_text=turn.query,
        meaning=turn.meaning,
        now=turn.now,
        language=turn.language,
        limit=turn.tuning.best,
        settings=turn.tuning.search,
    )


async def _unused(turn: Turn, hits: Sequence[Hit], conn: Connection) -> set[UUID]:
    """Those of the facts that are light and that no mail has asked for, and nobody said again, for so long."""
    recalled = turn.app.settings.recall
    if not (recalled.unused_days and hits):
        return set()
    args = {
        "workspace": turn.workspace,
        "fact_ids": [hit.fact.fact_id for hit in hits],
        "below": recalled.unused_below,
        "before": turn.now - timedelta(days=recalled.unused_days),
    }
    return {row["fact_id"] for row in await fetch_all(conn, SQL.unused, args)}


def _facts(count: int) -> str:
    return "1 fact is" if count == 1 else f"{count} facts are"


async def _answers(turn: Turn, participant_id: UUID, conn: Connection) -> list[Answer]:
    return [
        await recall(
            conn,
            workspace=turn.workspace,
            participant_id=participant_id,
            asked=asked,
            meaning=meaning,
            now=turn.now,
            tuning=turn.tuning,
            limit=turn.tuning.brought_up,
        )
        for asked, meaning in turn.asked
    ]


def _chosen(answers: Iterable[Answer], hits: Iterable[Hit]) -> Iterator[tuple[Hit, str]]:
    """Each fact once, with why it is here; what a question brought up stands before what the mail as a whole did."""
    seen: set[UUID] = set()
    told = [answer for answer in answers if answer.recall.cue.verdict != "nothing"]
    for why, some in [*((ASKED, one.hits) for one in told), ("bears on the mail", hits)]:
        for hit in some:
            if hit.fact.fact_id not in seen:
                seen.add(hit.fact.fact_id)
                yield hit, why
