"""What leaves for an author whom nothing proves."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from email import message_from_bytes, policy
from types import SimpleNamespace
from typing import Any
from uuid import UUID

import pytest

from schemas.events.replies import ReplyDrafted
from services.core.settings import Settings
from services.mail.tokens import SigningKeys
from services.send_email.load import NewestMail
from services.send_email.unproven import Gate, as_fixed, freeze_fixed, gate, without_proposals

NOW = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
CLAIM = "URGENT call +1 555 0100 about your account"
MAIL = NewestMail(
    mail_id=UUID(int=9),
    message_id="m1@evil.example",
    references_ids=["call-5550100@evil.example"],
    subject=f"Re: {CLAIM}",
    author_name=CLAIM,
    author_addr="victim@bank.example",
    identity="unverified",
    trusted=False,
    flags=[],
    received_at=NOW,
)


def app(**inbox: Any) -> Any:
    """A deployment with one inbox."""
    settings = Settings(
        secret="a secret for tests only, long enough",
        inboxes=[{"name": "support", "address": "support@ourcompany.example", "display_name": "Our Support", **inbox}],
    )
    return SimpleNamespace(settings=settings, signing_keys=SigningKeys((b"k" * 16,)))


def draft(**given: Any) -> ReplyDrafted:
    """What a model that obeys the mail would have sent."""
    ids = {name: UUID(int=number) for number, name in enumerate(("reply_id", "turn_id", "thread_id", "participant_id"))}
    fields = {"inbox": "support", "mail_ids": (), "trusted": False, "decision": "escalate", "text": CLAIM}
    return ReplyDrafted.model_validate({**ids, **fields, **given})


def test_the_fixed_reply_holds_no_word_of_the_mail_and_none_of_a_model() -> None:
    """Neither text, subject, display name nor references of the mail leave with our name and signature."""
    fixed = as_fixed(draft(), app())
    composed = freeze_fixed(fixed, MAIL, app(), "main", NOW)
    message = message_from_bytes(composed.raw, policy=policy.default)
    assert (message["To"], message["Subject"], composed.recipient) == (
        "victim@bank.example",
        "Re: Your message to us",
        "victim@bank.example",
    )
    assert b"555" not in composed.raw
    assert b"URGENT" not in composed.raw
    assert "Nothing in it proves that it came from you" in message.get_body(("plain",)).get_content()


def test_the_fixed_reply_is_the_inboxs_own() -> None:
    """Its text and subject are settings, and a link in the text is the operator's, so it stays."""
    own = app(unproven_reply="Write from https://login.ourcompany.example/", unproven_subject="Who are you?")
    composed = freeze_fixed(as_fixed(draft(), own), MAIL, own, "main", NOW)
    assert b"https://login.ourcompany.example/" in composed.raw
    assert b"Subject: Re: Who are you?" in composed.raw


@pytest.mark.parametrize(
    ("mail", "trusted", "setting", "expected"),
    [
        (replace(MAIL, trusted=True, identity="verified"), True, "template", "open"),
        (replace(MAIL, trusted=True, identity="vouched"), True, "human", "open"),
        (replace(MAIL, trusted=True, identity="verified"), False, "template", "template"),
        (replace(MAIL, trusted=False, identity="unverified"), True, "template", "template"),
        (replace(MAIL, trusted=False, identity="unverified"), False, "review", "review"),
        (replace(MAIL, trusted=False, identity="unverified"), False, "human", "review"),
        (replace(MAIL, trusted=False, identity="failed"), False, "template", "closed"),
        (replace(MAIL, trusted=False, identity="failed"), True, "review", "closed"),
    ],
)
def test_the_gate_asks_the_mail_and_the_setting(
    mail: NewestMail, setting: str, expected: Gate, *, trusted: bool
) -> None:
    """Open for the proven alone; closed for what failed, under every setting; a person where the inbox has no template."""
    assert gate(draft(trusted=trusted), mail, app(unproven=setting)) == expected
    assert gate(draft(inbox="gone", trusted=trusted), mail, app()) in (expected, "review")


def test_a_draft_for_who_is_not_proven_proposes_nothing() -> None:
    """It says what to answer; state and goals are none of its sender's."""
    asked = draft(state="resolved", goals_add=("pay",), goals_close=("refund",))
    bare = without_proposals(asked)
    assert (bare.text, bare.state, bare.goals_add, bare.goals_close) == (CLAIM, "awaiting_reply", (), ())
