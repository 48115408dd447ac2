"""Judging mail, measured on the corpora: reports, may-we-answer, threading, sender authentication.

`measure` is called by `tests.benchmarks.mail`. The answers are in the corpora's file names and tables; what
is absent is left out.
"""

from __future__ import annotations

import dataclasses
import email
import json
import random
import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from services.core.mail.authentication import Authentication, DnsFailed, Peer, RecordType, authenticate
from services.core.mail.filters import FilterContext, judge
from services.core.mail.jwz import Envelope, build_trees, rows
from services.core.mail.message import ParsedMail
from services.core.mail.mime import read_mail
from services.core.mail.reports import read_report
from tests.benchmarks.measured import Measured, at_least, at_most

BOUNCE = re.compile(r"^(lhost|rhost|rfc3464)-")
COMPLAINT = re.compile(r"^arf-")
AUTO_REPLY = re.compile(r"^rfc3834-")
LIST_MACHINERY = re.compile(
    r"^(list-.*|precedence|sender|errors-to|x-beenthere|x-mailman-version|x-mailing-list|mailing-list|x-loop|x-list.*)$"
)
MACHINE_AUTHORS = re.compile(r"^(rssfeeds|nobody|.*daemon|postmaster|webmaster)@", re.IGNORECASE)
SHUFFLES = 200
DMARC_SYMBOLS = {
    ("pass", "none"): "DMARC_POLICY_ALLOW",
    ("pass", "quarantine"): "DMARC_POLICY_ALLOW",
    ("pass", "reject"): "DMARC_POLICY_ALLOW",
    ("fail", "none"): "DMARC_POLICY_SOFTFAIL",
    ("fail", "quarantine"): "DMARC_POLICY_QUARANTINE",
    ("fail", "reject"): "DMARC_POLICY_REJECT",
}
SPF_SYMBOLS = {
    "pass": "R_SPF_ALLOW",
    "fail": "R_SPF_FAIL",
    "none": "R_SPF_NA",
    "permerror": "R_SPF_PERMFAIL",
    "temperror": "R_SPF_DNSFAIL",
}
DKIM_SYMBOLS = {
    "pass": "R_DKIM_ALLOW",
    "fail": "R_DKIM_REJECT",
    "permerror": "R_DKIM_PERMFAIL",
    "temperror": "R_DKIM_TEMPFAIL",
    "none": "R_DKIM_NA",
}


def measure(data: Path) -> list[Measured]:
    """All lines on the corpora below `data`."""
    parts: tuple[tuple[str, Callable[[Path], list[Measured]]], ...] = (
        ("bounces", _reports),
        ("bounces", _automatic),
        ("real-mail", _personal),
        ("threading/expected_trees.json", _threading),
        ("sender-auth/expected_symbols.json", _authentication),
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
    return _percent(len(of_kind), len(mails)), _percent(with_recipient, len(mails))


def _percent(part: int, whole: int) -> float:
    return round(100 * part / whole, 2) if whole else 100.0


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
    return {"flufl.bounce": _percent(found, len(mails))}


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
        at_least("judging: personal mails allowed", _percent(allowed, len(people)), "%", 99, len(people)),
        at_most("judging: personal mails read as bounces", misread, "mails", 0, len(people)),
    ]


def _written_to_us(mail: ParsedMail) -> ParsedMail:
    headers = tuple((k, v) for k, v in mail.headers if not LIST_MACHINERY.match(k.casefold()))
    return dataclasses.replace(mail, headers=headers, sender=())


def _threading(data: Path) -> list[Measured]:
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
    return [at_least("judging: JWZ trees exact, any arrival order", _percent(exact, tried), "%", 100, tried)]


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


class Zone:
    """The corpus's made-up DNS."""

    def __init__(self, path: Path) -> None:
        self._zone = {(r["name"].lower(), r["type"].upper()): r for r in json.loads(path.read_text())}

    def lookup(self, name: str, kind: RecordType) -> tuple[str, ...]:
        record = self._zone.get((name.lower().rstrip("."), kind), {"rcode": "nxdomain", "replies": []})
        if record["rcode"] in ("timeout", "servfail"):
            raise DnsFailed(name)
        return tuple(record["replies"])


def auth_cases(folder: Path) -> Iterator[tuple[dict[str, Any], Authentication]]:
    """Each row of the corpus whose mail is here, with what we make of it."""
    zone = Zone(folder / "fake_dns.json")
    for rows_ in json.loads((folder / "expected_symbols.json").read_text()).values():
        for row in rows_:
            if (folder / row["file"]).is_file():
                raw = (folder / row["file"]).read_bytes()
                peer = Peer(row["ip"], row["helo"] or "", row["mail_from"] or "") if row["ip"] else None
                yield row, authenticate(raw, read_mail(raw), peer, zone)


def _authentication(data: Path) -> list[Measured]:
    judged = [(row, symbols(found)) for row, found in auth_cases(data / "sender-auth")]
    lines = []
    for name, prefix in (("DMARC", "DMARC_"), ("SPF", "R_SPF_"), ("DKIM", "R_DKIM_")):
        asked = [(row, told) for row, told in judged if any(s.startswith(prefix) for s in row["expect"])]
        right = sum(told[name] in row["expect"] for row, told in asked)
        if asked:
            lines.append(at_least(f"judging: {name} outcomes right", _percent(right, len(asked)), "%", 100, len(asked)))
    return lines


def symbols(found: Authentication) -> dict[str, str | None]:
    """What we found, in the corpus's words."""
    return {
        "DMARC": DMARC_SYMBOLS.get((found.dmarc.result, found.dmarc.policy)),
        "SPF": SPF_SYMBOLS.get(found.spf.result),
        "DKIM": DKIM_SYMBOLS.get(found.dkim[0].result if found.dkim else "none"),
    }


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
