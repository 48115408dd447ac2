"""Threading, measured: JWZ trees in any order of arrival. Called by `tests.benchmarks.mail_judging`."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from services.core.mail.jwz import Envelope, build_trees, rows
from services.core.mail.mime import read_mail
from tests.benchmarks.measured import Measured, at_least

SHUFFLES = 200


def measure(data: Path) -> list[Measured]:
    """Trees that come out exact however the mails arrive."""
    folder = data / "threading"
    expected = json.loads((folder / "expected_trees.json").read_text())
    shuffle = random.Random(1).shuffle
    exact = tried = 0
    for tree in expected.values():
        mails = list(envelopes(folder / tree["box"]))
        for _ in range(SHUFFLES):
            shuffle(mails)
            exact += tree_rows(mails, prune="noprune" not in tree["options"]) == tree["tree"]
            tried += 1
    return [at_least("judging: JWZ trees exact, any arrival order", 100 * exact / tried, "%", 100, tried)]


def envelopes(box: Path) -> Iterator[Envelope]:
    """The messages of an mbox."""
    for part in re.split(rb"(?m)^From (?=\S+ .*\d{4})", box.read_bytes())[1:]:
        mail = read_mail(part.partition(b"\n")[2])
        yield Envelope(mail.message_id, mail.references, mail.in_reply_to, mail.subject, mail.date)


def tree_rows(mails: list[Envelope], prune: bool) -> list[list[Any]]:
    """Trees in the corpus's shape: [depth, subject, message id]."""
    missing = "[ Message not available ]"
    found = rows(build_trees(mails, prune=prune))
    return [[depth, node.envelope.subject if node.envelope else missing, node.message_id] for depth, node in found]
