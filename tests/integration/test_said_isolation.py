"""Who finds what of threads with several people: random threads, recipients and proofs against the rule in Python."""

from __future__ import annotations

import random
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import numpy as np
import pytest

from deploy.local import Endpoints
from services.core.db import Connection
from services.memory.embeddings import Meaning
from services.memory.said import search_said
from services.summarize_threads.apply import SQL as SUMMARIES
from services.track_threads.apply import SQL as THREADS
from tests.support.remembering import START
from tests.support.tending import Tended, tending

PEOPLE = ("ada", "bob", "cyd", "dan")
ALIAS = "ada2"  # another address of Ada's, merged
NOTHING = Meaning("no model", np.zeros(384, dtype=np.float32))
ROUNDS = 60  # threads

INSERT = """
WITH m AS (
    INSERT INTO mails (mail_id, workspace, thread_id, participant_id, inbox, mode, blob, message_id, content_sha256,
                       subject, author_name, author_addr, recipients, references_ids, received_at, text, language,
                       identity, trusted, verdict, reason, filter, flags)
    SELECT %(id)s, %(workspace)s, %(thread_id)s, %(participant_id)s, 'support', 'live', '', %(id)s::text, %(id)s::text, '',
           %(author)s, %(addr)s, %(recipients)s, '{}', %(at)s, %(text)s, 'en', 'verified', %(proven)s, 'accepted', '', '', '{}'
    WHERE %(is_mail)s)
INSERT INTO conversation (thread_id, version, workspace, role, mail_id, reply_id, text, tokens, trusted, at)
VALUES (%(thread_id)s, %(version)s, %(workspace)s, %(role)s, %(mail_id)s, %(reply_id)s, %(text)s, 0, %(proven)s, %(at)s)
"""
REPLY = """
WITH t AS (
    INSERT INTO turns (turn_id, workspace, thread_id, version, mail_ids, opened_at, waiting_since, closed_at)
    VALUES (%(turn_id)s, %(workspace)s, %(thread_id)s, %(version)s, %(answered)s, %(at)s, %(at)s, %(at)s))
INSERT INTO deliveries (reply_id, workspace, thread_id, turn_id, inbox, state, recipient, created_at, changed_at)
VALUES (%(id)s, %(workspace)s, %(thread_id)s, %(turn_id)s, 'support', 'sent', %(recipient)s, %(at)s, %(at)s)
"""


def addr(name: str) -> str:
    return f"{name}@acme.example"


@dataclass
class Message:
    """A message of a thread as the rule sees it."""

    word: str
    role: str
    author: str = ""
    proven: bool = True
    seen_by: set[str] = field(default_factory=set)
    answers: list[Message] = field(default_factory=list)
    gone: bool = False


@dataclass
class Summary:
    """What a thread was about, as it was told of one person, proven or not."""

    word: str
    of: str
    proven: bool


@dataclass
class Drawn:
    """A thread of several people."""

    messages: list[Message] = field(default_factory=list)
    summaries: list[Summary] = field(default_factory=list)

    def visible(self, name: str, *, any_answer: bool = False) -> set[str]:
        """The words that a person may find: of a thread in which they wrote proven, what they wrote, or were answered.

        With `any_answer` those of answers to an unproven mail, too, which they may not.
        """
        people = {name, ALIAS} if name == "ada" else {name}
        if not any(one.role == "customer" and one.proven and one.author in people for one in self.messages):
            return set()
        told = {one.word for one in self.summaries if one.of in people and one.proven}
        return told | {
            one.word
            for one in self.messages
            if not one.gone
            and (one.author in people and one.proven if one.role == "customer" else people & one.seen_by)
            and (any_answer or all(other.proven for other in one.answers))
        }

    @property
    def words(self) -> set[str]:
        """The words of all that is told."""
        return {one.word for one in (*self.messages, *self.summaries)}


@pytest.fixture
async def app(stack: Endpoints, database: str, topic_prefix: str, tmp_path: Path) -> AsyncIterator[Tended]:
    async with tending(stack, database, topic_prefix, tmp_path) as one:
        yield one


async def write(conn: Connection, app: Tended, dice: random.Random, number: int) -> Drawn:
    """A random thread in the tables."""
    thread = Drawn()
    thread_id = UUID(int=dice.getrandbits(128))
    given = {"thread_id": thread_id, "workspace": app.workspace}
    await conn.execute(
        "INSERT INTO threads (thread_id, workspace, inbox, subject, state, opened_at, changed_at)"
        " VALUES (%(thread_id)s, %(workspace)s, 'support', 'Shared', 'closed', %(at)s, %(at)s)",
        {**given, "at": START},
    )
    ids: list[tuple[UUID, Message]] = []
    for version in range(1, dice.randint(2, 7)):
        id = UUID(int=dice.getrandbits(128))
        role = dice.choice(("customer", "customer", "agent", "human")) if ids else "customer"
        author = dice.choice((*PEOPLE, ALIAS)) if role == "customer" else ""
        recipients = set(dice.sample(PEOPLE, dice.randint(0, 2)))
        answered = dice.sample(ids, min(len(ids), dice.randint(1, 2))) if role == "agent" else []
        one = Message(f"word{number}x{version}", role, author, dice.random() < 0.7 or role != "customer", recipients)
        if role == "agent":
            writers = [message.author for message in thread.messages if message.author]
            one.seen_by = {dice.choice((*PEOPLE, ALIAS, *writers, *writers))}
            one.answers = [message for _, message in answered]
        is_mail = role != "agent"
        values: dict[str, Any] = {
            **given,
            "id": id,
            "version": version,
            "role": role,
            "author": author,
            "addr": addr(author) if author else "support@ourcompany.example",
            "participant_id": app.person(addr(author)) if author else None,
            "recipients": [addr(name) for name in one.seen_by],
            "recipient": addr(next(iter(one.seen_by), "nobody")),
            "proven": one.proven,
            "is_mail": is_mail,
            "mail_id": id if role == "customer" else None,
            "reply_id": None if role == "customer" else id,
            "turn_id": UUID(int=dice.getrandbits(128)),
            "answered": [mail for mail, message in answered if message.role == "customer"],
            "text": f"zebra {one.word} said here",
            "at": START + timedelta(minutes=10 * number + version),
        }
        one.answers = [message for message in one.answers if message.role == "customer"]
        await conn.execute(INSERT, values)
        if role == "agent":
            await conn.execute(REPLY, values)
        await conn.execute(THREADS.insert_passages, values)
        one.gone = dice.random() < 0.1
        if one.gone:
            await conn.execute(
                "UPDATE conversation SET gone_at = %(at)s WHERE mail_id = %(id)s OR reply_id = %(id)s", values
            )
        ids.append((id, one))
        thread.messages.append(one)
    for name in dice.sample((*PEOPLE, ALIAS), 2):
        told = Summary(f"told{number}{name}", name, dice.random() < 0.7)
        thread.summaries.append(told)
        values = {
            "participant_id": app.person(addr(name)),
            "trusted": told.proven,
            "words": 4,
            "covers_to": 1,
            "at": START,
        }
        await conn.execute(SUMMARIES.upsert, {**given, **values, "text": f"zebra {told.word} said here"})
    return thread


@pytest.mark.parametrize("seed", range(3))
async def test_a_person_finds_all_that_they_may_see_and_nothing_else(app: Tended, seed: int) -> None:
    """Whatever the search's words are: nothing of a thread in which they did not write proven, or of an unproven sender."""
    dice = random.Random(seed)
    async with app.app.database.transaction(app.workspace) as conn:
        for name in (*PEOPLE, ALIAS):
            await conn.execute(
                "INSERT INTO participants (participant_id, workspace, addr, name, state, first_seen_at, last_seen_at)"
                " VALUES (%s, %s, %s, '', 'customer', %s, %s)",
                [app.person(addr(name)), app.workspace, addr(name), START, START],
            )
        await conn.execute(
            "INSERT INTO participant_aliases (participant_id, workspace, into_id, by, reason, event_id, at)"
            " VALUES (%s, %s, %s, 'test', '', %s, %s)",
            [app.person(addr(ALIAS)), app.workspace, app.person(addr("ada")), UUID(int=seed), START],
        )
        threads = [await write(conn, app, dice, number) for number in range(ROUNDS)]
        unproven, every = 0, set().union(*(thread.words for thread in threads))
        for name in PEOPLE:
            may = set().union(*(thread.visible(name) for thread in threads))
            assert may, "the draw shows everybody something"
            unproven += len(set().union(*(thread.visible(name, any_answer=True) for thread in threads)) - may)
            assert await found(conn, app, name, "zebra") == may
            for word in dice.sample(sorted(every - may), 10):
                assert word not in await found(conn, app, name, f"zebra {word} said")
        assert unproven, "the draw has replies to an unproven mail that went to somebody proven"


async def found(conn: Connection, app: Tended, name: str, query: str) -> set[str]:
    """The words of all messages that a search gives."""
    heard = await search_said(
        conn,
        workspace=app.workspace,
        participant_id=app.person(addr(name)),
        query_text=query,
        meaning=NOTHING,
        limit=10_000,
    )
    return {hit.text.split()[1] for hit in heard.said}
