"""Outgoing links: what a mail program would make clickable leaves only where it is allowed."""

from __future__ import annotations

import re
import sys
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.mail.compose.body import html_of, safe_text
from services.mail.compose.links import LinkPolicy, find_links
from tests.support.cpu import at_most

NONE = LinkPolicy()
DOCS = LinkPolicy(("docs.shop.example",))

# What programs turn into links, by their own published patterns, roughly: Android's Linkify, Gmail, Thunderbird, Outlook.
CLIENTS = (
    re.compile(r"(?i)\b(?:https?|ftp|rtsp|file|mailto|tel|sms|skype|xmpp|sip|magnet|data|javascript):[^\s]"),
    re.compile(r"(?i)\bwww\.\S"),
    re.compile(r"(?i)[\w\-]+(?:[.\u3002\uff0e\uff61][\w\-]+)*[.\uff0e](?:com|org|net|io|example|test|zip|xn--[a-z0-9]+|рф)(?!\w)"),
    re.compile(r"[\w.+-]+@[\w-]+\.[\w.-]+"),
    re.compile(r"\b\d{1,3}(?:\.\d{1,3}){3}\b"),
    re.compile(r"\\\\\w+\\"),
)  # fmt: skip


def clickable(text: str) -> bool:
    """Whether some program would link something in the text."""
    return any(one.search(text) for one in CLIENTS)


@pytest.mark.parametrize(
    "text",
    [
        "go to evil.example now",
        "evil.example:8443",
        "EVIL.COM?secret=1",
        "secret-4711.evil.com",
        "evil.com#4711",
        "//evil.com/x",
        "\u0435vil.com",
        "пример.рф",
        "xn--e1afmkfd.xn--p1ai",
        "evil。com",
        "evil．com",
        "ｅｖｉｌ．ｃｏｍ",
        "evil\u2024com",
        "evil\u200b.com",
        "ev\u00adil.com",
        "evil.\u2060com",
        "https：//evil.com",
        "https:/evil.com",
        "mailto:eve@evil.com?body=4711",
        "MAILTO:eve@evil.com",
        "tel:+4930123456",
        "sms:+4930123456?body=x",
        "skype:eve?call",
        "magnet:?xt=urn:btih:1",
        "write to eve@evil.com",
        "4711@evil.com",
        "eve@ｅｖｉｌ．com",
        "192.0.2.7",
        "192.0.2.7:80/x",
        "http://192.0.2.7/4711",
        "\\\\evil\\share",
        "file:///etc/passwd",
        "data:text/html,x",
        "jAvAsCrIpT:alert(1)",
        "(evil.com)",
        "*evil.com*",
        "[a](evil.com)",
        "<evil.com>",
        '"evil.com"',
        "evil.com,evil.org;evil.net",
        "report.zip",
        "a/b/evil.com",
        "3.5/evil.com",
        "done.Com",
        "請見evil.com謝謝",
        "evil.com.",
        "user:pass@evil.com",
        "https://docs.shop.example@evil.com/",
        "https://docs.shop.example:8443/x",
        "docs.shop.example:8443",
        "docs.shop.example.evil.com",
        "docs．shop．example",
        "eve@docs.shop.example.evil.com",
        "www.evil",
    ],
)
def test_nothing_that_a_mail_program_links_survives(text: str) -> None:
    """Names, addresses, schemes, ports, shares, full-width dots and unseen characters make no link where none is allowed."""
    safe = safe_text(text, DOCS)
    assert list(find_links(safe)) == []
    assert not clickable(safe)
    assert "<a " not in html_of(safe, DOCS)


def test_a_host_carries_nothing_out() -> None:
    """Of the host of a URL only the end is shown: what stands before it, in the path or in the port, is gone."""
    safe = safe_text("https://s3cret.4711.evil.example:4712/p?q=4713#4714", NONE)
    assert safe == "evil[.]example"
    assert safe_text("https://s3cret.evil.co.uk/", NONE) == "evil[.]co[.]uk"


@pytest.mark.parametrize(
    "text",
    [
        "Version 2.5.1 costs 3.50, or 1.000,00; e.g. 5.5mm, i.e. on 24.12.2026 at 10:30.",
        "See report.pdf and data.final.csv... or Node.js?",
        "了解しました。お待ちください。",
        "What?! Yes; no: maybe (or not).",
        "C:\\Users and a/b and/or c",
    ],
)
def test_ordinary_text_stays(text: str) -> None:
    """Numbers, dates, abbreviations, names of files and sentences are no links."""
    assert safe_text(text, NONE) == text


def test_two_sentences_get_their_blank_back() -> None:
    """Where a blank was lost between sentences, it is put there; that breaks a link as well as brackets do."""
    assert safe_text("It is done.Please wait.", NONE) == "It is done. Please wait."


def test_what_is_allowed_stays_as_it_is_written() -> None:
    """An allowed host may stand bare, as a URL or in an address; a known name or address stands whole."""
    known = LinkPolicy(DOCS.hosts, frozenset({"support@shop.example", "python.org", "tel:+4930123"}))
    text = "docs.shop.example, https://docs.shop.example/a:b, help@docs.shop.example, Support@shop.example, python.org"
    assert safe_text(text, known) == text
    assert safe_text("tel:+4930123", known) == "tel:+4930123"
    assert safe_text("tel:+4930124", known) == "[link removed]"
    assert html_of(text, known).count("<a href") == 1
    assert LinkPolicy(("docs.shop.example:8443",)).allows("https://docs.shop.example:8443/x")


def test_a_word_with_a_colon_is_no_scheme() -> None:
    """A word that could pass for a scheme gets a blank behind its colon."""
    assert safe_text("Order:abc evilapp:open", NONE) == "Order: abc evilapp: open"


@pytest.mark.parametrize(
    ("text", "safe"),
    [
        ("evil.mailto:evil", "evil[.][link removed]"),
        ("evil.evil:evil", "evil[.]evil: evil"),
        ("evil.com.__?", "evil[.]com.__?"),
        ("www.__", "www.__"),
        ("mailto:_", "mailto:_"),
        ("a.Com?a@@\n", "a Com?a@ at"),
    ],
)
def test_the_rest_of_a_link_left_as_another_one(text: str, safe: str) -> None:
    """What stands behind a name was read as its end, and was a scheme of its own once the name was broken."""
    assert safe_text(text, NONE) == safe


OURS = LinkPolicy(("docs.shop.example", "https://forge.example/ours/"))
PIECES = ("evil", ".", "com", "。", "．", ":", "/", "@", " ", "www", "https", "mailto", "tel", "docs.shop.example", "\u200b", "\\", "xn--a", "1", "A", "\n", "[", ")")  # fmt: skip


@given(st.lists(st.sampled_from(PIECES), max_size=14).map("".join) | st.text(max_size=60))
def test_no_text_keeps_a_link(text: str) -> None:
    """Whatever the text, nothing that looks like a link is left, and a second look changes nothing."""
    safe = safe_text(text, NONE)
    assert list(find_links(safe)) == []
    for links in (NONE, OURS):
        safe = safe_text(text, links)
        assert safe_text(safe, links) == safe


@pytest.mark.parametrize(
    "text",
    [
        "a" * 200_000,
        "!" * 200_000,
        "a." * 100_000,
        "a@" * 100_000,
        "a:" * 100_000,
        "\\" * 200_000,
        "a.mailto:" * 20_000,
    ],
)
def test_looking_takes_time_in_proportion(text: str) -> None:
    """Two hundred thousand characters of the worst kind take no more than seconds."""
    with at_most(5):
        safe_text(text, NONE)


@pytest.mark.parametrize(
    "glue", [")", ",", ";", "|", "]", "*", "'", "`", "(", "。", "，", "»", "\u00a7", ")[b](//", "~)"]
)
def test_a_link_glued_behind_an_allowed_one_left_with_it(glue: str) -> None:
    """What a mail program ends the allowed URL at begins another link, which is judged for itself."""
    for url in ("https://docs.shop.example/a", "https://forge.example/ours/a"):
        for behind in ("https://evil.com/4711", "evil.com/4711", "www.evil.com"):
            text = safe_text(f"See {url}{glue}{behind} now", OURS)
            assert "evil.com" not in text, text
            assert "4711" not in text, text
            assert "evil.com" not in html_of(text, OURS)


@pytest.mark.parametrize("up", ["%2e%2e", "%2E%2e", ".%2e", "%2E.", "..", "x/%2e%2e/%2e%2e", "x),/%2e%2e/.."])
def test_an_encoded_step_upwards_left_the_allowed_folder(up: str) -> None:
    """A browser reads `%2e%2e` as `..`: below a prefix such a path is none of it."""
    text = safe_text(f"https://forge.example/ours/{up}/evil/4711", OURS)
    assert "4711" not in text, text
    assert "href" not in html_of(text, OURS)


def test_an_allowed_link_in_brackets_stays() -> None:
    """As Markdown and prose write it: the bracket and what follows are text."""
    text = "[how](https://docs.shop.example/a?b=1&c=%20d#e), or (https://docs.shop.example/x)."
    assert safe_text(text, OURS) == text
    assert html_of(text, OURS).count("<a href=") == 2


def test_a_mark_at_the_end_of_a_label_kept_a_name_clickable() -> None:
    """A name whose label ends with a mark of a letter, of whatever script, is no less a name."""
    marks = [chr(code) for code in range(sys.maxunicode + 1) if unicodedata.category(chr(code)) in ("Mn", "Mc", "Me")]
    assert len(marks) > 2000
    kept = [mark for mark in marks if f"evil{mark}.example/x" in safe_text(f"go to evil{mark}.example/x", NONE)]
    assert kept == []
