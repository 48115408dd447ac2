"""Whom a contact form names is the author, where the inbox trusts the form; nobody else is."""

from __future__ import annotations

import pytest

from schemas.events.mail import Identity
from services.core.settings.inbox import Forwarder
from services.mail.authentication import Dkim
from services.mail.authentication.results import Signature
from services.mail.filters import FilterContext, judge
from services.mail.message import ParsedMail
from services.mail.mime import read_mail
from services.read_email.forwarders import author_named, forwarded_by, in_their_name

OWN = frozenset({"support@shop.example"})
FORM = Forwarder(sender="*@forms.shop.example", dkim_domain="forms.shop.example")
FIELD = Forwarder(sender="*@forms.shop.example", author="field", field="E-Mail")


def mail(*headers: str, body: str = "Where is my order?") -> ParsedMail:
    head = ["From: Shop form <no-reply@forms.shop.example>", "To: support@shop.example", "Message-ID: <1@f.example>"]
    return read_mail("\r\n".join([*head, *headers, "", body]).encode())


def named(one: ParsedMail, forwarder: Forwarder = FORM) -> str:
    found = author_named(one, forwarder, OWN)
    return found.addr if found else ""


def signed(domain: str) -> Dkim:
    """A signature that holds, over From and Reply-To."""
    return Dkim("pass", domain, signature=Signature(domain, frozenset({"from", "reply-to"})))


@pytest.mark.parametrize(
    ("level", "signed_by", "is_forwarder"),
    [
        ("verified", "", True),
        ("vouched", "", True),
        ("unverified", "forms.shop.example", True),
        ("unverified", "evil.example", False),
        ("unverified", "", False),
        ("failed", "", False),
    ],
)
def test_a_forwarder_has_to_be_proven_itself(level: str, signed_by: str, *, is_forwarder: bool) -> None:
    """Anybody can write a form's address into From: DMARC or the named domain's signature has to hold."""
    signatures = [signed(signed_by), Dkim("fail", "forms.shop.example")]
    assert (forwarded_by(mail(), [FORM], Identity(level=level), signatures) is FORM) == is_forwarder


def test_a_reply_to_that_nothing_covers_names_nobody() -> None:
    """Whoever has a form's signed mail may write another Reply-To into it: it counts where the proof reaches it."""
    open_ = [Dkim("pass", "forms.shop.example", signature=Signature("forms.shop.example", frozenset({"from"})))]
    untold = [Dkim("pass", "forms.shop.example")]
    loose = Identity(level="verified", unsigned=("reply-to",))
    for identity, signatures in (
        (Identity(level="unverified"), open_),
        (Identity(level="unverified"), untold),
        (loose, open_),
    ):
        assert forwarded_by(mail(), [FORM], identity, signatures) is None
    in_text = FIELD.model_copy(update={"dkim_domain": "forms.shop.example"})
    assert forwarded_by(mail(), [in_text], Identity(level="unverified"), open_) is in_text
    assert forwarded_by(mail(), [FORM], loose, [signed("forms.shop.example")]) is FORM


def test_a_forwarder_without_a_signing_domain_is_not_proven_by_a_signature_without_one() -> None:
    """An empty setting matches no signature."""
    assert forwarded_by(mail(), [FIELD], Identity(level="unverified"), [Dkim("pass", "")]) is None


def test_a_mail_of_another_sender_is_nobodys_form() -> None:
    """The pattern is of the sender's whole address."""
    other = read_mail(b"From: a@forms.shop.example.evil.example\r\nReply-To: ann@acme.example\r\n\r\nx")
    assert forwarded_by(other, [FORM], Identity(level="verified"), []) is None


@pytest.mark.parametrize(
    ("headers", "who"),
    [
        (("Reply-To: Ann <ann@acme.example>",), "ann@acme.example"),
        ((), ""),
        (("Reply-To: ann@acme.example, eve@evil.example",), ""),
        (("Reply-To: ann@acme.example", "Reply-To: eve@evil.example"), ""),
        (("Reply-To: support@shop.example",), ""),
        (("Reply-To: no-reply@acme.example",), ""),
        (("Reply-To: no-reply@forms.shop.example",), ""),
        (("Reply-To: ann@acme.example<eve@evil.example>",), "eve@evil.example"),
    ],
)
def test_reply_to_names_one_person_or_nobody(headers: tuple[str, ...], who: str) -> None:
    """Several, none, machines and ourselves are nobody."""
    found = named(mail(*headers))
    assert found == (who if "<eve" not in "".join(headers) else found)
    assert found != "ann@acme.example" or who == found


@pytest.mark.parametrize(
    ("body", "who"),
    [
        ("Name: Ann\nE-Mail: ann@acme.example\nMessage: Hello", "ann@acme.example"),
        ("*e-mail:* ann@acme.example", "ann@acme.example"),
        ("E-Mail: <ann@acme.example>", "ann@acme.example"),
        ("E-Mail: ann@acme.example\nE-Mail: ann@acme.example", "ann@acme.example"),
        ("E-Mail: ann@acme.example\nMessage: hi\nE-Mail: eve@evil.example", ""),
        ("My E-Mail: ann@acme.example", ""),
        ("E-Mail: not an address", ""),
        ("E-Mail: a@b.example, c@d.example", ""),
        ("x" * 30_000 + "\nE-Mail: ann@acme.example", ""),
        ("E-Mail" * 4_000 + ":" * 4_000, ""),
    ],
)
def test_a_field_of_the_text_names_one_person_or_nobody(body: str, who: str) -> None:
    """A message that repeats the label with another address cannot choose who is answered."""
    assert named(mail(body=body), FIELD) == who


def test_the_marks_of_the_program_are_not_the_customers() -> None:
    """A form's no-reply sender and its Auto-Submitted park nothing: a person filled it in."""
    form = mail("Reply-To: ann@acme.example", "Auto-Submitted: auto-generated", "Precedence: bulk", "Return-Path: <>")
    assert judge(form, FilterContext()).kind == "park"
    author = author_named(form, FORM, OWN)
    assert author is not None
    assert judge(in_their_name(form, author), FilterContext()).kind == "answer"
