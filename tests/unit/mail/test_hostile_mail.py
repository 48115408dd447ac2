"""The worst mail under the limits takes bounded time and memory, or is parked with its reason."""

from __future__ import annotations

import pytest

from services.mail.filters import FilterContext, judge
from services.mail.html_text import MAX_DEPTH, MAX_WORK, html_to_text
from services.mail.mime import read_mail
from services.mail.reports import read_report
from tests.benchmarks.mail_fuzz import HEADERS
from tests.benchmarks.mail_hostile import MAILS, read_apart
from tests.support.cpu import at_most

SIGNS = b' !("@\xff'
SECONDS = 4.0  # of CPU for what takes one at the most: a quadratic way takes minutes
FAST = (
    "300k nested quote divs",
    "330k table rows",
    "100k CSS rules",
    "breaks",
    "flowed",
    "lines of b'a:\\n'",
    "Subject of b'!'",
)


@pytest.mark.parametrize("name", FAST)
def test_the_worst_mail_is_read_in_bounded_time(name: str) -> None:
    """Each of the mails that took seconds or stopped the reader is read, or parked, in a fraction of the time."""
    raw = MAILS[name]()
    with at_most(SECONDS, name):
        mail = read_mail(raw)
        read_report(mail, raw)


@pytest.mark.parametrize("name", ["330k table rows", "breaks", "hidden", "brackets"])
def test_html_of_too_many_elements_is_parked(name: str) -> None:
    """What would take too long is known before it is parsed, and says why it is parked."""
    mail = read_mail(MAILS[name]())
    assert mail.parked == f"HTML of more than {MAX_WORK} elements and styles"
    assert mail.author is not None
    assert judge(mail, FilterContext()).kind == "park"


def test_html_nested_too_deep_is_parked() -> None:
    """A parser leaves out what is nested too deep, so that such a mail is for a person to look at."""
    html = "<div>" * (MAX_DEPTH + 100) + "x" + "</div>" * (MAX_DEPTH + 100)
    raw = b"From: a@b.example\nContent-Type: text/html\n\n" + html.encode()
    assert read_mail(raw).parked == f"HTML of more than {MAX_DEPTH} elements in each other"
    assert not read_mail(raw.replace(b"<div>" * 600, b"").replace(b"</div>" * 600, b"")).parked


def test_a_long_newsletter_is_not_parked() -> None:
    """Ten times the elements of the largest real mail at hand are read as ever."""
    html = "<table>" + "<tr><td style='color:#333333'>a</td><td>b</td></tr>" * 3_000 + "</table>"
    assert html_to_text(html).over == ""


def test_memory_of_a_large_mail_is_bounded() -> None:
    """Mails as large as mails may be are read in a process of at most 300 MB, one after the other."""
    names = ("lines of b'> a\\nb\\n'", "one text of HTML", "no width", "tag characters", "masked: '\ufdfa'")
    for name, found in zip(names, read_apart(*names), strict=True):
        assert float(found["megabytes"]) <= 300, name
        assert float(found["seconds"]) <= SECONDS, name


@pytest.mark.parametrize(("name", "tokens"), HEADERS, ids=lambda one: one.decode() if isinstance(one, bytes) else "")
def test_a_header_of_one_repeated_sign_or_token_is_read_in_bounded_time(name: bytes, tokens: tuple[bytes, ...]) -> None:
    """Each header is read and judged in bounded time, whatever sign or token of its own it repeats for 100 kB."""
    for token in (*tokens, *(bytes([one]) for one in SIGNS)):
        value = token * (100_000 // len(token))
        raw = (b"" if name == b"From" else b"From: a@b.example\n") + name + b": " + value + b"\n\nHello there."
        with at_most(SECONDS, f"{name!r} of {token!r}"):
            mail = read_mail(raw)
            judge(mail, FilterContext(report=read_report(mail, raw)))
