"""Threading, measured by the product's own resolver, in any order of arrival. Called by `tests.benchmarks.mail_judging`.

The corpus has trees of public lists, where everybody answers everybody; a support inbox lets only a thread's people
continue it. So two figures: with one author for all mails the conversations are the corpus's trees, and with the
authors as they are no thread holds mails of two trees.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from services.mail.mime import read_mail
from services.mail.thread_ids import MailFacts
from tests.benchmarks.measured import Measured, at_least, at_most
from tests.support.thread_store import ThreadStore

SHUFFLES = 50
RECEIVED = datetime(2026, 1, 1, tzinfo=UTC)
ONE_AUTHOR = "ann@customer.example"


def measure(data: Path) -> list[Measured]:
    """Conversations that come out as the trees, and threads that mix two of them, however the mails arrive."""
    shuffle = random.Random(1).shuffle
    whole = mixed = tried = 0
    for box, trees in expected(data / "threading"):
        mails = list(facts(box))
        for _ in range(SHUFFLES):
            shuffle(mails)
            whole += placed(by_one_author(mails)).groups() == trees
            mixed += any(not any(group <= tree for tree in trees) for group in placed(mails).groups(linked=False))
            tried += 1
    return [
        at_least("judging: conversations as the trees, any arrival order", 100 * whole / tried, "%", 100, tried),
        at_most("judging: threads with mails of two trees", mixed, "boxes", 0, tried),
    ]


def expected(folder: Path) -> Iterator[tuple[Path, set[frozenset[str]]]]:
    """Each mailbox with the Message-IDs of each of its trees; what is missing from the mailbox is left out."""
    for case in json.loads((folder / "expected_trees.json").read_text()).values():
        present = {mail.message_id for mail in facts(folder / case["box"])}
        yield folder / case["box"], {frozenset(tree & present) for tree in _trees(case["tree"])}


def _trees(rows: Iterable[Sequence[Any]]) -> list[set[str]]:
    """Rows of [depth, subject, Message-ID]; depth 0 begins a tree."""
    trees: list[set[str]] = []
    for depth, _, message_id in rows:
        if depth == 0:
            trees.append(set())
        trees[-1].add(message_id)
    return trees


def facts(box: Path) -> Iterator[MailFacts]:
    """The mails of an mbox, as if each were verified."""
    for part in re.split(rb"(?m)^From (?=\S+ .*\d{4})", box.read_bytes())[1:]:
        mail = read_mail(part.partition(b"\n")[2])
        author = mail.author.key if mail.author else ""
        people = frozenset(one.key for one in (*mail.from_, *mail.to, *mail.cc))
        yield MailFacts(
            "bench",
            "support",
            mail.message_id,
            author,
            RECEIVED,
            mail.subject,
            mail.references,
            mail.in_reply_to,
            people,
            True,
        )


def by_one_author(mails: Iterable[MailFacts]) -> Iterator[MailFacts]:
    """The same mails, written by one person: who may continue what is no question then."""
    return (replace(one, author=ONE_AUTHOR, participants=frozenset({ONE_AUTHOR})) for one in mails)


def placed(mails: Iterable[MailFacts]) -> ThreadStore:
    """A store that has taken mails in this order."""
    store = ThreadStore()
    for mail in mails:
        store.take(mail)
    return store
