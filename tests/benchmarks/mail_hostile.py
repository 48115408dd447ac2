"""Mails made to be slow or large: each is read in a process of its own, its CPU seconds and peak memory measured.

Read means parsed, looked at as a report, and masked as the model would be shown it.

    python -m tests.benchmarks.mail_hostile [NAME]

With a name the mail is read in this process and one line of JSON is printed; without one, all are measured. Each is as
large as the limits on a mail let it be, or as the limits on its parts do.
"""

from __future__ import annotations

import base64
import json
import resource
import subprocess
import sys
import time
from collections.abc import Callable

from services.mail.html_text import MAX_DEPTH, MAX_WORK
from services.mail.masking import mask
from services.mail.message import Limits
from services.mail.mime import UNREADABLE, read_mail
from services.mail.reports import read_report
from services.read_email.contents import MAX_TEXT
from tests.benchmarks.measured import Measured, at_most
from tests.support.memory import largest_mb

SECONDS, MEGABYTES = 2.0, 300.0
CPU_LIMIT = 60  # seconds; a mail that is not read by then has no end
MOST = Limits().total_bytes
HEADERS = Limits().header_bytes
FROM = b"From: a@b.example\nSubject: x\n"


def text(unit: bytes, size: int = MOST, charset: bytes = b"utf-8", more: bytes = b"") -> bytes:
    """A plain mail of one repeated unit."""
    head = FROM + b"Content-Type: text/plain; charset=" + charset + more + b"\n\n"
    return head + unit * ((size - len(head)) // len(unit))


def html(body: bytes) -> bytes:
    """A mail of HTML."""
    return (FROM + b"Content-Type: text/html; charset=utf-8\n\n" + body)[:MOST]


def header(name: bytes, unit: bytes) -> bytes:
    """A mail with one header as long as headers may be."""
    head = b"From: a@b.example\n" + name + b": "
    return head + unit * ((HEADERS - len(head) - 40) // len(unit)) + b"\n\nx"


def parts(part: bytes, times: int) -> bytes:
    """A multipart of one repeated part, as many times as it has room for."""
    head = FROM + b"Content-Type: multipart/mixed; boundary=b\n\n"
    one = b"--b\n" + part + b"\n"
    return head + one * min(times, (MOST - len(head)) // len(one)) + b"--b--\n"


def attached(kind: bytes, content: bytes) -> bytes:
    """A part with a file of a kind, as mail programs attach them."""
    lines = base64.encodebytes(content)
    return b"Content-Type: " + kind + b"; name=a\nContent-Transfer-Encoding: base64\n\n" + lines


ATTRIBUTION = b"On 4 Mar 2024 at 9:15 x <a@b.example> y:\n"
CLASSES = b"".join(b".a%d{color:red;font-size:1px}" % one for one in range(500))
ALL_CLASSES = b" ".join(b"a%d" % one for one in range(500))

MAILS: dict[str, Callable[[], bytes]] = {
    "300k nested quote divs": lambda: html(b"<div class=cite>" * 300_000 + b"x"),
    "300k nested blockquotes": lambda: html(b"<blockquote>" * 300_000 + b"x"),
    "330k table rows": lambda: html(b"<table>" + b"<tr><td>a<td>b" * 330_000),
    "100k CSS rules": lambda: html(b"<style>" + b"".join(b".a%d{color:red}" % one for one in range(100_000)) + b"</style>x"),
    "CSS comments": lambda: html(b"<style>" + b"/*" * 2_400_000 + b"</style>x"),
    "CSS blocks": lambda: html(b"<style>" + b"@a{" * 1_600_000 + b"</style>x"),
    "classes of many rules": lambda: html(b"<style>" + CLASSES + b"</style>" + (b"<p class='" + ALL_CLASSES + b"'>x") * 1_900),
    "most elements": lambda: html(b"<p class=a>x</p>" * (MAX_WORK - 1_000)),
    "most rows": lambda: html(b"<table>" + b"<tr><td>a<td>b" * (MAX_WORK // 3 - 500)),
    "most quotes": lambda: html(b"<blockquote class=gmail_quote>x</blockquote>" * (MAX_WORK - 1_000)),
    "most styles": lambda: html(b"".join(b"<p style='color:#%06x;display:block'>x" % one for one in range(MAX_WORK // 5 - 200))),
    "most depth": lambda: html((b"<blockquote>x" * (MAX_DEPTH - 10) + b"</blockquote>" * (MAX_DEPTH - 10)) * (MAX_WORK // MAX_DEPTH)),
    "long styles": lambda: html((b"<p style='" + b"color:red;" * 400 + b"'>x</p>") * 6_000),
    "breaks": lambda: html(b"a<br>" * 5_000_000),
    "links": lambda: html(b"<a href='http://x.example'>y</a>" * 700_000),
    "entities": lambda: html(b"&amp;" * 4_900_000),
    "brackets": lambda: html(b"<" * 20_000_000),
    "attributes": lambda: html(b"<p " + b" ".join(b"a%d=1" % one for one in range(900_000)) + b">x"),
    "one text of HTML": lambda: html(b"a " * 12_000_000),
    "no width": lambda: html("a\u200b".encode() * 5_000_000),
    "joiners": lambda: html("a\u200c".encode() * 5_000_000),
    "tag characters": lambda: html("\U000e0041".encode() * 5_000_000),
    "white space": lambda: html(b"a\n\t " * 5_000_000),
    "preformatted": lambda: html(b"<pre>" + b"a\n" * 2_400_000),
    "hidden": lambda: html(b"<p style='display:none'>x" * 200_000),
    "signatures": lambda: html(b"<div class='gmail_signature'>" * 170_000),
    **{f"lines of {unit!r}": (lambda unit=unit: text(unit)) for unit in (  # type: ignore[misc]
        *(b"a:\n", ATTRIBUTION, b"From: a@b.example\n", b"> a\nb\n", b"--\na\n", b"Sent from my phone\n\n", b"\n", b"a"),
        *(b"begin 644 a\n", b"begin 644 a\n#86)C\n`\nend\n", b"```\n", b"4111 ", b"> " * 40 + b"\n", b"a@", b"wrote:\n\n"),
    )},
    "flowed": lambda: text(b"a \n", more=b"; format=flowed"),
    "quoted-printable": lambda: text(b"=41", more=b"\nContent-Transfer-Encoding: quoted-printable"),
    "spaces, quoted-printable": lambda: text(b" \t", more=b"\nContent-Transfer-Encoding: quoted-printable"),
    "base64": lambda: text(b"QUJD\n", more=b"\nContent-Transfer-Encoding: base64"),
    "UTF-7": lambda: text(b"+AGE-", charset=b"utf-7"),
    "ISO-2022-JP": lambda: text(b"\x1b$B0!\x1b(B", charset=b"iso-2022-jp"),
    "an unknown charset": lambda: text(b"\xe4\xf6 ", charset=b"x-none"),
    "empty lines in fifty multiparts": lambda: b"From: a@b.example\n"
    + b"".join(b"Content-Type: multipart/mixed; boundary=b%d\n\n--b%d\n" % (one, one) for one in range(49))
    + b"\n" * 24_000_000,
    "half boundaries": lambda: b"From: a@b.example\nContent-Type: multipart/mixed; boundary=b\n\n" + b"--b x\n" * 4_000_000,
    "10,000 multiparts in each other": lambda: FROM
    + b"".join(b"Content-Type: multipart/mixed; boundary=b%d\n\n--b%d\n" % (one, one) for one in range(10_000)),
    "10,000 mails in each other": lambda: FROM + b"Content-Type: message/rfc822\n\n" * 10_000 + b"x",
    "forwarded mails in multiparts": lambda: FROM
    + b"".join(
        b"Content-Type: multipart/mixed; boundary=b%d\n\n--b%d\nContent-Type: message/rfc822\n\nSubject: x\n" % (one, one)
        for one in range(5_000)
    ),
    "1,000 parts of text": lambda: parts(b"Content-Type: text/plain\n\n" + b"a b\n" * 5_000, 990),
    "1,000 parts of HTML": lambda: parts(b"Content-Type: text/html\n\n" + b"<p>a<br>" * 2_500, 990),
    "100,000 empty parts": lambda: parts(b"\n", 100_000),
    **{f"parts of {kind.decode()}": (lambda kind=kind, content=content: parts(attached(kind, content), 40)) for kind, content in (  # type: ignore[misc]
        *((b"application/pdf", b"%PDF-1.7\n1 0 obj\n" * 20_000), (b"text/calendar", b"BEGIN:VEVENT\nATTENDEE:a@b\n" * 12_000)),
        *((b"application/zip", b"PK\3\4" * 80_000), (b"application/ms-tnef", b"\x78\x9f\x3e\x22" * 80_000)),
        (b"application/vnd.openxmlformats-officedocument.wordprocessingml.document", b"PK\3\4word/document.xml" * 15_000),
    )},
    "100,000 headers": lambda: b"From: a@b.example\n" + b"X: y\n" * 100_000 + b"\nx",
    "5,000 Received": lambda: b"From: a@b.example\n" + b"Received: from a by b; x\n" * 5_000 + b"\nx",
    "folded header": lambda: b"From: a@b.example\nSubject: " + b"a\n " * 80_000 + b"\n\nx",
    "parameter continuations": lambda: FROM
    + b"Content-Disposition: attachment"
    + b"".join(b"; filename*%d*=utf-8''a" % one for one in range(9_000))
    + b"\n\nx",
    "font in font": lambda: html(b"<font color=red>" * 200_000 + b"x"),
    "tables in tables": lambda: html(b"<table><tr><td>" * 150_000 + b"x"),
    "lists in lists": lambda: html(b"<ul><li>a" * 150_000),
    "comments": lambda: html(b"<!--" * 4_000_000),
    "character references": lambda: html(b"&#x1F600;" * 2_500_000),
    "HZ": lambda: text(b"~{0!~}", charset=b"hz-gb-2312"),
    "ISO-2022-KR": lambda: text(b"\x1b$)C\x0e0!\x0f", charset=b"iso-2022-kr"),
    "UTF-16": lambda: text(b"\xd8\x00a\x00", charset=b"utf-16"),
    "base64 garbage": lambda: text(b"=Q*U\xff", more=b"\nContent-Transfer-Encoding: base64"),
    **{f"masked: {unit!r}": (lambda unit=unit: text(unit.encode())) for unit in (  # type: ignore[misc]
        *("-eyJ", "4 ", "4-", "DE89 ", "password: ", "-----BEGIN A PRIVATE KEY-----", "SG.", "1\n", "aB3_aB3_aB3_\n"),
        *("\ufdfa", "\uff14 ", "\u0661 ", "\u200b4"),
    )},
    **{f"{name.decode()} of {unit!r}": (lambda name=name, unit=unit: header(name, unit)) for name, unit in (  # type: ignore[misc]
        *((b"Subject", b"!"), (b"Subject", b"re:"), (b"Subject", b"=?utf-8?q?a?= "), (b"Subject", b"["), (b"To", b"a@b.example, ")),
        *((b"To", b"("), (b"To", b'"'), (b"To", b"<"), (b"References", b"<a@b> "), (b"Date", b"("), (b"Auto-Submitted", b"(")),
        *((b"From", b"=?utf-8?b?4pi6?= "), (b"From", b"a@b, "), (b"To", b"g:a@b;, "), (b"Subject", b"=?utf-7?q?+2D3eCg-?= ")),
        *((b"Subject", b"=?iso-2022-jp?b?GyRCMCEbKEI=?="), (b"In-Reply-To", b"<"), (b"Received", b"from ("), (b"List-Id", b"<.")),
        *((b"Content-Type", b"a*0=b; "), (b"Content-Type", b'"'), (b"Return-Path", b"<"), (b"Reply-To", b"challenge")),
    )},
}  # fmt: skip


def read(name: str) -> dict[str, float | str]:
    """Read one of the mails here: CPU seconds, peak memory of the process in megabytes, and why it was parked."""
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_LIMIT, CPU_LIMIT))
    raw = MAILS[name]()
    read_mail(FROM + b"\nHello there, what loads once is loaded now, and not counted.\n")
    started = time.process_time()
    mail = read_mail(raw)
    read_report(mail, raw)
    for shown in (mail.reply.new[:MAX_TEXT], mail.text[:MAX_TEXT], mail.subject, *(one.name for one in mail.from_)):
        mask(shown)
    seconds = time.process_time() - started
    return {"seconds": round(seconds, 2), "megabytes": round(largest_mb(), 1), "parked": mail.parked}


def read_apart(*names: str) -> list[dict[str, float | str]]:
    """The same in a process of their own; one that does not end or that fails has taken all the time there is."""
    done = subprocess.run([sys.executable, "-m", __spec__.name, *names], capture_output=True, check=False)
    if done.returncode:
        return [{"seconds": float(CPU_LIMIT), "megabytes": 0.0, "parked": UNREADABLE} for _ in names]
    return [dict(json.loads(line)) for line in done.stdout.splitlines()]


def measure() -> list[Measured]:
    """The slowest and the largest of all, and how many our reader gave up on."""
    found = {name: read_apart(name)[0] for name in MAILS}
    seconds = {name: float(one["seconds"]) for name, one in found.items()}
    megabytes = {name: float(one["megabytes"]) for name, one in found.items()}
    slowest, largest = max(seconds, key=seconds.__getitem__), max(megabytes, key=megabytes.__getitem__)
    failed = sum(str(one["parked"]).startswith(UNREADABLE) for one in found.values())
    return [
        at_most(f"hostile: slowest ({slowest})", seconds[slowest], "s CPU", SECONDS, len(found)),
        at_most(f"hostile: largest ({largest})", megabytes[largest], "MB", MEGABYTES, len(found)),
        at_most("hostile: mails that our reader failed on", failed, "mails", 0, len(found)),
    ]


if __name__ == "__main__":
    if len(sys.argv) > 1:
        for each in sys.argv[1:]:
            print(json.dumps(read(each)))
    else:
        for each in MAILS:
            print(f"{each[:60]:60} {read_apart(each)[0]}", flush=True)
