"""What of a mail travels in its event."""

from __future__ import annotations

from schemas.events.mail import Identity
from services.mail.mime import read_mail
from services.read_email.contents import MAX_QUOTED, Reading

HEAD = b"From: Ann <ann@customer.example>\nTo: help@shop.example\nSubject: Re: Your order\n\n"
QUOTE = b"\n\nOn 4 Mar 2024 at 9:15, Shop <help@shop.example> wrote:\n\n> When shall we come?\n"


def reading(body: bytes) -> Reading:
    raw = HEAD + body
    identity = Identity(level="unverified", method="none")
    return Reading(read_mail(raw), raw, "1@customer.example", "0" * 64, identity, None)


def test_a_few_words_travel_with_their_quote_and_signature() -> None:
    """A short answer means little without what it answers, so the quote travels beside it, apart from the text."""
    one = reading(b"On Thursday.\n\n-- \nAnn" + QUOTE)
    assert one.text == "On Thursday."
    assert "When shall we come?" in one.quoted
    assert one.signature.endswith("Ann")


def test_a_mail_that_says_enough_travels_without_its_quote() -> None:
    """Where the new text says what is wanted, nothing of the quote is kept."""
    one = reading(b"Please come on Thursday, in the afternoon if you can." + QUOTE)
    assert (one.quoted, one.signature) == ("", "")


def test_what_travels_beside_the_text_is_bounded() -> None:
    """A long quote travels by its beginning alone."""
    assert len(reading(b"Yes." + QUOTE + b"> and more of it\n" * 10_000).quoted) == MAX_QUOTED
