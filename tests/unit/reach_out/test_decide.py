"""Whom a rule holds for, what its draft says, and which outcome may follow which."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, date, datetime
from uuid import UUID

import pytest
from pydantic import ValidationError

from schemas.events.outreach import OutreachProposed
from schemas.events.proactive import DraftRequested
from services.core.settings import OutreachRule, OutreachSettings
from services.reach_out.decide import Candidate, Day, follows, holds, outreach_id, proposals, says_stop

BOOK = UUID(int=7)
TODAY = date(2026, 3, 1)
RULE = OutreachRule(
    name="renewal", text="Hi {name},\n\nyour plan renews on {date}.", fact="renewal date", within_days=14
)
ADA = Candidate(UUID(int=1), UUID(int=1), "Ada", UUID(int=2), datetime(2026, 1, 20, tzinfo=UTC), day="2026-03-10")


def day(*found: tuple[OutreachRule, list[Candidate]], room: int = 10, known: Sequence[UUID] = ()) -> Day:
    """What a round of the inbox decides on."""
    return Day(BOOK, "support", TODAY, found, frozenset(known), room)


@pytest.mark.parametrize(
    ("day", "near"),
    [
        ("2026-03-10", True),
        (" 2026-03-15 ", True),
        ("2026-03-16", False),
        ("2026-02-26", True),
        ("2026-02-25", False),
        ("soon", False),
        ("2026-13-40", False),
        ("20260310", False),
        ("2026-W11-2", False),
        ("٢٠٢٦-٠٣-١٠", False),
        (None, False),
    ],
)
def test_a_day_is_near_or_was_so_lately(day: str | None, near: bool) -> None:
    """What lies further back is followed up no more; what is no day, or a day in another form, never holds."""
    assert holds(RULE, replace(ADA, day=day), TODAY) is near


def test_the_draft_says_the_rules_words_filled_in_on_one_line_each() -> None:
    """A name with line breaks makes none, and one with places fills none in; the person who approves it is told why."""
    mallory = replace(ADA, name="Ada\n\nBuy {goal}{date}", goal="call their bank about the debt")
    [proposed, draft] = proposals(day((RULE, [mallory])))
    assert isinstance(proposed, OutreachProposed)
    assert isinstance(draft, DraftRequested)
    assert draft.text == "Hi Ada Buy {goal}{date},\n\nyour plan renews on 2026-03-10."
    assert proposed.reason == "rule renewal: renewal date 2026-03-10, they wrote last on 2026-01-20"
    assert (draft.reply_id, draft.unsubscribe) == (proposed.outreach_id, True)


def test_a_person_whom_two_rules_hold_for_is_proposed_once_within_the_days_room() -> None:
    """Under whichever of their addresses; the first rule comes first, and an occasion of before takes up no room."""
    second = RULE.model_copy(update={"name": "second"})
    bob = replace(ADA, participant_id=UUID(int=3), person=UUID(int=3))
    both = (RULE, [ADA, replace(ADA, participant_id=UUID(int=9))]), (second, [ADA, bob])

    def named(day: Day) -> list[tuple[str, UUID]]:
        return [(one.rule, one.participant_id) for one in proposals(day) if isinstance(one, OutreachProposed)]

    assert named(day(*both)) == [("renewal", ADA.participant_id), ("second", bob.participant_id)]
    assert named(day(*both, room=1)) == [("renewal", ADA.participant_id)]
    before = [outreach_id(BOOK, RULE, ADA)]
    assert named(day(*both, room=1, known=before)) == [("second", ADA.participant_id)]


def test_an_occasion_has_one_id_whichever_address_and_day() -> None:
    """Another renewal is another occasion, and so is silence after another mail; the same day with a space is none."""
    id = outreach_id(BOOK, RULE, ADA)
    assert id == outreach_id(
        BOOK, RULE, replace(ADA, participant_id=UUID(int=9), last_at=datetime(2026, 2, 1, tzinfo=UTC))
    )
    assert id != outreach_id(BOOK, RULE, replace(ADA, day="2027-03-10"))
    silent = OutreachRule(name="silent", text="Hello", silent_days=30)
    quiet = replace(ADA, day=None)
    assert outreach_id(BOOK, silent, quiet) != outreach_id(
        BOOK, silent, replace(quiet, last_at=datetime(2026, 2, 1, tzinfo=UTC))
    )


def test_what_follows_what() -> None:
    """Nothing is answered before it was sent, nor sent after it was discarded."""
    assert follows("proposed", "sent")
    assert follows("sent", "answered")
    assert follows("sent", "bounced")
    assert not follows("proposed", "answered")
    assert not follows("discarded", "sent")
    assert not follows("answered", "sent")


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        ({"name": "all", "text": "Hello"}, "holds for everybody"),
        ({"name": "risk", "text": "Hello", "silent_days": 3, "states": ["at_risk"]}, "nobody who is at_risk"),
        ({"name": "a b", "text": "Hello", "silent_days": 3}, "pattern"),
    ],
)
def test_a_rule_that_makes_no_sense_is_refused(rule: dict[str, object], words: str) -> None:
    """In words that say what to do."""
    with pytest.raises(ValidationError, match=words):
        OutreachSettings.model_validate({"rules": [rule]})


@pytest.mark.parametrize("url", ["http://a.example", "https://a.example/path", "https://u@a.example", "a.example"])
def test_only_an_https_address_is_posted_to(url: str) -> None:
    """One-click needs one, and our own path below it."""
    with pytest.raises(ValidationError, match="https"):
        OutreachSettings(public_url=url)


def test_the_line_holds_the_way_and_names_are_unique() -> None:
    """Nobody gets such mail without a way out of it."""
    with pytest.raises(ValidationError, match="the way to unsubscribe"):
        OutreachSettings(unsubscribe="Bye.")
    with pytest.raises(ValidationError, match="there twice"):
        OutreachSettings(rules=(RULE, RULE))


@pytest.mark.parametrize(
    "text",
    [
        "STOP",
        "Please stop!",
        "Hello,\n\nplease take me off your list.",
        "Do not write to me again.",
        "No more mails, thank you.",
        "Bitte keine weiteren Mails.",
        "Schreiben Sie mir nicht mehr.",
        "Désinscrivez-moi, merci.",
        "No me escriban más.",
        "Non scrivetemi più.",
        "Больше не пишите мне.",
        "メールを送らないでください",
    ],
)
def test_a_wish_to_get_no_more_is_understood(text: str) -> None:
    """In the languages in which people answer."""
    assert says_stop(text)


@pytest.mark.parametrize(
    "text",
    [
        "Yes, let us talk.",
        "How do I stop the export?",
        "The export does not stop.",
        "Do not send me the invoice by post, send it by mail.",
        "My customers want to get no newsletter; how do they unsubscribe?",
        "I get no mails from the printer.",
        "Ich bekomme keine Mail vom Drucker.",
    ],
)
def test_a_question_about_stopping_is_none(text: str) -> None:
    """Of the product, or of somebody else's mail."""
    assert not says_stop(text)
