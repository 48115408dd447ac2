"""Mails broken at random: cut, spliced, flipped, repeated, their headers and boundaries garbled."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Sequence

from services.mail.mime import UNREADABLE, read_mail
from services.mail.reports import read_report
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


def _run(raw: bytes, other: bytes, chance: random.Random) -> bytes:
    """One character a hundred thousand times, anywhere."""
    at = _place(raw, chance)
    return raw[:at] + bytes([chance.choice(_RUNS)]) * chance.choice((1_000, 100_000)) + raw[at:]


def _header(raw: bytes, other: bytes, chance: random.Random) -> bytes:
    """A header of one character or one of its own tokens, as long as headers may be."""
    name, tokens = chance.choice(HEADERS)
    token = chance.choice((*tokens, bytes([chance.choice(_RUNS)])))
    return name + b": " + token * (chance.choice((1_000, 200_000)) // len(token)) + b"\n" + raw


_RUNS = b" \t!-_=*#<>()[]{}\"'.,:;@?&%$\\/|~^`+a0\x00\xa0\xe9\xff"
HEADERS = (
    (b"Subject", (b"re: ", b"Re:", b"[x]", b"=?utf-8?q?a?= ", b"auto ", b"out of office ", b"(fwd) ")),
    (b"From", (b"a@b.example, ", b"<a@b>", b'"', b"\\", b"a:;")),
    (b"To", (b"a@b.example, ", b"<a@b>", b"g: a@b;", b"=?x?b?YQ==?= ")),
    (b"Reply-To", (b"confirm", b"a.", b"@")),
    (b"Return-Path", (b"<", b"bounces-", b"a@")),
    (b"References", (b"<a@b> ", b"a@b ", b"<<")),
    (b"In-Reply-To", (b"<a@b>", b"a@b ")),
    (b"Message-ID", (b"<a@b>", b"autoreply")),
    (b"Date", (b"Mon, ", b"(", b"1 ", b"; ")),
    (b"Received", (b"from a by b; ", b"(", b"[1.2.3.4] ")),
    (b"Content-Type", (b"a*0=b; ", b"text/", b'a="', b"; ")),
    (b"Content-Disposition", (b"filename*0*=utf-8''%41; ", b"; ")),
    (b"Auto-Submitted", (b"(", b"auto-", b"no; ")),
    (b"Authentication-Results", (b"dkim=pass ", b"a; ", b"(")),
    (b"List-Unsubscribe", (b"<http://a>, ", b"<")),
)

_INJURIES: tuple[Callable[[bytes, bytes, random.Random], bytes], ...] = (
    _cut,
    _splice,
    _flip,
    _insert,
    _remove,
    _repeat,
    _run,
    _header,
)


def measure(mails: Sequence[bytes], rounds: int, seed: int) -> list[Measured]:
    """How many of `rounds` broken mails raise, and how long the slowest takes."""
    chance = random.Random(seed)
    raised = 0
    slowest = 0.0
    for _ in range(rounds):
        broken = mutate(chance.choice(mails), chance.choice(mails), chance)
        started = time.process_time()
        mail = read_mail(broken)
        read_report(mail, broken)
        raised += mail.parked.startswith(UNREADABLE)
        slowest = max(slowest, time.process_time() - started)
    return [
        at_most("fuzz: broken mails that raise", raised, "mails", 0, rounds),
        at_most("fuzz: slowest broken mail", slowest, "s CPU", SLOWEST_CPU_SECONDS, rounds),
    ]
