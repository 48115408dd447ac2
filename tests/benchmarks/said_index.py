"""Conversations in the product's own tables, searched by what the layer of earlier threads searches by.

Each conversation is a person, each session a thread. Whoever speaks under a name does so from an address of that person's;
who has no name is us. Passages are made by the statement of `track_threads`, and get
their vectors from what the process that keeps time runs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID, uuid5

from psycopg.rows import tuple_row
from psycopg.sql import SQL

from services.core.db import Connection, fetch_all, queries
from services.memory.embeddings import Embedder, Vector
from services.memory.said import NEWEST, SAID, names_of
from services.memory.voice import LANGUAGE, own_words
from services.operations.vectors.renewal import give_vectors, in_private
from services.track_threads.apply import SQL as THREADS
from tests.benchmarks.locomo import Conversation, Turn

INDEX = queries(__file__, "said_index.sql")
SPACE = UUID("0b4c7b0e-35d7-5c53-9d35-7c7b1b8f3a55")
WORKSPACE = "bench"
SCOPE = SQL(SAID.of_person)


@dataclass(frozen=True, slots=True)
class Indexed:
    """A conversation that lies in Postgres: whose it is, their names, the turns of its passages, and vectors.

    `own_words` are those of the questions in the words of whom they name.
    """

    number: int
    conversation: Conversation
    person: UUID
    names: Sequence[str]
    turn_of: dict[UUID, int]
    model: str
    question_vectors: Sequence[Vector]
    own_words: Sequence[Vector | None]

    @property
    def parameters(self) -> dict[str, Any]:
        """What its scope needs."""
        return {
            "workspace": WORKSPACE,
            "participant_id": self.person,
            "model": self.model,
            "newest": NEWEST,
            "without_thread": None,
            "without_mails": [],
            "since": None,
            "until": None,
        }


async def index_all(conn: Connection, embedder: Embedder, conversations: Sequence[Conversation]) -> list[Indexed]:
    """All conversations, written and embedded."""
    for number, each in enumerate(conversations):
        await _write(conn, number, each)
    await give_vectors(conn, embedder, WORKSPACE, in_private)
    await conn.execute("ANALYZE")
    rows = await fetch_all(conn, INDEX.places, {"workspace": WORKSPACE})
    where = {
        (_thread(number, turn), turn.position + 1): (number, place)
        for number, each in enumerate(conversations)
        for place, turn in enumerate(each.turns)
    }
    found: list[dict[UUID, int]] = [{} for _ in conversations]
    for row in rows:
        number, place = where[row["thread_id"], row["version"]]
        found[number][row["passage_id"]] = place
    indexed = []
    for number, each in enumerate(conversations):
        vectors = await embedder.embed([question.text for question in each.questions])
        person = _person(number, _speakers(each)[0])
        names = await names_of(conn, WORKSPACE, person)
        own = await in_own_words(embedder, each, names)
        indexed.append(Indexed(number, each, person, names, found[number], embedder.name, vectors, own))
    return indexed


async def in_own_words(embedder: Embedder, each: Conversation, names: Sequence[str]) -> list[Vector | None]:
    """The vectors of a conversation's questions in the words of whom they name."""
    return [await own_words(embedder, question.text, names, LANGUAGE) for question in each.questions]


async def stems(conn: Connection, indexed: Indexed) -> list[list[str]]:
    """The stems of each turn, in order."""
    async with conn.cursor(row_factory=tuple_row) as cursor:
        return [row[0] for row in await (await cursor.execute(INDEX.stems, {"person": indexed.person})).fetchall()]


async def query_stems(conn: Connection, text: str) -> list[str]:
    """The stems of a question."""
    async with conn.cursor(row_factory=tuple_row) as cursor:
        row = await (await cursor.execute(INDEX.query_stems, {"text": text})).fetchone()
    return list(row[0]) if row else []


async def _write(conn: Connection, number: int, conversation: Conversation) -> None:
    speakers = _speakers(conversation)
    addresses = {name: f"{place}.{number}@bench.example" for place, name in enumerate(speakers)}
    async with conn.transaction():
        for turn in conversation.turns:
            id = uuid5(SPACE, f"{number}/{turn.session}/{turn.position}")
            ours = not turn.speaker
            args: dict[str, Any] = {
                "workspace": WORKSPACE,
                "thread_id": _thread(number, turn),
                "version": turn.position + 1,
                "person": _person(number, speakers[0]),
                "author_id": None if ours else _person(number, speakers[0]),
                "speaker": turn.speaker,
                "addr": addresses.get(turn.speaker, ""),
                "recipients": list(addresses.values()),
                "recipient": addresses[speakers[0]],
                "message_id": id,
                "role": "agent" if ours else "customer",
                "mail_id": None if ours else id,
                "reply_id": id if ours else None,
                "text": turn.text,
                "at": turn.at,
            }
            await conn.execute(INDEX.thread, args)
            for statement in (INDEX.delivery,) if ours else (INDEX.participant, INDEX.mail):
                await conn.execute(statement, args)
            await conn.execute(INDEX.message, args)
            await conn.execute(THREADS.insert_passages, args)


def _speakers(conversation: Conversation) -> list[str]:
    return list(dict.fromkeys(turn.speaker for turn in conversation.turns if turn.speaker))


def _person(number: int, name: str) -> UUID:
    return uuid5(SPACE, f"{number}/{name}")


def _thread(number: int, turn: Turn) -> UUID:
    return uuid5(SPACE, f"{number}/{turn.session}")
