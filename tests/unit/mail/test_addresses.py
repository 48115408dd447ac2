"""Mailbox lists: one reading only, or none."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.mail.addresses import parse_address, parse_addresses, single_author

CONFUSED = [
    "alice@example.org<bob@evil.example>",
    "alice@example.org <bob@evil.example>",
    "<alice@example.org> <bob@evil.example>",
    "<alice@example.org>bob@evil.example",
    "alice@example.org)bob@evil.example",
    "alice@example.org(<bob@evil.example>",
    "alice@example.org\\<bob@evil.example>",
    "alice@example.org@evil.example",
    "alice@example.org\x00@evil.example",
    "alice@example.org\x00",
    "alice@exam\x00ple.org",
    "alice @example.org",
    "alice@example.org bob@evil.example",
    "al ice@example.org",
    "alice@example .org",
    "<@evil.example:alice@example.org>",
    "<alice@example.org",
    "alice@example.org>",
    '"alice@example.org" bob@evil.example',
    '"alice@example.org',
    '"alice@example.org\\"<bob@evil.example>',
    "alice@example.org; bob@evil.example",
    "alice@example.org, bob@evil.example",
    "alice@example.org,<bob@evil.example>",
    "Group: alice@example.org, bob@evil.example;",
    "alice@[127.0.0.1]evil.example",
    "alice@example..org",
    "alice@.example.org",
    "alice@-",
    "alice@",
    "@example.org",
    "alice",
    "",
    "=?utf-8?q?alice=40example.org?=",
    "=?utf-8?q?=3Calice=40example.org=3E?=",
    "=?utf-8?q?alice?=@example.org",
    '"a\x01b"@example.org',
    "alice@exa\u2024mple@org",
    "alice@" + "a" * 300 + ".org",
]

PLAIN = {
    "alice@Example.ORG": ("", "alice@example.org"),
    "<alice@example.org>": ("", "alice@example.org"),
    "Alice Lee <alice@example.org>": ("Alice Lee", "alice@example.org"),
    '"Lee, Alice" <alice@example.org>': ("Lee, Alice", "alice@example.org"),
    '"bob@evil.example" <alice@example.org>': ("bob@evil.example", "alice@example.org"),
    "alice@example.org <alice@example.org>": ("alice@example.org", "alice@example.org"),
    "alice@example.org (Alice Lee)": ("Alice Lee", "alice@example.org"),
    "Alice (the (nested) one) <alice@example.org>": ("Alice", "alice@example.org"),
    "=?utf-8?q?Al=C3=AFce?= <alice@example.org>": ("Alïce", "alice@example.org"),
    "=?utf-8?q?bob=40evil=2Eexample=2C?= <alice@example.org>": ("bob@evil.example,", "alice@example.org"),
    "=?utf-8?q?a=0ABcc=3A_b=40c=2Eexample?= <alice@example.org>": ("a Bcc: b@c.example", "alice@example.org"),
    "John Q. Public <alice@example.org>": ("John Q. Public", "alice@example.org"),
    '"alice"@example.org': ("", "alice@example.org"),
    '"a lice"@example.org': ("", '"a lice"@example.org'),
    '"a@b"@example.org': ("", '"a@b"@example.org'),
    "alice+tag@example.org.": ("", "alice+tag@example.org"),
    "jörg@example.org": ("", "jörg@example.org"),
    "alice@müller.example": ("", "alice@xn--mller-kva.example"),
    "alice@XN--MLLER-KVA.example": ("", "alice@xn--mller-kva.example"),
    "alice@[192.0.2.1]": ("", "alice@[192.0.2.1]"),
    "undisclosed: alice@example.org;": ("", "alice@example.org"),
}


@pytest.mark.parametrize("value", CONFUSED)
def test_confusing_from_has_no_author(value: str) -> None:
    """What two readers could take for different mailboxes, or is none, names no author (CVE-2023-27043)."""
    assert single_author([value]) is None


@pytest.mark.parametrize("value", PLAIN)
def test_author(value: str) -> None:
    """A From with exactly one mailbox names it, domain in lower-case A-labels, name decoded and on one line."""
    author = single_author([value])
    assert author is not None
    assert (author.name, author.addr) == PLAIN[value]


def test_two_from_headers() -> None:
    """Two From headers name no author, even where they agree."""
    assert single_author(["a@b.example", "a@b.example"]) is None
    assert single_author([]) is None


def test_list_with_groups_and_broken_pieces() -> None:
    """In a list the good mailboxes are kept and the broken pieces are reported."""
    read = parse_addresses("a@b.example, Team: c@d.example, Eve <e@f.example>;, broken@, nobody:;, g@h.example")
    assert [address.addr for address in read.addresses] == ["a@b.example", "c@d.example", "e@f.example", "g@h.example"]
    assert read.rejected == ("broken@",)


def test_key_folds_ascii_only() -> None:
    """Case does not part mailboxes, but letters that only look or fold alike do not join them."""
    first, second = parse_address("Ann@Example.org"), parse_address("ann@example.org")
    assert first is not None
    assert second is not None
    assert first.key == second.key
    keys = {
        address.key
        for text in ("strasse@a.example", "straße@a.example", "mike@a.example", "mi\u212ae@a.example")
        if (address := parse_address(text))
    }
    assert len(keys) == 4


LOCAL = st.from_regex(r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]{1,20}(\.[A-Za-z0-9]{1,8}){0,2}", fullmatch=True)
DOMAIN = st.from_regex(r"[a-z0-9]{1,12}(\.[a-z]{2,8}){1,2}", fullmatch=True)
ADDRESS = st.builds("{}@{}".format, LOCAL, DOMAIN).filter(lambda text: not text.startswith("=?"))


@given(ADDRESS, st.text())
def test_quoted_name_never_changes_the_address(address: str, name: str) -> None:
    """Whatever stands in a quoted display name, the address is the one in the angle brackets."""
    quoted = name.replace("\\", "\\\\").replace('"', '\\"')
    author = single_author([f'"{quoted}" <{address}>'])
    assert author is not None
    assert author.addr == address


@given(ADDRESS, ADDRESS, st.sampled_from(["", " ", ",", ";", "<", ">", "(", '"', "\\", "\x00", ":", "\t", "<>"]))
def test_two_addresses_never_make_one_author(first: str, second: str, between: str) -> None:
    """A From that holds two different addresses outside quotes and comments never names the second as author."""
    author = single_author([f"{first}{between}{second}"])
    assert author is None or author.addr not in (first, second)
    author = single_author([f"{first}{between}<{second}>"])
    assert author is None or (between in ("(", '"') and author.addr == second) or first == second


@given(st.text(alphabet='ab@.<>,;:()"\\[] \t\x00é=?', max_size=60))
def test_never_raises_and_never_invents(value: str) -> None:
    """Any text can be read, and each address found has one `@` outside quotes, a domain and no control character."""
    for address in parse_addresses(value).addresses:
        assert address.addr.isprintable()
        local, _, domain = address.addr.rpartition("@")
        assert local
        assert domain
        assert "@" not in domain
        assert local.startswith('"') or "@" not in local
