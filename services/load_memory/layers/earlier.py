"""What the participant's other threads were about: the newest ones, and those in which something bears on this mail.

Each comes with its summary and the reply that this does not cover yet; where what was said in it bears on the mail,
with those passages too.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any
from uuid import UUID

from schemas.words import clip_words
from services.core.db import Connection, fetch_all
from services.load_memory.repeats import sentences
from services.load_memory.section import Entry, Section, entry_of, room_for, section
from services.load_memory.turn import SQL, Turn
from services.memory.said import Said, search_said

NAME, SHARED, TRUSTED = "earlier", False, False
ABOUT = "The author's other threads: day, subject, state and summary, below it what was said that bears on this mail."
HEAD_TOKENS = 60  # of a day, a subject and a state
PASSAGE_TOKENS = 240  # of a day, a speaker and the longest passage
PASSAGES = 2  # of one thread
REPLY_WORDS = 60  # of a reply that no summary covers
LOOKED_AT = 24  # of the best passages, for the threads that they are in

ByThread = dict[UUID, list[Said]]


def budget(turn: Turn) -> int:
    """Tokens: so many summaries have room in any script, each with a line's worth for what it is of, and passages."""
    newest, bearing = turn.settings.earlier_threads, turn.settings.relevant_threads
    summary = room_for(turn.app.settings.learning.summary_words) + HEAD_TOKENS
    return (newest + bearing) * (summary + room_for(REPLY_WORDS)) + bearing * PASSAGES * PASSAGE_TOKENS


async def load(turn: Turn, conn: Connection) -> Section:
    """Nothing for an author who is not authenticated."""
    if turn.participant_id is None:
        return Section()
    found = relevant(await bearing(turn, turn.participant_id, conn), turn.settings.relevant_threads)
    args = {
        "workspace": turn.workspace,
        "participant_id": turn.participant_id,
        "thread_id": turn.thread_id,
        "limit": turn.settings.earlier_threads,
        "thread_ids": list(found),
    }
    rows = await fetch_all(conn, SQL.earlier_summaries, args)
    entries = [
        thread_entry(row["subject"], row["state"], row["updated_at"], row["text"], [*_uncovered(row, said), *said])
        for row in rows
        for said in [found.pop(row["thread_id"], [])]
    ]
    entries += [thread_entry(some[0].subject, some[0].state, some[0].at, "", some) for some in found.values() if some]
    return section(entries)


def _uncovered(row: dict[str, Any], said: Iterable[Said]) -> list[Said]:
    """The reply that the thread's summary does not cover, clipped; not where a passage of it is shown anyhow."""
    if row["reply"] is None or any(one.text in row["reply"] for one in said):
        return []
    text = clip_words(row["reply"], REPLY_WORDS)
    of = row["thread_id"], row["subject"], row["state"]
    return [Said(row["thread_id"], *of, role="agent", at=row["replied_at"], text=text, author="")]


async def bearing(turn: Turn, participant_id: UUID, conn: Connection) -> list[Said]:
    """What was said in other threads that bears on the mail, best first."""
    if not turn.settings.relevant_threads or not turn.recalls:
        return []
    heard = await search_said(
        conn,
        workspace=turn.workspace,
        participant_id=participant_id,
        query_text=turn.query,
        meaning=turn.meaning,
        window=next((asked.window for asked, _ in turn.asked if asked.window), None),
        limit=LOOKED_AT,
        without_thread=turn.thread_id,
    )
    return heard.said


def relevant(hits: Iterable[Said], most: int) -> ByThread:
    """The threads of the best hits, at most so many, each with the best of its messages."""
    threads: ByThread = {}
    for hit in hits:
        if hit.thread_id in threads or len(threads) < most:
            threads.setdefault(hit.thread_id, []).append(hit)
    return {id: [one for one in some if one.role != "summary"][:PASSAGES] for id, some in threads.items()}


def thread_entry(subject: str, state: str, at: datetime, text: str, said: Iterable[Said]) -> Entry:
    """A thread on one line, below it what was said, in the order of time."""
    inorder = sorted(said, key=lambda one: one.at)
    return entry_of(
        sentences(text),
        f"{at:%Y-%m-%d} «{subject}» ({state}): ",
        "".join(f"\n  {one.at:%Y-%m-%d} {one.who}: “{one.text}”" for one in inorder),
        above="as above",
        subject=subject,
        state=state,
        text=text,
        at=at.isoformat(),
        said=[{"id": str(one.id), "who": one.who, "at": one.at.isoformat(), "text": one.text} for one in inorder],
    )
