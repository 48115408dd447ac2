"""Base subjects (RFC 5256 section 2.1) and the subject of a reply."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.mail.thread_ids import base_subject, without_reply_prefixes


@pytest.mark.parametrize(
    "subject",
    [
        "Order 4711",
        "Re: Order 4711",
        "RE: re: AW: Order  4711",
        "Fwd: Re: order 4711 (fwd)",
        "[shop] Re: Order 4711",
        "Re: [shop] [list] Order 4711",
        "[Fwd: Order 4711]",
        "Re[2]: Order 4711",
        "Antw: WG: SV: Order 4711",
        "回复：Order 4711",
        "Ответ: Order 4711",
    ],
)
def test_one_conversation_has_one_base_subject(subject: str) -> None:
    """Replies, forwards and list tags in any language leave the base subject the same."""
    assert base_subject(subject) == "order 4711"


@pytest.mark.parametrize("subject", ["Refund", "Reorder 4711", "Order: 4711", "[shop]", "I: see", "Really: yes"])
def test_other_words_stay(subject: str) -> None:
    """A word that only begins like a prefix, a colon elsewhere, or a tag alone stays."""
    assert base_subject(subject) in (subject.casefold(), "see")


def test_reply_prefixes_come_off_and_forwards_stay() -> None:
    """A reply's subject loses every Re: but keeps Fwd: and tags, as written."""
    assert without_reply_prefixes("Re: AW: re[3]: Fwd: [Shop] Order") == "Fwd: [Shop] Order"


@given(st.text())
def test_base_subject_is_stable(subject: str) -> None:
    """The base of a base is itself, and a Re: in front changes nothing."""
    base = base_subject(subject)
    assert base_subject(base) == base
    assert base_subject(f"Re: {subject}") == base
