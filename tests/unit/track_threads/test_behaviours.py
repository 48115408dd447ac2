"""Which behaviours hold for an occasion, and what they do to a turn and its thread."""

from __future__ import annotations

from typing import Any

import pytest

from schemas.events.marks import PrioritySet, TagsChanged
from schemas.events.threads import TurnClosed, TurnOpened
from services.core.settings import Behaviour
from services.track_threads import turns
from services.track_threads.behaviours import Occasion, applied, escalation, holding, put_marks
from tests.unit.track_threads.threads import id_of, kinds, moves, pending, thread


def rule(name: str = "rule", **given: Any) -> Behaviour:
    return Behaviour.model_validate({"name": name, "then": {"tag": ["x"]}, **given})


def occasion(**given: Any) -> Occasion:
    fields: dict[str, Any] = {
        "subjects": ("Your INVOICE 4471",),
        "texts": ("I was charged twice.\nPlease refund.",),
        "authenticated": True,
        "domains": ("mail.acme.example",),
        "languages": ("en",),
        "participant_state": "vip",
        "participant_tags": ("beta",),
        "risk": "high",
        "outcome": "sent",
        "intent": "complaint",
    }
    return Occasion(**{**fields, **given})


@pytest.mark.parametrize(
    ("when", "holds"),
    [
        ({}, True),
        ({"subject_contains": ["invoice"]}, True),
        ({"subject_contains": ["contract", "Invoice"]}, True),
        ({"subject_contains": ["contract"]}, False),
        ({"subject_contains": ["invoice"], "text_contains": ["thank you"]}, False),
        ({"text_contains": ["charged twice"]}, True),
        ({"from_domains": ["acme.example"]}, True),
        ({"from_domains": ["cme.example"]}, False),
        ({"languages": ["de"]}, False),
        ({"participant_states": ["customer", "vip"]}, True),
        ({"participant_tags": ["beta"], "risks": ["low"]}, False),
        ({"authenticated": False}, False),
        ({"thread_tags": ["outage"]}, True),
        ({"priorities": ["urgent"]}, False),
    ],
)
def test_all_that_is_said_must_hold_and_of_a_list_one(when: dict[str, Any], holds: bool) -> None:
    """Conditions are joined by and, entries of one by or; case is ignored."""
    found = holding([rule(when=when)], occasion(), thread(tags=frozenset({"outage"})))
    assert bool(found) is holds


@pytest.mark.parametrize(
    "when", [{"from_domains": ["acme.example"]}, {"participant_states": ["vip"]}, {"risks": ["high"]}]
)
def test_a_name_that_is_not_proved_has_no_treatment(when: dict[str, Any]) -> None:
    """Whoever writes in a customer's name without proof does not get the customer's rules."""
    assert holding([rule(when=when)], occasion(authenticated=False), thread()) == ()


@pytest.mark.parametrize("text", ["", "\u0000", "(" * 10_000, "İ" * 5000, "\u202einvoice", "%s {0} {name}"])
def test_hostile_text_is_only_looked_through(text: str) -> None:
    """Phrases are phrases, not patterns: no text makes a rule fail or run long."""
    rules = [rule(when={"text_contains": ["(((("]}), rule("b", when={"subject_contains": ["{0}"]})]
    names = {one.name for one in holding(rules, occasion(subjects=(text,), texts=(text,)), thread())}
    assert names <= {"rule", "b"}


def test_an_escalating_rule_asks_no_model() -> None:
    """The turn opens and closes in the same breath, the thread walks to escalated, and the reason names the rule."""
    rules = [rule(then={"escalate": "Invoices go to accounting."})]
    before = thread(pending=(pending(),))
    events = list(turns.open_turn(before, id_of("timer"), applied(rules), escalation(rules)))
    assert kinds(events) == ["StateChanged", "TurnOpened", "TurnClosed", "StateChanged", "ActionLogged"]
    assert moves(events) == [("new", "in_progress"), ("in_progress", "escalated")]
    opened, closed = events[1], events[2]
    assert isinstance(opened, TurnOpened)
    assert isinstance(closed, TurnClosed)
    assert (opened.mode, closed.outcome, closed.turn_id) == ("history", "escalated", opened.turn_id)
    assert closed.reason == "behaviour rule: Invoices go to accounting."


def test_what_a_rule_says_and_sets_stands_on_the_turn() -> None:
    """The turn's event carries the rules that held, so that it can be replayed without the settings."""
    rules = [rule("strict", then={"say": "Name the case number.", "set": {"approval": "review"}})]
    (*_, opened) = turns.open_turn(thread(pending=(pending(),)), id_of("timer"), applied(rules), escalation(rules))
    assert isinstance(opened, TurnOpened)
    (one,) = opened.behaviours
    assert (one.name, one.say, one.set) == ("strict", "Name the case number.", {"approval": "review"})


def test_the_first_rule_says_the_priority_and_tags_add_up() -> None:
    """Rules come in their order: the first priority wins, every tag counts, each with the name of its rule."""
    rules = [
        rule("first", then={"priority": "urgent", "tag": ["billing"]}),
        rule("second", then={"priority": "low", "tag": ["billing", "vip"], "untag": ["old"]}),
    ]
    events = list(put_marks(thread(tags=frozenset({"old"})), rules))
    assert [one.to_priority for one in events if isinstance(one, PrioritySet)] == ["urgent"]
    changes = [(one.added, one.removed, one.reason) for one in events if isinstance(one, TagsChanged)]
    assert changes == [(("billing",), (), "behaviour first"), (("vip",), ("old",), "behaviour second")]


def test_done_twice_nothing_changes() -> None:
    """A rule whose tags and priority stand already leaves no event."""
    again = thread(priority="urgent", tags=frozenset({"billing"}))
    assert list(put_marks(again, [rule(then={"priority": "urgent", "tag": ["billing"]})])) == []
