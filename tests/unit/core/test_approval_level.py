"""The approval level of a draft, and how much of it a person changed."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.events.replies import ApprovalLevel, DraftScore, ReplyDrafted
from services.core.approval_level import level_when_sent
from services.core.own_wording import edited_share, is_own_wording
from services.core.settings import ApprovalSettings

EARNS = ApprovalSettings(earn=True)
GOOD = DraftScore(value=0.9)


def draft(**given: Any) -> ReplyDrafted:
    ids = {name: UUID(int=number) for number, name in enumerate(("reply_id", "turn_id", "thread_id"))}
    fields: dict[str, Any] = {"participant_id": None, "inbox": "support", "mail_ids": (), "trusted": True}
    return ReplyDrafted.model_validate({**ids, **fields, "decision": "reply", "score": GOOD, **given})


def level(said: ApprovalLevel, is_open: bool = False, settings: ApprovalSettings = EARNS, **given: Any) -> str:
    return level_when_sent(draft(**given), said, is_open, settings).level


def test_an_open_intent_lifts_review_and_nothing_else() -> None:
    """`human_only` stays with a person, and `auto` needs nothing earned."""
    assert level("review") == "review"
    assert level("review", is_open=True) == "auto"
    assert level("human_only", is_open=True) == "human_only"
    assert level("auto") == "auto"


@pytest.mark.parametrize(
    "given",
    [
        {"score": None},
        {"score": DraftScore(value=0.69)},
        {"score": DraftScore(value=1.0, floors=("unsupported",))},
        {"score": DraftScore(value=1.0, floors=("first_contact",))},
        {"score": DraftScore(value=1.0, floors=("law",))},
        {"decision": "escalate"},
    ],
)
def test_no_score_lifts_a_floor_and_a_low_one_lifts_nothing(given: dict[str, Any]) -> None:
    """Such a draft waits for a person although its intent is open."""
    assert level("review", is_open=True, **given) == "review"


def test_what_was_earned_is_not_in_force_while_the_setting_is_off() -> None:
    """Taking the setting back takes all of it back at once."""
    assert level("review", is_open=True, settings=ApprovalSettings()) == "review"


def test_a_floor_holds_an_automatic_draft_where_the_operator_wants_it() -> None:
    """And says which one it breaks."""
    broken = DraftScore(value=1.0, floors=("first_contact", "law"))
    assert level("auto", score=broken) == "auto"
    held = level_when_sent(draft(score=broken), "auto", False, ApprovalSettings(hold_floors=True))
    assert (held.level, held.why) == ("review", "it breaks a floor: first contact, law")


@given(st.text(max_size=200))
def test_white_space_is_no_change(text: str) -> None:
    """A draft that a mail program wrapped is the same."""
    assert edited_share(text, "\n".join(text.split())) == 0


@pytest.mark.parametrize(("final", "share"), [("one two three four", 0), ("one two three five", 0.25), ("no", 1)])
def test_the_share_of_changed_words(final: str, share: float) -> None:
    """One of four words is a quarter; nothing in common is all."""
    assert edited_share("one two three four", final) == share


def test_one_changed_word_of_a_long_draft_is_a_change() -> None:
    """It never rounds to nothing."""
    long = "word " * 30_000
    assert edited_share(long, f"{long} more") > 0


@pytest.mark.parametrize(("final", "may"), [("", False), ("The draft.", False), ("My own text.", True)])
def test_a_draft_that_a_person_words_leaves_in_their_words_alone(final: str, may: bool) -> None:
    """Approving it as it is does not send it."""
    assert is_own_wording("human_only", "The draft.", final) is may
    assert is_own_wording("review", "The draft.", final)
