"""Who gets a copy of a reply."""

from __future__ import annotations

from uuid import UUID

import pytest

from schemas.events.mail import EmailRead, Identity, IdentityLevel, Person, Verdict
from services.core.settings.inbox import LayoutSettings
from services.send_email.copies import copies

OWN = frozenset({"support@shop.example", "support@acme.example"})
ALL = LayoutSettings(reply_all=True, most_copies=3)


def mail(
    *others: str, author: str = "ann@acme.example", level: IdentityLevel = "verified", to: tuple[str, ...] = ()
) -> EmailRead:
    return EmailRead(
        mail_id=UUID(int=1),
        thread_id=UUID(int=2),
        participant_id=UUID(int=3),
        inbox="support",
        mode="live",
        blob="b",
        message_id="m@acme.example",
        content_sha256="c",
        author=Person(name="Ann", addr=author),
        to=tuple(Person(addr=one) for one in ("support@shop.example", *to)),
        cc=tuple(Person(addr=one) for one in others),
        identity=Identity(level=level),
        verdict=Verdict(kind="answer", reason=""),
    )


def who(read: EmailRead, layout: LayoutSettings = ALL) -> list[str]:
    return [one.addr for one in copies(read, layout, OWN)]


def test_colleagues_of_the_author_get_a_copy_as_they_were_written() -> None:
    """To and Cc, the organization's other hosts too, each once."""
    assert who(mail("Bo@acme.example", "bo@acme.example", "cy@eu.acme.example", to=("di@acme.example",))) == [
        "di@acme.example",
        "bo@acme.example",
        "cy@eu.acme.example",
    ]


def test_nobody_gets_a_copy_unless_the_inbox_says_so() -> None:
    """The default is one recipient."""
    assert who(mail("bo@acme.example"), LayoutSettings()) == []


@pytest.mark.parametrize("level", ["unverified", "failed"])
def test_a_stranger_in_the_authors_name_adds_nobody(level: IdentityLevel) -> None:
    """Only a proven author has colleagues."""
    assert who(mail("bo@acme.example", level=level)) == []


@pytest.mark.parametrize(
    "other",
    [
        "eve@evil.example",
        "eve@acme.example.evil.example",
        "support@acme.example",
        "support+tok-abc@shop.example",
        "no-reply@acme.example",
        "mailer-daemon@acme.example",
        "all-owner@acme.example",
        "all@acme.example",
        "Alle-Berlin@acme.example",
        "lamp-users@acme.example",
        "lamps@lists.acme.example",
        "lamps@groups.acme.example",
        "ann@acme.example",
        "ANN@acme.example",
        "not an address",
    ],
)
def test_strangers_ourselves_machines_and_the_author_get_no_copy(other: str) -> None:
    """What is not a colleague's own mailbox is passed over."""
    assert who(mail(other)) == []


@pytest.mark.parametrize("domain", ["gmail.com", "gmx.de", "qq.com", "co.uk"])
def test_two_mailboxes_of_a_public_provider_are_no_colleagues(domain: str) -> None:
    """Anybody can have one there: a verified stranger could have mail sent in our name to anybody."""
    assert who(mail(f"victim@{domain}", author=f"eve@{domain}")) == []


def test_with_more_people_than_the_limit_only_the_author_is_answered() -> None:
    """A mail to half of a company is not answered to half of a company."""
    assert who(mail(*(f"p{number}@acme.example" for number in range(4)))) == []
