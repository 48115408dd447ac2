"""Reading mail, measured on the corpora: exceptions, speed, reply text, MIME trees, header tables.

`measure` is called by `tests.benchmarks.mail`; alone: `python -m tests.benchmarks.mail_reading [--data DIR]
[--fuzz N [--seed S]]`. What is absent from the data is left out.
"""

from __future__ import annotations

import argparse
import email
import email.policy
import logging
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import mailparser

from services.mail.mime import UNREADABLE, read_mail
from tests.benchmarks import mail_fuzz, mail_reply_text, mail_trees
from tests.benchmarks.measured import Measured, at_least

MAIL_FOLDERS = (
    "real-mail",
    "bounces",
    "mime/eml",
    "mime/maildir",
    "sender-auth",
    "talon/standard_replies",
    "threading",
)
SPEED_TARGET = 300.0
ROUNDS = 3


def measure(data: Path) -> list[Measured]:
    """All lines on the corpora below `data`."""
    logging.getLogger("mailparser").setLevel(logging.CRITICAL)
    mails = list(_mails(data))
    lines = [_exceptions(mails)] if mails else []
    real = [path.read_bytes() for path in _files(data / "real-mail")]
    if real:
        lines += _speed(real)
    return [*lines, *mail_reply_text.measure(data), *mail_trees.measure(data)]


def _files(folder: Path) -> Iterator[Path]:
    return (path for path in sorted(folder.rglob("*")) if path.is_file() and path.suffix != ".json")


def _mails(data: Path) -> Iterator[bytes]:
    for folder in MAIL_FOLDERS:
        for path in _files(data / folder):
            yield path.read_bytes()


def _exceptions(mails: Sequence[bytes]) -> Measured:
    readers = {"ours": _ours, "standard library": _standard_library, "mail-parser": mailparser.parse_from_bytes}
    sides = {name: float(sum(_raises(read, raw) for raw in mails)) for name, read in readers.items()}
    raised = sides["ours"]
    return Measured("reading: mails that raise", raised, "mails", 0, raised == 0, len(mails), sides)


def _ours(raw: bytes) -> None:
    """`read_mail`, its last resort counted as a failure."""
    mail = read_mail(raw)
    if mail.parked.startswith(UNREADABLE):
        raise ValueError(mail.parked)


def _raises(read: Callable[[bytes], object], raw: bytes) -> bool:
    try:
        read(raw)
    except Exception:
        return True
    return False


def _standard_library(raw: bytes) -> None:
    """What `read_mail` does, as far as the standard library does it: all headers, all text parts, all files."""
    message = email.message_from_bytes(raw, policy=email.policy.default)
    for _ in message.items():
        pass
    for part in message.walk():
        if part.get_content_maintype() == "text":
            part.get_content()
        elif not part.is_multipart():
            part.get_payload(decode=True)


def _structure_only(raw: bytes) -> None:
    email.message_from_bytes(raw)


def _rate(read: Callable[[bytes], object], mails: Sequence[bytes]) -> float:
    """Mails a second in the best of some rounds, on one core; mails that raise count as read."""
    best = 0.0
    for _ in range(ROUNDS):
        started = time.process_time()
        for raw in mails:
            _raises(read, raw)
        best = max(best, len(mails) / (time.process_time() - started))
    return best


def _speed(mails: Sequence[bytes]) -> list[Measured]:
    rates = {
        "read_mail": _rate(read_mail, mails),
        "standard library, headers and text": _rate(_standard_library, mails),
        "mail-parser": _rate(mailparser.parse_from_bytes, mails),
        "standard library, structure only": _rate(_structure_only, mails),
    }
    ours = rates["read_mail"]
    theirs = rates["standard library, headers and text"]
    return [
        at_least("reading: mails a second a core", ours, "mails/s", SPEED_TARGET, len(mails)),
        Measured("reading: speed of the standard library's", ours / theirs, "x", n=len(mails), sides=rates),
    ]


def main() -> None:
    """Prints the lines, or fuzzes."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.mail_reading")
    parser.add_argument("--data", type=Path, default=Path(__file__).resolve().parents[3] / "shared" / "corpora")
    parser.add_argument("--fuzz", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    lines = mail_fuzz.measure(list(_mails(given.data)), given.fuzz, given.seed) if given.fuzz else measure(given.data)
    for line in lines:
        verdict = "" if line.met is None else ("  met" if line.met else "  NOT met")
        print(f"{line.name:60} {line.value:10.2f} {line.unit:8} n={line.n}{verdict} {line.sides or ''}")


if __name__ == "__main__":
    main()
