"""What is done to a deployment while its mail comes in: drawn from a seed, printed, and the same for the same seed.

Each round of a schedule holds every kind of fault at least once. On the embedded broker those are left out that it
cannot stand: it forgets everything when it ends, and its groups cannot be reset.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from schemas.events.memory import TurnReflected
from schemas.events.replies import MemoryLoaded, ReplyDrafted
from schemas.events.threads import TurnOpened
from services.pipeline import IN_ORDER, PROCESSORS

Kind = Literal[
    "kill", "storm", "broker", "database", "redis", "cut", "pause", "clock", "blobs-full",
    "smtp-refuses", "smtp-never", "smtp-hangs", "smtp-drops",
    "model-429", "model-529", "model-timeout", "model-garbage", "model-cut",
    "duplicates", "reorder", "poison",
    "refused-topic", "unknown-type", "newer-version", "model-outage", "model-401", "wipe", "bounce", "erase",
]  # fmt: skip

DOUBLED = ("track_threads", "generate_reply", "send_email")  # two processes each
SINGLE = tuple(one for one in IN_ORDER if one not in DOUBLED)  # a new processor is started and killed like the others
PROCESSES = (*SINGLE, *(f"{name}#{n}" for name in DOUBLED for n in (1, 2)))
REORDERED = (
    *DOUBLED, "learn_facts", "load_memory", "watch_incidents", "condense_memory", "earn_approval", "reach_out",
)  # fmt: skip
LINKS = ("kafka", "database", "redis", "smtp", "model")
POISONED = ("inbound-email", "turns", "turn-reflected", "deliveries", "approvals", "outreach", "incidents")  # topics
REFUSED = (  # topics that the broker takes nothing for
    "inbound-email.raw", "inbound-email", "thread-events", "turns", "memory-loaded", "reply-drafted", "deliveries",
    "turn-reflected", "timers", "approvals", "outreach", "incidents",
)  # fmt: skip
NEWER = {  # types of a version to come: their topic, and who must hold them, since they handle the one of today
    one.TYPE.replace(".v1", ".v9"): (topic, tuple(sorted(who.name for who in PROCESSORS if one in who.handlers)))
    for topic, one in (
        ("turns", TurnOpened),
        ("memory-loaded", MemoryLoaded),
        ("reply-drafted", ReplyDrafted),
        ("turn-reflected", TurnReflected),
    )
}
UNHEARD_OF = "weather.changed.v1"  # no consumer handles anything like it
OUTAGES = ("overloaded", "server error", "silent", "cut")
APACHE_ONLY = {"broker", "database", "reorder", "storm", "refused-topic", "wipe"}
JUMPS_S = (-7200, -600, 400, 3600, 26 * 3600)
HANGS_AT = ("connect", "mail", "rcpt", "data", "dot", "accepted")
ROUND_S, ROUND_MAILS = 80, 400  # a round of faults, and how many mails may come in it
MAILS_A_THREAD = 5
LEAST_THREADS = 30  # about ten faults of a round give a thread to a person, with all that is written in it later


@dataclass(frozen=True, slots=True, order=True)
class Fault:
    """One fault: seconds after the first mail, what, to whom, for how long (s), how often."""

    at_s: float
    kind: Kind
    target: str = ""
    lasts_s: float = 0
    count: int = 0

    def line(self) -> str:
        """It in words."""
        parts = [f"{self.at_s:6.1f} s", self.kind, self.target]
        parts += [f"for {self.lasts_s:.1f} s"] if self.lasts_s else []
        parts += [f"x {self.count}"] if self.count else []
        return "  ".join(part for part in parts if part)


@dataclass(frozen=True, slots=True)
class Schedule:
    """What one run does: so many mails across so many threads within `lasts_s` seconds, under these faults."""

    seed: int
    mails: int
    threads: int
    lasts_s: float
    faults: tuple[Fault, ...]

    def text(self) -> str:
        """It on one line a fault."""
        head = f"seed {self.seed}: {self.mails} mails across {self.threads} threads in {self.lasts_s:.0f} s"
        return "\n".join([head, *(fault.line() for fault in self.faults)])


def draw(seed: int, mails: int = 200, *, embedded: bool = False) -> Schedule:
    """The schedule of a seed."""
    dice = random.Random(seed)
    rounds = -(-mails // ROUND_MAILS)
    drawn = [fault for number in range(rounds) for fault in _round(dice, number * ROUND_S)]
    kept = [fault for fault in drawn if not (embedded and fault.kind in APACHE_ONLY)]
    threads = min(mails, max(LEAST_THREADS, mails // MAILS_A_THREAD))
    return Schedule(seed, mails, threads, rounds * ROUND_S, tuple(sorted(kept)))


def _round(dice: random.Random, begin_s: float) -> Iterator[Fault]:
    def at(latest: float = 0.95) -> float:
        return round(begin_s + dice.uniform(0.05, latest) * ROUND_S, 1)

    def some(least: float, most: float) -> float:
        return round(dice.uniform(least, most), 1)

    for name in (*SINGLE, *(f"{name}#{dice.choice((1, 2))}" for name in DOUBLED)):
        yield Fault(at(), "kill", name)
    yield Fault(at(), "kill", dice.choice(PROCESSES))
    yield Fault(at(0.8), "storm", dice.choice(DOUBLED), count=2)
    yield Fault(at(), "broker", lasts_s=some(1, 4))
    yield Fault(at(), "database", lasts_s=some(1, 4))
    yield Fault(at(), "redis", lasts_s=some(2, 8))
    for link in LINKS:
        yield Fault(at(), "cut", link)
    yield Fault(at(), "pause", dice.choice(LINKS), lasts_s=some(1, 5))
    for jump in dice.sample(JUMPS_S, 2):
        yield Fault(at(), "clock", f"{jump:+} s")
    yield Fault(at(), "blobs-full", lasts_s=some(3, 8))
    yield Fault(at(), "smtp-refuses", count=dice.randrange(3, 12))
    yield Fault(at(), "smtp-never", count=1)
    for step in dice.sample(HANGS_AT, 2):
        yield Fault(at(), "smtp-hangs", step, count=1)
    yield Fault(at(), "smtp-drops", "accepted", count=2)
    for kind in ("model-429", "model-529", "model-timeout", "model-garbage", "model-cut"):
        yield Fault(at(), kind, count=dice.randrange(2, 6))  # type: ignore[arg-type]
    for _ in range(2):
        yield Fault(at(), "duplicates", count=dice.randrange(30, 80))
    yield Fault(at(0.8), "reorder", dice.choice(REORDERED))
    yield Fault(at(), "poison", dice.choice(POISONED))
    yield Fault(at(0.6), "refused-topic", dice.choice(REFUSED), lasts_s=some(4, 12))
    yield Fault(at(0.8), "unknown-type", dice.choice(REFUSED))
    yield Fault(at(0.5), "newer-version", dice.choice(tuple(NEWER)), lasts_s=some(1, 10))
    yield Fault(at(0.7), "model-outage", dice.choice(OUTAGES), lasts_s=some(6, 12))
    yield Fault(at(0.7), "model-401", lasts_s=some(3, 8))
    yield Fault(at(0.8), "wipe")
    yield Fault(at(), "bounce", count=2)
    yield Fault(at(), "erase", count=2)
