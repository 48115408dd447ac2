"""Judging mail, measured: reports, may-we-answer, robots and people, threading, sender authentication.

`measure` is called by `tests.benchmarks.mail`. The answers are in the corpora's file names and tables; what
is absent is left out.
"""

from __future__ import annotations

import dataclasses
import email
import re
import time
from collections.abc import Callable
from pathlib import Path

from services.mail.filters import FilterContext, judge
from services.mail.message import ParsedMail
from services.mail.mime import read_mail
from services.mail.reports import read_report
from tests.benchmarks import mail_robots, mail_sender_auth, mail_threads
from tests.benchmarks.measured import Measured, at_least, at_most, percent

BOUNCE = re.compile(r"^(lhost|rhost|rfc3464)-")
COMPLAINT = re.compile(r"^arf-")
AUTO_REPLY = re.compile(r"^rfc3834-")
LIST_MACHINERY = re.compile(
    r"^(list-.*|precedence|sender|errors-to|x-beenthere|x-mailman-version|x-mailing-list|mailing-list|x-loop|x-list.*)$"
)
MACHINE_AUTHORS = re.compile(r"^(rssfeeds|nobody|.*daemon|postmaster|webmaster)@", re.IGNORECASE)


def measure(data: Path) -> list[Measured]:
    """All lines on the corpora below `data`."""
    parts: tuple[tuple[str, Callable[[Path], list[Measured]]], ...] = (
        ("bounces", _reports),
        ("bounces", _automatic),
        ("", lambda _: mail_robots.simulator()),
        ("real-mail", _personal),
        ("real-mail", lambda found: mail_robots.easy_ham(found, _written_to_us)),
        ("threading/expected_trees.json", mail_threads.measure),
        ("sender-auth/expected_symbols.json", mail_sender_auth.measure),
        ("real-mail", _speed),
    )
    return [line for needed, part in parts if (data / needed).exists() for line in part(data)]


def _named(folder: Path, pattern: re.Pattern[str]) -> list[bytes]:
    return [p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file() and pattern.match(p.name)]


def _kinds(mails: list[bytes], kind: str) -> tuple[float, float]:
    """(percent of mails read as that kind, percent of those with a recipient)."""
    reports = [read_report(read_mail(raw), raw) for raw in mails]
    of_kind = [r for r in reports if r and r.kind == kind]
    with_recipient = sum(bool(r.recipients) for r in of_kind)
    return percent(len(of_kind), len(mails)), percent(with_recipient, len(mails))


def _reports(data: Path) -> list[Measured]:
    return measure_reports(data / "bounces")


def measure_reports(folder: Path) -> list[Measured]:
    """Recognition and recipients; flufl.bounce finds recipients only, so it is beside the second line."""
    bounces, complaints, replies = (_named(folder, kind) for kind in (BOUNCE, COMPLAINT, AUTO_REPLY))
    recognised, addressed = _kinds(bounces, "bounce")
    lines = [
        at_least("judging: bounces recognised", recognised, "%", 98, len(bounces)),
        dataclasses.replace(
            at_least("judging: bounces with their recipients", addressed, "%", 92, len(bounces)),
            sides={"ours": addressed, **_flufl(bounces)},
        ),
        at_least("judging: complaints recognised", _kinds(complaints, "complaint")[0], "%", 100, len(complaints)),
        at_least("judging: automatic replies recognised", _kinds(replies, "auto_reply")[0], "%", 100, len(replies)),
    ]
    return lines if bounces else []


def _flufl(mails: list[bytes]) -> dict[str, float]:
    """The share of the same mails in which flufl.bounce finds a permanent or temporary failure; {} without it."""
    try:
        from flufl.bounce import all_failures
    except ImportError:
        return {}
    found = 0
    for raw in mails:
        temporary, permanent = all_failures(email.message_from_bytes(raw))
        found += bool(temporary or permanent)
    return {"flufl.bounce": percent(found, len(mails))}


def _verdict(mail: ParsedMail, raw: bytes) -> str:
    return judge(mail, FilterContext(report=read_report(mail, raw))).kind


def _automatic(data: Path) -> list[Measured]:
    """Answers to automatic mail: there may be none."""
    mails = [raw for kind in (BOUNCE, COMPLAINT, AUTO_REPLY) for raw in _named(data / "bounces", kind)]
    answered = sum(_verdict(read_mail(raw), raw) == "answer" for raw in mails)
    return [at_most("judging: automatic mails answered", answered, "mails", 0, len(mails))] if mails else []


def _personal(data: Path) -> list[Measured]:
    """Personal mail allowed: what people wrote, as if to us alone.

    That is `bounces/maildir/not` and the easy ham with the list machinery taken out of its headers, less what
    a feed or a daemon is the author of. Automatic replies among the rest count against us.
    """
    folders = [data / "real-mail" / "easy-ham-1", data / "real-mail" / "easy-ham-2", data / "bounces/maildir/not"]
    raws = [p.read_bytes() for folder in folders if folder.exists() for p in sorted(folder.iterdir())]
    mails = [(_written_to_us(read_mail(raw)), raw) for raw in raws]
    people = [(mail, raw) for mail, raw in mails if mail.author and not MACHINE_AUTHORS.match(mail.author.addr)]
    allowed = sum(_verdict(mail, raw) == "answer" for mail, raw in people)
    misread = sum((r := read_report(mail, raw)) is not None and r.kind == "bounce" for mail, raw in people)
    return [
        at_least("judging: personal mails allowed", percent(allowed, len(people)), "%", 99, len(people)),
        at_most("judging: personal mails read as bounces", misread, "mails", 0, len(people)),
    ]


def _written_to_us(mail: ParsedMail) -> ParsedMail:
    headers = tuple((k, v) for k, v in mail.headers if not LIST_MACHINERY.match(k.casefold()))
    return dataclasses.replace(mail, headers=headers, sender=())


def _speed(data: Path) -> list[Measured]:
    """Reading and judging together, without DNS: the best of three rounds, in seconds of one core."""
    raws = [p.read_bytes() for p in sorted((data / "real-mail").rglob("*")) if p.is_file()]
    best = min(_seconds(raws) for _ in range(3))
    return [at_least("judging: read, report, filters", round(len(raws) / best, 1), "mails/s", 300, len(raws))]


def _seconds(raws: list[bytes]) -> float:
    start = time.process_time()
    for raw in raws:
        _verdict(read_mail(raw), raw)
    return time.process_time() - start
