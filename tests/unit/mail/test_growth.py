"""Twice the text takes twice the time in every function that reads a mail, whatever the text.

The functions are found by their parameters, so that a new one is measured without being listed.
"""

from __future__ import annotations

import inspect
import pkgutil
import re
from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any, get_type_hints

import pytest

import services.mail
from services.mail.message import ParsedMail
from services.mail.mime import read_mail
from tests.support.cpu import TooSlow, at_most

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

CHILD = "services.mail.attachment_child"  # a program of its own, under limits of time and memory
SIZE = 5_000  # bytes, then twice and four times as many
NOTHING_S = 0.1  # of CPU for the longest text: a quadratic way that takes no more takes 10 s for 200 kB
MOST_S = 20.0
GROWTH = 9  # times the CPU for four times the text; a quadratic way takes sixteen times
PUMPS = (
    b"a", b" ", b"\n", b"\r\n", b"> ", b">\n", b"<", b"<a>", b"<div>", b"</div>", b"=?utf-8?q?a?= ", b"=?", b"(", b'"', b"\\",
    b",", b";", b":", b"@", b"a@b.c,", b"<a@b.c> ", b"begin 644 a\n", b"begin 644 a\nend\n", b"On Mon, A wrote:\n",
    b"From: a\nTo: b\n", b"-- \n", b"a.b.", b"http://a.b/", b"1234 5678 ", b"DE89 ", b"a: b\n", b"a;b*0*=c;", b"=\n", b"=20",
    b"&amp;", b"\xe2\x80\x8b", b"\xf3\xa0\x81\x81", b"\xc3\xa9", b"<style>.a{b:c}</style>", b"{}", b"@{a{}", b".a{color:red}",
    b"/*", b"<b style='color:red'>x</b>", b"<blockquote>", b"Reporting-MTA: dns; a\n\n", b"--b\n",
    b"Content-Type: message/rfc822\n\n", b"[a](b) ", b"+AAA-", b"\x1b$B", b"1,", b"_", b"*", b"#", b"|", b"a\n\n",
    b"Am 1.1.2020 schrieb A:\n", b"________________________________\n",
)  # fmt: skip


def functions() -> Iterator[tuple[str, Callable[[Any], Any], type]]:
    """Each function of the library that can be called with one text, bytes or mail, and which of them it takes."""
    for found in pkgutil.walk_packages(services.mail.__path__, "services.mail."):
        if found.name == CHILD:
            continue
        module = import_module(found.name)
        for name, one in vars(module).items():
            if not inspect.isfunction(one) or one.__module__ != module.__name__ or inspect.iscoroutinefunction(one):
                continue
            given = [each for each in inspect.signature(one).parameters.values() if each.default is each.empty]
            kind = get_type_hints(one, vars(module)).get(given[0].name) if len(given) == 1 else None
            if kind in (str, bytes, ParsedMail):
                yield f"{found.name}.{name}", one, kind


FUNCTIONS = list(functions())


def grows(one: Callable[[Any], Any], kind: type, pump: bytes) -> str:
    """In words, where four times the text takes more than `GROWTH` times the CPU, twice in a row; else ""."""
    if seconds(one, text(kind, pump, 4 * SIZE)) <= NOTHING_S:
        return ""
    least, half, longest = (seconds(one, text(kind, pump, times * SIZE)) for times in (1, 2, 4))
    if longest <= max(NOTHING_S, GROWTH * least):  # the first time something was read or made that is kept
        return ""
    return f"{pump!r}: {least:.2f}, {half:.2f}, {longest:.2f} s"


def text(kind: type, pump: bytes, size: int) -> Any:
    """So many bytes of one pump, as a function takes them."""
    raw = pump * (size // len(pump))
    if kind is ParsedMail:
        return read_mail(b"From: a@b.example\nSubject: Hello\n\n" + raw)
    return raw if kind is bytes else raw.decode("utf-8", "replace")


def seconds(one: Callable[[Any], Any], given: Any) -> float:
    """CPU seconds of a call, `MOST_S` where it takes more; what it refuses counts as far as it came."""
    with at_most(MOST_S) as used:
        try:
            found = one(given)
            for _ in found if inspect.isgenerator(found) else ():
                pass
        except TooSlow:
            return MOST_S
        except Exception:
            return used()
        return used()


def test_what_reads_mails_is_found() -> None:
    """The measure meets the readers, and finds what grows with the square of the text."""
    assert len(FUNCTIONS) > 150
    assert {"services.mail.mime.read_mail", "services.mail.masking.mask"} <= {name for name, _, _ in FUNCTIONS}
    assert grows(lambda given: re.search("(?:a|cd)+b", given), str, b"a")


@pytest.mark.parametrize(("one", "kind"), [pytest.param(*rest, id=name) for name, *rest in FUNCTIONS])
def test_time_grows_with_the_text_and_not_with_its_square(one: Callable[[Any], Any], kind: type) -> None:
    """Four times of any pump take some four times the CPU."""
    assert list(filter(None, (grows(one, kind, pump) for pump in PUMPS))) == []
