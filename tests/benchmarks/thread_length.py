"""bench-thread-length: does the 2,000th reply of a thread cost more than the second?

One customer, one thread, the whole flow on the embedded stack; every mail tells something new, every reflection
fills its summary and its brief to their limits and adds a fact. Each point is the median of `AROUND` replies from
there on, against those from no. 2 on. `--quick` stops at 200.
"""

from __future__ import annotations

import asyncio
import statistics
import sys
import time
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from services.core.app import App
from services.core.db import fetch_one
from services.demo.clock import SteppingClock
from services.model.port import Answer, Request, ToolCall, Usage
from services.receive_email.accept import accept
from tests.benchmarks.measured import Measured
from tests.benchmarks.recall_support import Options, run
from tests.benchmarks.stage import bench_app, prompt_tokens
from tests.support.letters import letter

POINTS = (2, 20, 200, 2_000)
QUICK_POINTS = POINTS[:3]
AROUND = 9  # replies a point is the median of
TARGET = 1.3
WAIT_S = 60
START, PAUSE = datetime(2026, 1, 5, 9, tzinfo=UTC), timedelta(hours=6)  # slower than any limit of rates
ANN = "ann@length.example"
ANSWERED = """SELECT r.data FROM deliveries d
              JOIN events r ON r.type = 'reply.drafted.v1' AND r.data->>'reply_id' = d.reply_id::text
              JOIN turns t USING (turn_id) JOIN mails m ON m.mail_id = ANY(t.mail_ids)
              WHERE m.message_id = %(id)s AND d.state = 'sent'"""


class TalkativeModel:
    """Answers at once and at length: summaries and briefs at their limits, a new fact after every turn."""

    name = "talkative"

    async def ask(self, request: Request) -> Answer:
        """One call of the tool that is wanted."""
        call = self._reflection(request) if request.purpose == "reflect" else self._reply()
        return Answer("", (call,), "tool_use", self.name, Usage(prompt_tokens(request), 100))

    async def close(self) -> None:
        """Nothing is open."""

    def _reply(self) -> ToolCall:
        text = "Dear Ann,\n\n" + "we have looked into this and changed it for you. " * 15
        return ToolCall("a", "reply", {"text": text, "state": "awaiting_reply"})

    def _reflection(self, request: Request) -> ToolCall:
        number = (
            next(layer for layer in request.layers if layer.name == "mail")
            .items[0]["text"]
            .split("shipment ")[1]
            .split()[0]
        )
        quote = f"shipment {number} holds {number} crates"
        learned = {"op": "ADD", "kind": "event", "key": f"shipment {number}", "value": f"{number} crates"}
        fact = {**learned, "text": f"Ann's shipment {number} holds {number} crates.", "quote": quote, "importance": 6}
        summary, brief = "Ann and we spoke of shipments. " * 33, "Ann ships crates and asks for changes. " * 70
        return ToolCall("r", "reflect", {"summary": summary, "brief": brief, "facts": [fact]})


@dataclass(frozen=True, slots=True)
class Reply:
    """Seconds from the append of the mail to the server's acceptance of the reply, and the tokens of its prompt."""

    seconds: float
    tokens: int


async def converse(app: App, clock: SteppingClock, count: int) -> list[Reply]:
    """A thread of so many mails, each written when the reply before it has come, and `PAUSE` after the one before."""
    replies = []
    for number in range(1, count + 1):
        clock.forward(START + number * PAUSE)
        before = {"in_reply_to": f"<{number - 1}@length.example>"} if number > 1 else {}
        text = f"Hello,\n\nour shipment {number} holds {number} crates. " + "It should be on its way by now. " * 12
        raw = letter(
            f"{text}\n\nWhere is shipment {number}?",
            sender=f"Ann <{ANN}>",
            message_id=f"<{number}@length.example>",
            subject="Re: Our shipments",
            **before,
        )
        began = time.monotonic()
        await accept(app, app.settings.inboxes[0], raw, source="file", source_key=str(number))
        tokens = await _sent(app, f"{number}@length.example")
        replies.append(Reply(time.monotonic() - began, tokens))
        await _reflected(app, number)
    return replies


async def _sent(app: App, message_id: str) -> int:
    """Wait for the reply to this mail; the tokens of its prompt."""
    async with asyncio.timeout(WAIT_S):
        while True:
            async with app.database.reading() as conn:
                row = await fetch_one(conn, ANSWERED, {"id": message_id})
            if row:
                return int(row["data"]["usage"]["input"])
            await asyncio.sleep(0.005)


async def _reflected(app: App, count: int) -> None:
    """Wait until so many turns have been learned from, so that the next mail meets all that was said."""
    async with asyncio.timeout(WAIT_S):
        while True:
            async with app.database.reading() as conn:
                row = await fetch_one(conn, "SELECT count(*) AS n FROM facts WHERE kind = 'event'")
            if row and row["n"] >= count:
                return
            await asyncio.sleep(0.01)


def lines(replies: list[Reply], points: tuple[int, ...]) -> list[Measured]:
    """Each point as a multiple of the first one, in tokens and in time."""
    base, rest = _point(replies, points[0]), points[1:]
    measured = [
        Measured(f"reply no. {points[0]}: prompt", base.tokens, "tokens", n=AROUND),
        Measured(f"reply no. {points[0]}: mail to reply", base.seconds * 1000, "ms", n=AROUND),
    ]
    for number in rest:
        here = _point(replies, number)
        for unit, ours, first in (("tokens", here.tokens, base.tokens), ("seconds", here.seconds, base.seconds)):
            ratio = ours / first
            sides = {f"no. {number}": ours, f"no. {points[0]}": first}
            name = f"reply no. {number} / no. {points[0]}: {unit}"
            measured.append(Measured(name, ratio, "x", TARGET, ratio <= TARGET, AROUND, sides))
    return measured


def _point(replies: list[Reply], number: int) -> Reply:
    some = replies[number - 1 : number - 1 + AROUND]
    return Reply(statistics.median(one.seconds for one in some), int(statistics.median(one.tokens for one in some)))


async def measure(points: tuple[int, ...]) -> list[Measured]:
    """The whole thread, then its points."""
    clock = SteppingClock(START)
    async with bench_app(TalkativeModel(), now=clock) as app:
        return lines(await converse(app, clock, points[-1] + AROUND - 1), points)


def benchmark(options: Options) -> list[Measured]:
    """The benchmark as it is run from the command line."""
    return asyncio.run(measure(QUICK_POINTS if options.quick else POINTS))


if __name__ == "__main__":
    sys.exit(run("thread_length", benchmark))
