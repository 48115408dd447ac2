"""Mails broken at random: cut, spliced, flipped, repeated, their headers and boundaries garbled."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Sequence

from services.core.mail.mime import UNREADABLE, read_mail
from tests.benchmarks.measured import Measured, at_most

SLOWEST_CPU_SECONDS = 2.0

_TOKENS = (
    *(
        b"\r\n\r\n",
        b"\n",
        b"--",
        b";",
        b'"',
        b"=?utf-8?q?=0A?=",
        b"=?x?b?====?=",
        b"\x00",
        b"\xff",
        b"<",
        b">",
        b"(",
        b":",
    ),
    *(
        b"Content-Type: multipart/mixed; boundary=",
        b"Content-Transfer-Encoding: base64\n",
        b"charset=utf-16",
        b"@",
        b",",
    ),
    *(
        b"<div style='display:none'>",
        b"<blockquote>",
        b"begin 644 x\n",
        b"On 1 Jan 2020 at 10:00, x <a@b.example> wrote:\n",
    ),
)


def mutate(raw: bytes, other: bytes, chance: random.Random) -> bytes:
    """`raw` after one to six random injuries; `other` lends its pieces."""
    for _ in range(chance.randint(1, 6)):
        raw = chance.choice(_INJURIES)(raw, other, chance)
    return raw


def _place(raw: bytes, chance: random.Random) -> int:
    return chance.randint(0, len(raw)) if chance.random() < 0.5 else chance.randint(0, min(len(raw), 2_000))


def _cut(raw: bytes, other: bytes, chance: random.Random) -> bytes:
    return raw[: _place(raw, chance)]


def _splice(raw: bytes, other: bytes, chance: random.Random) -> bytes:
    start = _place(other, chance)
    return raw[: _place(raw, chance)] + other[start : start + 500] + raw[_place(raw, chance) :]


def _flip(raw: bytes, other: bytes, chance: random.Random) -> bytes:
    at = _place(raw, chance)
    return raw[:at] + bytes([chance.randint(0, 255)]) + raw[at + 1 :]


def _insert(raw: bytes, other: bytes, chance: random.Random) -> bytes:
    at = _place(raw, chance)
    return raw[:at] + chance.choice(_TOKENS) * chance.choice((1, 1, 2, 50)) + raw[at:]


def _remove(raw: bytes, other: bytes, chance: random.Random) -> bytes:
    at = _place(raw, chance)
    return raw[:at] + raw[at + chance.randint(1, 200) :]


def _repeat(raw: bytes, other: bytes, chance: random.Random) -> bytes:
    at = _place(raw, chance)
    return raw[:at] + raw[at : at + chance.randint(1, 200)] * chance.randint(2, 20) + raw[at:]


_INJURIES: tuple[Callable[[bytes, bytes, random.Random], bytes], ...] = (
    _cut,
    _splice,
    _flip,
    _insert,
    _remove,
    _repeat,
)


def measure(mails: Sequence[bytes], rounds: int, seed: int) -> list[Measured]:
    """How many of `rounds` broken mails raise, and how long the slowest takes."""
    chance = random.Random(seed)
    raised = 0
    slowest = 0.0
    for _ in range(rounds):
        broken = mutate(chance.choice(mails), chance.choice(mails), chance)
        started = time.process_time()
        raised += read_mail(broken).parked.startswith(UNREADABLE)
        slowest = max(slowest, time.process_time() - started)
    return [
        at_most("fuzz: broken mails that raise", raised, "mails", 0, rounds),
        at_most("fuzz: slowest broken mail", slowest, "s CPU", SLOWEST_CPU_SECONDS, rounds),
    ]
