"""Tokens of mail that we begin, the headers that hold them, and the subject that gives one back."""

from __future__ import annotations

from uuid import UUID

import pytest

from services.mail.tokens import SigningKeys
from services.mail.unsubscribe import Unsubscribe, make_unsubscribe_token, token_of_subject, unsubscribed_by

RING = SigningKeys((b"k" * 16,))
ID = UUID(int=7)
TOKEN = make_unsubscribe_token(RING, "main", ID)


def test_a_token_names_the_mail_under_any_of_our_keys() -> None:
    """And in its own workspace alone."""
    assert unsubscribed_by(RING, "main", TOKEN) == ID
    assert unsubscribed_by(SigningKeys((b"n" * 16, b"k" * 16)), "main", TOKEN) == ID
    assert unsubscribed_by(RING, "other", TOKEN) is None
    assert unsubscribed_by(SigningKeys((b"n" * 16,)), "main", TOKEN) is None


@pytest.mark.parametrize(
    "token", ["", "x", TOKEN[:-1], "b" + TOKEN[1:], TOKEN.upper(), "é" * 42, TOKEN + "a", "1" * 42]
)
def test_what_is_none_of_ours_names_nothing(token: str) -> None:
    """Cut, changed or made up."""
    assert unsubscribed_by(RING, "main", token) is None


@pytest.mark.parametrize(
    ("subject", "token"),
    [
        (f"unsubscribe {TOKEN}", TOKEN),
        (f" Unsubscribe  {TOKEN.upper()} ", TOKEN),
        (f"[EXTERNAL] unsubscribe {TOKEN}", TOKEN),
        (f"Re: unsubscribe {TOKEN}", ""),
        ("unsubscribe", ""),
        (f"unsubscribe {' ' * 100_000}{TOKEN}", ""),
        ("unsubscribe " + "a" * 100_000, ""),
    ],
)
def test_the_subject_gives_it_back(subject: str, token: str) -> None:
    """Alone, in any case, as a gateway may mark it; an answer to such a mail does not."""
    assert token_of_subject(subject) == token


def test_one_click_needs_a_link() -> None:
    """RFC 8058, section 3.1: both fields, an https link in the first; without a link mail alone."""
    by_mail = f"<mailto:a@b.example?subject=unsubscribe%20{TOKEN}>"
    assert Unsubscribe("a@b.example", TOKEN).headers == [("List-Unsubscribe", by_mail)]
    url = f"https://b.example/unsubscribe/{TOKEN}"
    assert Unsubscribe("a@b.example", TOKEN, url).headers == [
        ("List-Unsubscribe", f"<{url}>, {by_mail}"),
        ("List-Unsubscribe-Post", "List-Unsubscribe=One-Click"),
    ]
