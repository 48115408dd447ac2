"""From a reflection to the event: what is taken over for whom."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from schemas.events.threads import TurnClosed
from schemas.model_output import Reflection
from services.model.port import Answer, Usage
from services.reflect.materials import Materials, TurnMail
from services.reflect.reflection import event_of, misquoted
from services.reflect.turn import ended

WRITTEN = datetime(2026, 3, 1, tzinfo=UTC)
MAILS = (
    TurnMail(UUID(int=11), UUID(int=2), "<a@a.example>", "Seats", "We have 40 seats.", "Ada", "ada@a.example", WRITTEN),
    TurnMail(
        UUID(int=12), UUID(int=2), "<b@a.example>", "Seats", "40 seats, as said.", "Ada", "ada@a.example", WRITTEN
    ),
)
FACT = {"op": "UPDATE", "kind": "note", "key": "seats", "value": "40", "text": "40 seats.", "quote": "40 seats"}
EDGE = {"op": "INSERT", "subject": "Ada", "predicate": "works_at", "object": "Acme", "quote": "at Acme"}
SAID = ("We have 40 seats.", "40 seats, as said.")
ANSWERS = [Answer("", (), "tool_use", "first", Usage(output=1)), Answer("", (), "tool_use", "second", Usage(output=2))]


def closed(*, trusted: bool = True) -> TurnClosed:
    return TurnClosed(
        thread_id=UUID(int=1),
        participant_id=UUID(int=2),
        turn_id=UUID(int=3),
        inbox="support",
        mail_ids=(UUID(int=11), UUID(int=12)),
        trusted=trusted,
        outcome="sent",
    )


def reflection(**given: Any) -> Reflection:
    fields = {
        "summary": "Ada asked.",
        "brief": "Ada, Acme.",
        "facts": [FACT, {**FACT, "quote": "50 seats"}],
        "relations": [EDGE],
        "signals": {"sentiment": -0.5, "issue_key": "seats"},
        "participant": {"state": "vip", "reason": "r"},
    }
    return Reflection.model_validate({**fields, **given})


MATERIALS = Materials(layers=(), mails=MAILS, covers_to=8, summary="")


def test_a_reflection_becomes_one_event() -> None:
    """Operations are lower case, each with the newest mail that holds its quote, and the cost is that of all calls."""
    event = event_of(ended(closed()), MATERIALS, reflection(), ["facts.2: no quote"], ANSWERS)
    assert [(one.op, one.mail_id) for one in event.facts] == [("update", UUID(int=12)), ("update", None)]
    assert [(one.op, one.predicate) for one in event.relations] == [("insert", "works_at")]
    assert (event.summary, event.brief, event.covers_to, event.refused) == (
        "Ada asked.",
        "Ada, Acme.",
        8,
        ("facts.2: no quote",),
    )
    assert (event.participant_state, event.signals.issue_key) == ("vip", "seats")
    assert (event.model, event.usage.calls, event.usage.output) == ("second", 2, 3)


def test_of_a_sender_who_is_not_authenticated_only_the_thread_learns() -> None:
    """The summary of the thread is kept; no fact, no edge and no brief is written for an unproven author."""
    event = event_of(ended(closed(trusted=False)), MATERIALS, reflection(), [], ANSWERS)
    assert event.summary == "Ada asked."
    assert (event.facts, event.relations, event.brief, event.trusted) == ((), (), "", False)


def test_an_unusable_reflection_is_seen_and_changes_nothing() -> None:
    """The event says why, and covers nothing, so that no projection takes anything from it."""
    event = event_of(ended(closed()), MATERIALS, None, ["reflection unusable: no call"], ANSWERS)
    assert (event.summary, event.covers_to, event.facts, event.brief) == ("", 0, (), "")
    assert event.refused == ("reflection unusable: no call",)


def test_a_quote_that_stands_nowhere_and_would_change_what_is_known_is_asked_about_once_more() -> None:
    """What updates, deletes or holds a known key is named by number; a new fact without its words costs no question."""
    known = Materials(layers=(), mails=MAILS, covers_to=8, summary="", known_keys=frozenset({"plan"}), said=SAID)
    given = reflection(
        facts=[
            {**FACT, "quote": "50 seats"},
            {**FACT, "op": "ADD", "key": "Plan", "quote": "the pro plan"},
            {**FACT, "op": "ADD", "key": "city", "quote": "in Rome"},
            {**FACT, "op": "DELETE", "quote": "40 seats"},
        ]
    )
    told = misquoted(given, known)
    assert told.startswith("facts.0, facts.1: the quote stands in nothing that was said")
    assert "pro plan" not in told
    assert misquoted(reflection(facts=[FACT]), known) == ""
