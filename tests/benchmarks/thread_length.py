"""bench-thread-length: does the 2,000th reply of a thread cost more than the second?

One customer, one thread, the whole flow on the embedded stack; every mail tells something new, every reflection
fills its summary and its brief to their limits and adds a fact. From each point on, `AROUND` of its replies take turns with
second replies to customers who are new, so that both meet the same machine, the same tables and the same day: the medians of
both, in time and CPU by the mail server's clock, and in tokens. `--quick` stops at 200.
"""

from __future__ import annotations

import asyncio
import statistics
import sys
import time
from dataclasses import astuple, dataclass
from datetime import UTC, datetime, timedelta

from services.core.app import App
from services.demo.clock import SteppingClock
from services.model.port import Answer, Request, ToolCall, Usage
from services.operations.idle import newest, until_idle
from services.receive_email.accept import accept
from tests.benchmarks.measured import Measured, at_most
from tests.benchmarks.recall_support import Options, run
from tests.benchmarks.stage import bench_app, prompt_tokens
from tests.support.letters import letter
from tests.support.smtp_server import Session, SmtpServer, Step

POINTS = (20, 200, 2_000)
QUICK_POINTS = POINTS[:2]
AROUND = 9  # replies a point is the median of
TARGET = 1.3
WAIT_S = 60
START, PAUSE = datetime(2026, 1, 5, 9, tzinfo=UTC), timedelta(hours=6)  # slower than any limit of rates


class TalkativeModel:
    """Answers at once and at length: summaries and briefs at their limits, a new fact after every turn."""

    name = "talkative"
    tokens = 0  # of the prompt of the reply asked for last

    async def ask(self, request: Request) -> Answer:
        """One call of the tool that is wanted."""
        tokens = prompt_tokens(request)
        if request.purpose == "reflect":
            call = self._reflection(request)
        else:
            call, self.tokens = self._reply(), tokens
        return Answer("", (call,), "tool_use", self.name, Usage(tokens, 100))

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
    """Seconds and CPU seconds from the append of the mail to the server's acceptance of the reply; the tokens of its prompt."""

    seconds: float
    cpu: float
    tokens: int


@dataclass(slots=True)
class Conversations:
    """Threads of a mail after the other, each written when the reply to the one before has come and was learned from."""

    app: App
    clock: SteppingClock
    model: TalkativeModel
    accepted: asyncio.Queue[float]
    written: int = 0

    async def write(self, name: str, number: int) -> Reply:
        """The mail of this number in the thread of this person, and what its reply cost."""
        self.written += 1
        before = f"<{name}{number - 1}@length.example>" if number > 1 else ""
        text = (
            f"Hello,\n\nour shipment {self.written} holds {self.written} crates. "
            + "It should be on its way by now. " * 12
        )
        raw = letter(
            f"{text}\n\nWhere is shipment {self.written}?",
            sender=f"{name.title()} <{name}@length.example>",
            message_id=f"<{name}{number}@length.example>",
            subject="Re: Our shipments",
            in_reply_to=before,
        )
        since, began, spent = await newest(self.app), time.monotonic(), time.process_time()
        await accept(self.app, self.app.settings.inboxes[0], raw, source="file", source_key=str(self.written))
        async with asyncio.timeout(WAIT_S):
            at = await self.accepted.get()
        reply = Reply(at - began, time.process_time() - spent, self.model.tokens)
        await until_idle(self.app, since=since, timeout_s=WAIT_S)
        return reply

    async def long_thread(self, points: tuple[int, ...]) -> list[list[Measured]]:
        """Ann's thread up to the last point; at each of them the lines of her replies against second ones."""
        found, longest = [], points[-1] + AROUND
        theirs: list[Reply] = []
        hers: list[Reply] = []
        for number in range(1, longest):
            self.clock.forward(START + number * PAUSE)
            reply = await self.write("ann", number)
            point = next((one for one in points if one <= number < one + AROUND), None)
            if point is None:
                continue
            await self.write(f"new{number}", 1)
            hers.append(reply)
            theirs.append(await self.write(f"new{number}", 2))
            if len(hers) == AROUND:
                found.append(lines(point, _median(hers), _median(theirs)))
                hers, theirs = [], []
        return found


def lines(number: int, here: Reply, second: Reply) -> list[Measured]:
    """The replies from no. `number` on as a multiple of second replies, in tokens, time and CPU."""
    measured = []
    for unit, ours, theirs in (
        ("tokens", here.tokens, second.tokens),
        ("seconds", here.seconds, second.seconds),
        ("CPU", here.cpu, second.cpu),
    ):
        sides = {f"no. {number}": ours, "no. 2": theirs}
        measured.append(at_most(f"reply no. {number} / no. 2: {unit}", ours / theirs, "x", TARGET, AROUND, sides))
    return measured


def _median(some: list[Reply]) -> Reply:
    seconds, cpu, tokens = (statistics.median(side) for side in zip(*map(astuple, some), strict=True))
    return Reply(seconds, cpu, int(tokens))


async def measure(points: tuple[int, ...]) -> list[Measured]:
    """The whole thread, with its points."""
    clock, model, accepted = SteppingClock(START), TalkativeModel(), asyncio.Queue[float]()

    def note(_: Session, step: Step) -> None:
        if step == "accepted":
            accepted.put_nowait(time.monotonic())

    async with SmtpServer(script=note) as server:
        here = {"smtp": {"host": "127.0.0.1", "port": server.port}}
        async with bench_app(model, changes=here, now=clock) as app:
            found = await Conversations(app, clock, model, accepted).long_thread(points)
    return [line for one in found for line in one]


def benchmark(options: Options) -> list[Measured]:
    """The benchmark as it is run from the command line."""
    return asyncio.run(measure(QUICK_POINTS if options.quick else POINTS))


if __name__ == "__main__":
    sys.exit(run("thread_length", benchmark))
