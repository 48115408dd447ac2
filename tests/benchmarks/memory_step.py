"""bench-memory-step: what it costs to apply one mail's facts and to search once.

Beside mem0 2.2, on the same Postgres server (a database each), the same vectors (made from the text in no time) and a
model that answers both sides the same two facts at once. Steps of both sides take turns, so that both meet the same
machine. Without mem0 only our own figures are measured.

- mem0: `add` with `infer=True`: its last messages from SQLite, its ten nearest memories, the extraction's answer, both
  facts with their vectors into an HNSW index, its history and messages into SQLite; then `search`: by vector and by
  words. Three commits wait for the disk. Its entities, which need spaCy and a model of its own, are not made.
- ours: the reflection to `learn_facts` as its runner does it: journal, the person under a lock, quotes found in their
  mail, conflicts settled, facts with sources, log and vectors into the same kind of index, four events sealed and
  stored, published (to nobody) and marked; then each of these events as the broker brings it back; then `search_facts`,
  which ranks by both. One commit waits for the disk.

What is prepared outside of the time: our mail is received and read, and the stored events are looked up.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from deploy.local import EmbeddedStack
from services import learn_facts
from services.core.bus.envelope import Envelope
from services.core.bus.runner import Runner
from services.core.db.migrate import migrate
from services.memory.embeddings import Vector, meanings
from services.memory.search import search_facts
from tests.benchmarks import mem0_side
from tests.benchmarks.measured import Measured
from tests.benchmarks.recall_support import Options, run
from tests.support.remembering import Memory, day, fact, remembering
from tests.support.stack import fresh_database, temporary_home

PEOPLE, MAILS, QUICK_MAILS = 20, 20, 5  # mails of each person
WARM_UP = 5  # steps
TOP = 10
TIMES_FASTER, SHARE_OF_P95 = 3.0, 1 / 3
TOPICS = ("plan", "office", "printer", "contract", "colleague", "invoice", "server", "training")


class TextVectors:
    """A unit vector for any text, drawn from its hash: no model, no time to speak of."""

    name, dimensions = "hash", 384

    async def embed(self, texts: Sequence[str]) -> list[Vector]:
        """See `Embedder.embed`."""
        return [self.of(text) for text in texts]

    def of(self, text: str) -> Vector:
        """The vector of one text."""
        seed = int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")
        drawn = np.random.default_rng(seed).standard_normal(self.dimensions)
        vector: Vector = (drawn / np.linalg.norm(drawn)).astype(np.float32)
        return vector


@dataclass(frozen=True, slots=True)
class Step:
    """One mail: whose, its words, the two facts in it, and what is searched afterwards."""

    person: str
    text: str
    facts: tuple[tuple[str, str], tuple[str, str]]  # key and value
    query: str


def steps(mails: int) -> list[Step]:
    """Everybody's mails in turn; a key comes back every eighth mail, with another value."""
    made = []
    for number in range(mails):
        for who in range(PEOPLE):
            told = [(TOPICS[(2 * number + n) % len(TOPICS)], f"choice {number}{n}{who}") for n in (0, 1)]
            text = "Hello, " + " ".join(f"our {key} is {value}." for key, value in told)
            made.append(Step(f"p{who}@step.example", text, (told[0], told[1]), f"What is our {told[0][0]}?"))
    return made


class Ours:
    """The product: the processor of participants, then a search."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self._runner = Runner(learn_facts.PROCESSOR, memory.app)

    async def prepare(self, number: int, step: Step) -> Envelope:
        """The mail is there, and the model has said what is in it."""
        mail = await self._memory.mail(step.text, on=1 + number / 1000, sender=step.person)
        facts = [
            fact(key, value, f"our {key} is {value}", text=f"Their {key} is {value}.") for key, value in step.facts
        ]
        return self._memory.reflection(mail, *facts)

    async def do(self, step: Step, reflected: Envelope) -> float:
        """Decide, record, embed; then search. Seconds, without looking for the events that a broker would bring back."""
        began = time.perf_counter()
        await self._runner.process(reflected)
        seconds = time.perf_counter() - began
        recorded = await self._memory.caused_by(reflected)
        began = time.perf_counter()
        for envelope in recorded:
            await self._runner.process(envelope)
        await self._search(step)
        return seconds + time.perf_counter() - began

    async def _search(self, step: Step) -> None:
        app = self._memory.app
        (meaning,) = await meanings(app.embedder, [step.query])
        async with app.database.transaction(self._memory.workspace) as conn:
            await search_facts(
                conn,
                workspace=self._memory.workspace,
                participant_id=self._memory.person(step.person),
                query_text=step.query,
                meaning=meaning,
                now=day(30),
                limit=TOP,
            )


class Theirs:
    """mem0 with pgvector."""

    def __init__(self, url: str, folder: Path) -> None:
        self._memory = mem0_side.Mem0(url, TextVectors().of, history=folder / "history.db")

    def do(self, step: Step) -> None:
        """Add the mail, of which its model says the same facts; then search."""
        facts = [{"text": f"Their {key} is {value}."} for key, value in step.facts]
        self._memory.learn(step.person, step.text, json.dumps({"memory": facts}))
        self._memory.search(step.person, step.query, TOP)


async def measure(mails: int) -> list[Measured]:
    """Both sides in turns, step by step."""
    with (
        temporary_home() as home,
        EmbeddedStack(home) as endpoints,
        tempfile.TemporaryDirectory() as folder,
        fresh_database(endpoints.database) as url,
        fresh_database(endpoints.database) as their_url,
    ):
        migrate(url)
        theirs = Theirs(their_url, Path(folder)) if mem0_side.is_installed() else None
        async with remembering(endpoints, url, "bench.", home / "deployment") as memory:
            embedding = replace(memory, app=replace(memory.app, embedder=TextVectors()))
            times = await _take_turns(Ours(embedding), theirs, steps(mails))
    return lines(times["ours"][WARM_UP:], times["mem0"][WARM_UP:])


async def _take_turns(ours: Ours, theirs: Theirs | None, todo: Sequence[Step]) -> dict[str, list[float]]:
    times: dict[str, list[float]] = {"ours": [], "mem0": []}
    for number, step in enumerate(todo):
        reflected = await ours.prepare(number, step)
        times["ours"].append(await ours.do(step, reflected))
        if theirs is not None:
            began = time.perf_counter()
            await asyncio.to_thread(theirs.do, step)
            times["mem0"].append(time.perf_counter() - began)
    return times


def lines(ours: Sequence[float], theirs: Sequence[float]) -> list[Measured]:
    """Throughput and p95, and both against mem0's."""
    rate, p95 = len(ours) / sum(ours), float(np.percentile(ours, 95)) * 1000
    measured = [
        Measured("memory step", rate, "steps/s", n=len(ours)),
        Measured("memory step: p95", p95, "ms", n=len(ours)),
    ]
    if not theirs:
        return measured
    their_rate, their_p95 = len(theirs) / sum(theirs), float(np.percentile(theirs, 95)) * 1000
    faster, share = rate / their_rate, p95 / their_p95
    rates, tails = {"correspondent": rate, "mem0": their_rate}, {"correspondent": p95, "mem0": their_p95}
    n = len(theirs)
    return [
        *measured,
        Measured("throughput / mem0's", faster, "x", TIMES_FASTER, faster >= TIMES_FASTER, n, rates),
        Measured("p95 / mem0's", share, "x", round(SHARE_OF_P95, 3), share <= SHARE_OF_P95, n, tails),
    ]


def benchmark(options: Options) -> list[Measured]:
    """The benchmark as it is run from the command line; needs no data that is not ours."""
    if not mem0_side.is_installed():
        print("mem0 is not installed here (requirements/bench.txt): our own figures alone")
    return asyncio.run(measure(QUICK_MAILS if options.quick else MAILS))


if __name__ == "__main__":
    sys.exit(run("memory_step", benchmark))
