"""compose: a reply goes to one person with the headers that were meant, whatever the customer's mail held."""

from __future__ import annotations

import base64
import dataclasses
import uuid
from datetime import UTC, datetime
from email import message_from_bytes, policy
from email.message import EmailMessage

import dkim
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ed25519, rsa
from hypothesis import given
from hypothesis import strategies as st

from services.mail.compose import ComposeRefused, DkimKey, Outgoing, compose, dkim_sign
from services.mail.compose.body import html_of, safe_text
from services.mail.compose.links import LinkPolicy, links_in
from services.mail.filters import FilterContext, judge
from services.mail.message import Address
from services.mail.mime import read_mail
from services.mail.reports import read_report
from services.mail.tokens import SigningKeys, make_token, token_of_message_id

THREAD = uuid.UUID(int=3)
TOKEN = make_token(SigningKeys((b"a key of 16 bytes",)), "acme", THREAD, "ann@customer.example")
HEADERS = [
    "From", "To", "Subject", "Date", "Message-ID", "In-Reply-To", "References", "Auto-Submitted",
    "X-Auto-Response-Suppress", "MIME-Version", "Content-Type",
]  # fmt: skip
OUTGOING = Outgoing(
    reply_id=uuid.UUID(int=7),
    sender=Address("Shop support", "support@shop.example"),
    recipient=Address("Ann Lee", "ann@customer.example"),
    subject="Order 4711",
    text="Hello Ann,\n\nit is on its way.\n\nShop",
    date=datetime(2026, 11, 21, 8, 0, tzinfo=UTC),
    token=TOKEN,
    domain="shop.example",
    in_reply_to="m2@customer.example",
    references=("m1@customer.example",),
    allowed_links=("docs.shop.example", "https://shop.example/help"),
)


def composed(**changes: object) -> EmailMessage:
    """The reply with some changes, parsed by the standard library's modern parser."""
    raw = compose(dataclasses.replace(OUTGOING, **changes)).raw  # type: ignore[arg-type]
    message = message_from_bytes(raw, policy=policy.default)
    assert isinstance(message, EmailMessage)
    return message


def body(**changes: object) -> tuple[str, str]:
    """(plain, html) of the reply with some changes."""
    message = composed(**changes)
    plain, html = message.get_body(("plain",)), message.get_body(("html",))
    assert plain
    assert html
    return str(plain.get_content()), str(html.get_content())


def test_reply_has_the_headers_of_a_reply() -> None:
    """Subject, ids, references and the marks of an automatic reply stand as RFC 5322 and 3834 want them."""
    message = composed()
    assert message.keys() == HEADERS
    assert message["Subject"] == "Re: Order 4711"
    assert message["In-Reply-To"] == "<m2@customer.example>"
    assert message["References"].split() == ["<m1@customer.example>", "<m2@customer.example>"]
    assert message["Auto-Submitted"] == "auto-replied"
    assert token_of_message_id(str(message["Message-ID"])) == TOKEN


def test_same_reply_is_the_same_bytes() -> None:
    """Every attempt at one reply has the same Message-ID and the same bytes; another reply has another id."""
    assert compose(OUTGOING) == compose(OUTGOING)
    other = dataclasses.replace(OUTGOING, reply_id=uuid.UUID(int=8))
    assert compose(other).message_id != compose(OUTGOING).message_id


def test_a_persons_reply_is_not_marked_automatic() -> None:
    """What a person wrote carries no automatic marks."""
    assert composed(automatic=False)["Auto-Submitted"] is None


@pytest.mark.parametrize(
    "subject",
    [
        "Hi\r\nBcc: eve@evil.example",
        "Hi\nBcc: eve@evil.example",
        "Hi\rBcc: eve@evil.example",
        "Hi\x0bBcc: eve@evil.example",
        "Hi\x0cBcc: eve@evil.example",
        "Hi\x1cBcc: eve@evil.example",
        "Hi\x85Bcc: eve@evil.example",
        "Hi\u2028Bcc: eve@evil.example",
        "=?utf-8?q?Hi=0ABcc=3A_eve=40evil=2Eexample?=",
        "=?utf-8?q?Hi=0D=0ABcc=3A_eve=40evil=2Eexample?= and more",
        "=?utf-8?b?SGkKQmNjOiBldmVAZXZpbC5leGFtcGxl?=",
        "=?utf-8?q?=3D=3Futf-8=3Fq=3FHi=3D0ABcc=3A_e=40e=3F=3D?=",
        "Hi\r\n\r\n<script>alert(1)</script>",
        "Hi\x00Bcc: eve@evil.example",
        "x" * 2000,
        "ü" * 2000,
        "\udc80\udcff broken",
        "",
    ],
)
def test_subject_injects_nothing(subject: str) -> None:
    """Line feeds, encoded words that hold them (CVE-2024-6923) and long subjects add no header and no recipient."""
    raw = compose(dataclasses.replace(OUTGOING, subject=subject)).raw
    head = raw.partition(b"\r\n\r\n")[0]
    assert [line.partition(b":")[0].decode() for line in head.split(b"\r\n") if line[:1] not in b" \t"] == HEADERS
    for each in (policy.default, policy.compat32):
        message = message_from_bytes(raw, policy=each)
        assert message.keys() == HEADERS
        assert message["To"].replace('"', "") == "Ann Lee <ann@customer.example>"


@pytest.mark.parametrize("field", ["in_reply_to", "references"])
@pytest.mark.parametrize(
    "bad", ["a@b\r\nBcc: e@e", "a@b> <c@d", "a b@c", "no-at", "ü@c", "", "a@b\x00", "x" * 600 + "@y"]
)
def test_ids_inject_nothing(field: str, bad: str) -> None:
    """A Message-ID that is none is left out, not copied."""
    value: object = bad if field == "in_reply_to" else (bad, "m1@customer.example")
    message = composed(**{field: value})
    assert set(message.keys()) <= set(HEADERS)
    assert bad not in message["References"].replace("<", "").replace(">", "").split()


@pytest.mark.parametrize(
    "address",
    [
        "alice@example.org<bob@evil.example>",
        "alice@example.org,bob@evil.example",
        "alice@example.org bob@evil.example",
        "alice@example.org\r\nBcc: bob@evil.example",
        "alice@example.org\nRCPT TO:<bob@evil.example>",
        "<alice@example.org>",
        "alice@example.org>",
        '"alice@example.org"@evil.example',
        "alice(comment)@example.org",
        "alice@example.org@evil.example",
        "@relay.example:alice@example.org",
        "group: alice@example.org;",
        "alice@[127.0.0.1]",
        "alice@example..org",
        "alice@-example.org",
        "-oQ/tmp@example.org",
        "alice@exam\u2028ple.org",
        "alice",
        "@example.org",
        "",
    ],
)
def test_confusing_addresses_are_refused(address: str) -> None:
    """Whatever some parser may read as another mailbox (CVE-2023-27043), or a server as an option, is refused."""
    for field in ("recipient", "sender"):
        with pytest.raises(ComposeRefused):
            compose(dataclasses.replace(OUTGOING, **{field: Address("Ann", address)}))
    with pytest.raises(ComposeRefused):
        compose(dataclasses.replace(OUTGOING, envelope_from=address or "x"))


@pytest.mark.parametrize(
    "name",
    ["Ann <eve@evil.example>", "eve@evil.example", 'Ann" <eve@evil.example>, "', "Ann\r\nBcc: e@e",
     "=?utf-8?q?a=0ABcc=3A_x?=", "Ån\\"],
)  # fmt: skip
def test_display_names_mislead_nobody(name: str) -> None:
    """A display name cannot add a recipient, and one that looks like an address is left out."""
    message = composed(recipient=Address(name, "ann@customer.example"))
    assert message.keys() == HEADERS
    assert [a.addr_spec for a in message["To"].addresses] == ["ann@customer.example"]
    assert "evil.example" not in str(message["To"])


def test_long_threads_keep_first_and_newest_references() -> None:
    """References are trimmed in the middle: the first id and the newest stay, the parent last."""
    earlier = tuple(f"m{i}@customer.example" for i in range(100))
    found = composed(references=earlier, in_reply_to="parent@customer.example")["References"].split()
    assert len(found) == 20
    assert (found[0], found[-2], found[-1]) == (
        "<m0@customer.example>",
        "<m99@customer.example>",
        "<parent@customer.example>",
    )


def test_international_addresses() -> None:
    """A domain goes as A-labels and needs nothing; a local part outside ASCII needs SMTPUTF8, and says so."""
    plain = compose(dataclasses.replace(OUTGOING, recipient=Address("", "ann@exämple.org")))
    assert (plain.recipient, plain.smtputf8) == ("ann@xn--exmple-cua.org", False)
    assert compose(dataclasses.replace(OUTGOING, recipient=Address("", "grå@exämple.org"))).smtputf8


def test_links_only_from_the_list() -> None:
    """An allowed link is one; any other shows its bare host, with nothing that could carry data out."""
    plain, html = body(
        text="See https://docs.shop.example/a?b=1, https://shop.example/help/x and https://evil.example/?d=4111, "
        "www.evil.example/secret evil.example/secret [x](javascript:alert(1)) ftp://evil.example/s "
        "https://docs.shop.example@evil.example/s https://docs.shop.example.evil.example/s "
        "<img src=http://evil.example/p>"
    )
    assert html.count("<a href=") == 2
    assert '<a href="https://docs.shop.example/a?b=1">' in html
    assert '<a href="https://shop.example/help/x">' in html
    for part in (plain, html):
        assert "evil.example/" not in part
        assert "4111" not in part
        assert "secret" not in part
        assert "javascript" not in part
    assert "<img" not in html


@pytest.mark.parametrize(
    "url",
    [
        "https://shop.example/helpless",
        "https://shop.example/help/../admin",
        "https://shop.example.evil.example/help",
        "https://user@docs.shop.example/",
        "https://docs.shop.example\\@evil.example/",
        "ftp://docs.shop.example/",
        "//docs.shop.example/",
        "https://[docs.shop.example/",
    ],
)
def test_look_alikes_are_not_allowed(url: str) -> None:
    """A prefix ends at a path segment, a host is compared whole, and user parts and other schemes are out."""
    assert not LinkPolicy(OUTGOING.allowed_links, frozenset({"https://shop.example/help"})).allows(url)


def test_a_link_of_the_knowledge_base_is_one_and_nothing_longer() -> None:
    """A known URL may stand in a reply as it is; with anything behind it, it shows its bare host."""
    passage = "Read [the guide](https://forge.example/us/guide), or <https://forge.example/us/faq#pay>."
    known = frozenset(links_in(passage))
    assert {"https://forge.example/us/guide", "https://forge.example/us/faq#pay"} <= known
    plain, html = body(
        text="https://forge.example/us/guide, https://forge.example/us/faq#pay. "
        "https://forge.example/us/guide/secret https://forge.example/us/guide?q=secret https://forge.example/eve",
        known_links=known,
    )
    assert html.count("<a href=") == 2
    assert "secret" not in plain + html
    assert "eve" not in plain + html


def test_html_is_ours() -> None:
    """Markup in the text is shown, not run."""
    none = LinkPolicy()
    assert "<b>" not in html_of(safe_text("<b>bold</b> & <script>x</script>", none), none)
    assert "&lt;b&gt;bold&lt;/b&gt; &amp;" in html_of(safe_text("<b>bold</b> & co", none), none)


def test_quote_is_appended_only_on_wish() -> None:
    """The original stands below the reply only when it is given, each line marked."""
    assert ">" not in body()[0]
    assert body(quoted="one\ntwo")[0].replace("\r", "").endswith("Shop\n\n> one\n> two\n")


@pytest.mark.parametrize("blank", ["", " ", "\u3164", "\u200d", "\u2800 \ufe0f"])
def test_words_far_below_a_gap_were_not_looked_for(blank: str) -> None:
    """Who approves a draft sees its end: a gap has two empty lines at most, whatever its lines are empty of."""
    plain, _ = body(text="Hello Ann." + f"\n{blank}" * 400 + "\nWe pay you 5,000.")
    assert plain.splitlines() == ["Hello Ann.", "", "", "We pay you 5,000."]


def test_reply_without_text_is_refused() -> None:
    """An empty reply is not sent."""
    with pytest.raises(ComposeRefused):
        compose(dataclasses.replace(OUTGOING, text=" \r\n\x00 "))


@pytest.mark.parametrize(
    "changes", [{"token": ""}, {"token": "x y"}, {"domain": ""}, {"domain": "a b"}, {"domain": "a>b"}]
)
def test_reply_without_its_token_is_refused(changes: dict[str, str]) -> None:
    """A Message-ID that would not give the token back is not sent."""
    with pytest.raises(ComposeRefused):
        compose(dataclasses.replace(OUTGOING, **changes))  # type: ignore[arg-type]


def test_the_envelope_is_ours() -> None:
    """Bounces go to the envelope sender, answers to From: there is no Reply-To."""
    made = compose(dataclasses.replace(OUTGOING, envelope_from="bounces@shop.example"))
    assert (made.envelope_from, made.recipient) == ("bounces@shop.example", "ann@customer.example")
    assert message_from_bytes(made.raw)["Reply-To"] is None


def test_two_of_us_do_not_talk_to_each_other() -> None:
    """Our own automatic reply, read by another agent like us, is not answered."""
    raw = compose(OUTGOING).raw
    mail = read_mail(raw)
    assert judge(mail, FilterContext(report=read_report(mail, raw))).kind == "park"


def test_naive_date_is_refused() -> None:
    """A date without a time zone is no date of a mail."""
    with pytest.raises(ComposeRefused):
        compose(dataclasses.replace(OUTGOING, date=datetime(2026, 1, 1)))  # noqa: DTZ001


@given(
    subject=st.text(max_size=80),
    name=st.text(max_size=40),
    text=st.text(max_size=200),
    ids=st.lists(st.text(max_size=20), max_size=3).map(tuple),
    quoted=st.text(max_size=40),
)
def test_any_text_gives_the_meant_headers_or_is_refused(
    subject: str, name: str, text: str, ids: tuple[str, ...], quoted: str
) -> None:
    """Whatever a customer writes, the message has its headers, one recipient and CRLF lines, or is not made."""
    reply = dataclasses.replace(
        OUTGOING,
        subject=subject,
        recipient=Address(name, "ann@customer.example"),
        text=text,
        references=ids,
        quoted=quoted,
    )
    try:
        raw = compose(reply).raw
    except ComposeRefused:
        assert not safe_text(text, LinkPolicy()).strip()
        return
    message = message_from_bytes(raw)
    assert message.keys() == HEADERS
    assert message["To"].rpartition("<")[2].rstrip(">").strip() == "ann@customer.example"
    assert b"\n" not in raw.replace(b"\r\n", b"")
    assert b"\r" not in raw.replace(b"\r\n", b"")


def test_rsa_signature_verifies_and_cannot_be_added_to() -> None:
    """An rsa signature holds, and a second Subject or To breaks it."""
    private = rsa.generate_private_key(65537, 2048)
    pem = private.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.TraditionalOpenSSL, serialization.NoEncryption()
    )
    der = private.public_key().public_bytes(serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo)
    record = b"v=DKIM1; k=rsa; p=" + _base64(der)
    signed = dkim_sign(compose(OUTGOING).raw, DkimKey("shop.example", "s1", pem))
    assert dkim.verify(signed, dnsfunc=lambda name, timeout=5: record)
    for added in (b"Subject: win\r\n", b"To: eve@evil.example\r\n", b"From: eve@evil.example\r\n"):
        assert not dkim.verify(added + signed, dnsfunc=lambda name, timeout=5: record)


def test_ed25519_signature_verifies() -> None:
    """An ed25519 signature (RFC 8463) holds."""
    private = ed25519.Ed25519PrivateKey.generate()
    raw_format = serialization.Encoding.Raw
    public = private.public_key().public_bytes(raw_format, serialization.PublicFormat.Raw)
    seed = private.private_bytes(raw_format, serialization.PrivateFormat.Raw, serialization.NoEncryption())
    signed = dkim_sign(compose(OUTGOING).raw, DkimKey("shop.example", "s2", _base64(seed), "ed25519"))
    assert dkim.verify(signed, dnsfunc=lambda name, timeout=5: b"v=DKIM1; k=ed25519; p=" + _base64(public))


def test_bad_dkim_key_is_refused() -> None:
    """A key that cannot sign refuses the mail instead of sending it unsigned."""
    for algorithm in ("rsa", "ed25519"):
        with pytest.raises(ComposeRefused):
            dkim_sign(compose(OUTGOING).raw, DkimKey("shop.example", "s", b"no key", algorithm))  # type: ignore[arg-type]


def _base64(data: bytes) -> bytes:
    return base64.b64encode(data)
