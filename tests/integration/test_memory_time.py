"""Two hundred questions about times of two years: nothing outside of the days that are asked is taken for an answer."""

from __future__ import annotations

import random
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from uuid import UUID, uuid5

import psycopg
import pytest
from psycopg.rows import dict_row

from services.core.db.pool import Connection
from services.core.db.vectors import VectorTypes
from services.core.settings import RecallSettings
from services.memory.embeddings import meanings
from services.memory.facts import HAPPENED
from services.memory.multilingual import Multilingual
from services.memory.periods import Unit, Window, period, shifted
from services.memory.questions import read
from services.memory.recall import recall
from services.memory.search import newest_facts
from services.memory.tuning import tuned
from services.operations.vectors.renewal import give_vectors

WHO = uuid5(UUID(int=12), "time")
NOW = datetime(2027, 12, 15, 12, tzinfo=UTC)
INSERT = """
INSERT INTO facts (fact_id, workspace, participant_id, kind, key, value, text, words, single_valued, confidence, importance,
                   trust, valid_from, valid_to, recorded_at, source_event_id, version)
VALUES (%(id)s, 'w', %(who)s, %(kind)s, %(text)s, %(text)s, %(text)s, text_words(%(text)s), FALSE, 0.8, 0.6,
        'authenticated', %(at)s, %(until)s, %(at)s, %(id)s, 1)
"""
TROUBLES = {
    "The export of invoices failed.": "Did the export of invoices fail {when}?",
    "The import of contacts stopped half way.": "Did the import of contacts stop half way {when}?",
    "The customer visited our office in Bremen.": "Did I visit your office in Bremen {when}?",
    "The printer broke down.": "Did the printer break down {when}?",
    "We refunded the customer 40 euros.": "Did you refund me 40 euros {when}?",
    "The webhook signature did not match.": "Did the webhook signature not match {when}?",
    "The customer called about the delivery.": "Did I call about the delivery {when}?",
    "The calendar showed the wrong time zone.": "Did the calendar show the wrong time zone {when}?",
}
PLANS = (("Starter", 700, 400), ("Team", 400, 90), ("Enterprise", 90, None))  # days ago: from, until
MONTHS = (
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
)


@dataclass(frozen=True, slots=True)
class Happened:
    fact_id: UUID
    text: str
    at: datetime


@dataclass(frozen=True, slots=True)
class Timed:
    """A question, the days that it asks of, and what it asks about."""

    text: str
    window: Window
    about: str


@pytest.fixture
async def conn(database: str) -> AsyncIterator[Connection]:
    async with await psycopg.AsyncConnection.connect(database, autocommit=True, row_factory=dict_row) as connection:
        await VectorTypes().register(connection)
        yield connection


async def lived(conn: Connection, rng: random.Random) -> list[Happened]:
    """Two years of what happened, of each kind of what happens, and one thing that was so for a while."""
    kinds, told = sorted(HAPPENED), []
    for text in TROUBLES:
        for _ in range(rng.randint(1, 3)):
            at = NOW - timedelta(days=rng.randint(1, 730), hours=rng.randint(0, 11))
            told.append(Happened(uuid5(WHO, f"{text}{at}"), text, at))
    for number, one in enumerate(told):
        row = {"id": one.fact_id, "who": WHO, "kind": kinds[number % len(kinds)], "text": one.text, "at": one.at}
        await conn.execute(INSERT, {**row, "until": None})
    for plan, since, until in PLANS:
        at, end = NOW - timedelta(days=since), until and NOW - timedelta(days=until)
        text = f"Their plan is {plan}."
        await conn.execute(
            INSERT, {"id": uuid5(WHO, text), "who": WHO, "kind": "customer_info", "text": text, "at": at, "until": end}
        )
    await give_vectors(conn, Multilingual(), "w")
    return told


def questions(rng: random.Random, count: int) -> list[Timed]:
    """Questions of one day, week, month, quarter or year, worded as people do."""
    made: list[Timed] = []
    while len(made) < count:
        about, words = rng.choice(sorted(TROUBLES.items()))
        when, window = rng.choice(_whens(rng))
        made.append(Timed(words.format(when=when), window, about))
    return made


def _whens(rng: random.Random) -> list[tuple[str, Window]]:
    day = NOW - timedelta(days=rng.randint(1, 730))
    ago = rng.randint(2, 20)
    last: list[Unit] = ["week", "month", "year"]
    return [
        (f"on {day:%Y-%m-%d}", period("day", day)),
        (f"in {MONTHS[day.month - 1]} {day.year}", period("month", day)),
        (f"in {day.year}", period("year", day)),
        ("yesterday", period("day", NOW - timedelta(days=1))),
        (f"{ago} days ago", period("day", NOW - timedelta(days=ago))),
        *((f"last {unit}", period(unit, shifted(NOW, unit, -1))) for unit in last),
        *((f"this {unit}", period(unit, NOW)) for unit in last),
    ]


async def test_nothing_is_sure_of_a_time_in_which_it_did_not_happen(conn: Connection) -> None:
    """200 questions over two years: sure only of what happened in the days that are asked, and seldom silent of that."""
    rng = random.Random(16)
    told, embedder = await lived(conn, rng), Multilingual()
    asked = [(one, read(one.text, NOW)) for one in questions(rng, 200)]
    false, silent, gold = [], [], 0
    for (one, question), meaning in zip(asked, await meanings(embedder, [a.words for _, a in asked]), strict=True):
        assert question.window == one.window, one.text
        found = await recall(
            conn,
            workspace="w",
            participant_id=WHO,
            asked=question,
            meaning=meaning,
            now=NOW,
            tuning=tuned(RecallSettings()),
        )
        right = {event.fact_id for event in told if event.text == one.about and _lies_in(event.at, one.window)}
        gold += bool(right)
        verdict, best = found.recall.cue.verdict, found.recall.best
        if verdict == "sure" and (best is None or best.fact.fact_id not in right):
            false.append((one.text, best and best.fact.text))
        if right and verdict == "nothing":
            silent.append(one.text)
    assert gold >= 30
    assert false == []
    assert len(silent) <= gold * 0.1


async def test_nothing_outside_of_the_days_is_listed(conn: Connection) -> None:
    """For any window, listed without a question: what happened in it and nothing else that happened, and what was so."""
    rng = random.Random(17)
    told = await lived(conn, rng)
    for _ in range(100):
        start = NOW - timedelta(days=rng.randint(0, 760), hours=rng.randint(0, 23))
        window = Window(start, start + timedelta(days=rng.choice((1, 7, 30, 200))))
        facts = await newest_facts(conn, workspace="w", participant_id=WHO, now=NOW, window=window, limit=200)
        happened = {one.fact_id for one in facts if one.kind in HAPPENED}
        assert happened == {one.fact_id for one in told if _lies_in(one.at, window)}
        assert all(one.valid_to is None or one.valid_to > window.start for one in facts if one.kind not in HAPPENED)


async def test_an_old_failure_is_not_last_weeks(conn: Connection) -> None:
    """In December 2027 "Did the export fail last week?" rings a bell of January 2026, on its day, and no more."""
    at = datetime(2026, 1, 9, 9, tzinfo=UTC)
    text = "The export of invoices failed."
    await conn.execute(
        INSERT, {"id": uuid5(WHO, text), "who": WHO, "kind": "event", "text": text, "at": at, "until": None}
    )
    await give_vectors(conn, Multilingual(), "w")
    asked = read("Did the export of invoices fail last week?", NOW)
    (meaning,) = await meanings(Multilingual(), [asked.words])
    found = await recall(
        conn, workspace="w", participant_id=WHO, asked=asked, meaning=meaning, now=NOW, tuning=tuned(RecallSettings())
    )
    assert found.recall.cue.verdict == "rings a bell"
    assert found.recall.window == Window(datetime(2026, 1, 9, tzinfo=UTC), datetime(2026, 1, 10, tzinfo=UTC))


def _lies_in(at: datetime, window: Window) -> bool:
    return window.start <= at < window.end
