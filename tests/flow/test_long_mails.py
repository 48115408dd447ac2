"""A long mail, or one with a long field, is answered, and keeps nobody waiting: no step of it holds the event loop."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Iterator
from contextlib import contextmanager
from time import thread_time

import pytest

from tests.flow.conftest import Town
from tests.flow.scenario import fact, reflection, rows, verified
from tests.support.cpu import slowness
from tests.support.dead_letters import all_dead_letters
from tests.support.scripted_model import Seen
from tests.support.scripted_replies import Behaviour, reply_tool

pytestmark = pytest.mark.timeout(600)
LONG = 40_000  # characters: more than is read of a mail
LONGEST_STEP_S = 0.7  # of CPU: 0.23 s is what the longest takes on a quiet machine, 0.76 and 1.47 s were the faults
UNITS = (
    "Our office is in Rome, and your invoice says Rome. ",
    "Rome, ",
    "Rome\n",
    "a ",
    "a",
    "> Rome\n",
    "Mein Büro ist in Rome. ",
    "x@rome.example ",
    "“Rome” ",
    "Rome? ",
    "$1,000 ",
    "é\u0301",
    "東京",
    "4111 1111 1111 1111 ",
    "the office moved from Rome to Rome but not to Rome and ",
)


@contextmanager
def measured(steps: list[tuple[float, str]]) -> Iterator[None]:
    """CPU seconds of each step of the loop, and what it was a step of."""
    run = asyncio.Handle._run  # type: ignore[attr-defined]  # nothing public is told of each step

    def timed(self: asyncio.Handle) -> None:
        begun, what = thread_time(), repr(self)
        run(self)
        steps.append((thread_time() - begun, what))

    asyncio.Handle._run = timed  # type: ignore[attr-defined]
    try:
        yield
    finally:
        asyncio.Handle._run = run  # type: ignore[attr-defined]


def obeying(seen: Seen) -> Behaviour:
    """It proposes facts whose words stand all over the mail."""
    if "reflect" in seen.tools:
        values = ("Rome", "a", "東京")
        said = [fact(f"{kind} {n}", value, value) for kind in ("city", "office") for n, value in enumerate(values)]
        return reflection("They wrote much.", *said)
    return reply_tool("reply", {"text": "Thank you: Rome it is.", "state": "awaiting_reply"})


@pytest.mark.slow
async def test_a_long_mail_held_the_loop_for_seconds(town: Town) -> None:
    """Each of these is answered, and what takes long of it is done in a thread."""
    town.server.script(obeying)
    steps: list[tuple[float, str]] = []
    texts = [f"Our office is in Rome.\n\n{unit * (LONG // len(unit))}\nRome?" for unit in UNITS]
    people = [(f"p@long{n}.example", f"<1@long{n}.example>") for n in range(len(UNITS))]
    mails = [verified(text, sender=addr, message_id=id) for text, (addr, id) in zip(texts, people, strict=True)]
    await town.post(verified("Hello, it is 9:15.", sender="A <a@first.example>"))  # what a process loads once
    with measured(steps):
        await town.post(*mails)
    assert [unit for n, unit in enumerate(UNITS) if len(town.replies(f"p@long{n}.example")) != 1] == []
    assert await rows(town.app, "SELECT 1 FROM facts")
    assert [one for one in sorted(steps) if one[0] > LONGEST_STEP_S * slowness()] == []


def _any(size: int) -> str:
    """Letters that nothing compresses, the same in every run."""
    return "".join(random.Random(size).choices("abcdefghijklmnopqrstuvwxyz0123456789", k=size))


def _strange(size: int) -> str:
    """The same of characters of four bytes."""
    return "".join(chr(0x20000 + one) for one in random.Random(size).choices(range(40_000), k=size))


FIELDS = {
    "Message-ID": f"<{_any(6_000)}@b.example>",
    "References": " ".join(f"<{_any(size)}@b.example>" for size in range(900, 990)),
    "In-Reply-To": f"<{_any(5_000)}@b.example>",
    "Subject": _any(50_000),
    "Keywords": _any(50_000),
    "Reply-To": ", ".join(f"{_any(20)}@b{n}.example" for n in range(3_000)),
    "Cc": ", ".join(f"{_any(20)}@b{n}.example" for n in range(3_000)),
    "Date": "Fri, 31 Dec 9999 23:59:59 -2359",
    "Sender": f"{_any(40_000)} <a@b.example>",
    "X-Mailer": _strange(9_000),
}
BODIES = (
    " ".join(_any(size) for size in range(2, 700)),
    _strange(60_000),
    " ".join(_strange(size % 5 + 1) for size in range(20_000)),
    "in 99999999999999999999 years, 9999999999 days ago, on 99999-99-99, 31.12.9999 24:61, vor 999999999 Jahren",
    "a\x00b",
)


async def test_a_mail_with_a_long_field_was_tried_until_it_was_given_up(town: Town) -> None:
    """No index of Postgres holds 6,000 bytes of a Message-ID, nor does anything a moment after the year 9999."""
    town.server.script(obeying)
    mails = []
    for n, (name, value) in enumerate(FIELDS.items()):
        plain = verified("Our office is in Rome.", sender=f"p@field{n}.example", message_id=f"<1@field{n}.example>")
        kept = [line for line in plain.splitlines(keepends=True) if not line.startswith(f"{name}:".encode())]
        mails.append(f"{name}: {value}\n".encode() + b"".join(kept))
    for n, text in enumerate(BODIES):
        mails.append(verified(text, sender=f"p@body{n}.example", message_id=f"<1@body{n}.example>"))
    await town.post(*mails)
    people = [f"p@field{n}.example" for n in range(len(FIELDS))] + [f"p@body{n}.example" for n in range(len(BODIES))]
    assert {addr: len(town.replies(addr)) for addr in people} == dict.fromkeys(people, 1)
    assert await all_dead_letters(town.app) == []
