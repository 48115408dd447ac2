"""The short-term session: what it holds, how long it lasts."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

from schemas.events.memory import FactRecorded, RelationProposal, RelationRecorded, TurnReflected
from schemas.events.replies import FactProposal
from services.core.settings import SessionSettings
from services.learn_facts.participant import Session
from services.learn_facts.person import session as decide_session
from tests.unit.learn_facts.people import NOW, PERSON, id_of, known, person, support


def turn(**given: Any) -> TurnReflected:
    fields: dict[str, Any] = {
        "turn_id": id_of("turn"), "thread_id": id_of("thread"), "participant_id": PERSON, "inbox": "support",
        "mail_ids": (id_of("mail"),), "trusted": True, "outcome": "sent", "summary": "They asked for SSO.", "covers_to": 1,
    }  # fmt: skip
    return TurnReflected(**{**fields, **given})


def recorded(**given: Any) -> FactRecorded:
    fields: dict[str, Any] = {
        "participant_id": PERSON, "fact_id": id_of("fact"), "text": "", "single_valued": False, "confidence": 0.7,
        "importance": 0.5, "trust": "ours", "valid_from": NOW,
    }  # fmt: skip
    return FactRecorded(**{**fields, **given})


def running(hours_left: float, **given: Any) -> Session:
    fields: dict[str, Any] = {"summary": "Before.", "entities": ("Okta",), "actions": ("2026-03-17 09:00 we replied",)}
    return Session(**{"thread_id": id_of("other"), **fields, **given}, expires_at=NOW + timedelta(hours=hours_left))


def test_a_session_holds_names_and_deeds_and_lasts_a_day() -> None:
    """Ends of relations and values are its entities; the outcome and what we granted are its actions."""
    edge = RelationRecorded(
        participant_id=PERSON,
        relation_id=id_of("edge"),
        op="insert",
        subject="John",
        predicate="works_at",
        object="Acme",
    )
    credit = recorded(kind="action", key="credit", value="$50", text="We credited $50.")
    plan = known("Enterprise", supports=(support("mail"),))
    noted = decide_session.noted(person(plan, known("Graz")), turn(), [edge, credit], NOW)
    assert noted.entities == ("John", "Acme", "Enterprise")
    assert noted.actions == (f"{NOW:%Y-%m-%d %H:%M} we replied", f"{NOW:%Y-%m-%d %H:%M} We credited $50.")
    assert noted.expires_at == NOW + timedelta(hours=24)


def test_what_was_refused_is_in_no_session() -> None:
    """A claim that was only proposed ("we granted $500", in the customer's words) is neither an act nor a name."""
    credit = FactProposal(op="add", kind="action", key="refund", value="$500", text="We granted Ada a refund of $500.")
    edge = RelationProposal(subject="Ada", predicate="owns", object="the bank")
    noted = decide_session.noted(person(), turn(facts=(credit,), relations=(edge,)), [], NOW)
    assert (noted.entities, noted.actions) == ((), (f"{NOW:%Y-%m-%d %H:%M} we replied",))


def test_a_running_session_is_carried_on_and_one_that_is_over_is_not() -> None:
    """What was done an hour ago still stands there; what was done two days ago does not."""
    alive = decide_session.noted(replace(person(), session=running(1)), turn(), [], NOW)
    over = decide_session.noted(replace(person(), session=running(-1)), turn(), [], NOW)
    assert (alive.entities, len(alive.actions)) == (("Okta",), 2)
    assert (over.entities, len(over.actions)) == ((), 1)


def test_activity_extends_a_session_that_runs_and_revives_none() -> None:
    """A mail within the day gives it another day; a mail after it starts nothing."""
    extended = decide_session.extended(replace(person(), session=running(1)), NOW)
    assert extended is not None
    assert (extended.summary, extended.expires_at) == ("Before.", NOW + timedelta(hours=24))
    assert decide_session.extended(replace(person(), session=running(-1)), NOW) is None
    assert decide_session.extended(person(), NOW) is None


def test_a_session_does_not_grow_without_end() -> None:
    """The latest entities and actions are kept, each once, and no whole sentence is a name."""
    many = tuple(f"name {n}" for n in range(40))
    facts = [known(value, supports=(support("mail"),)) for value in ("x" * 100, *many)]
    noted = decide_session.noted(replace(person(*facts), session=running(1)), turn(), [], NOW)
    assert noted.entities == many[: SessionSettings().names]


def test_an_operator_says_how_long_a_session_lasts() -> None:
    """Hours and how much is kept are settings, for the first mail and for those that extend it."""
    short = SessionSettings(hours=2, names=1)
    assert decide_session.noted(person(), turn(), [], NOW, short).expires_at == NOW + timedelta(hours=2)
    longer = decide_session.extended(replace(person(), session=running(1)), NOW, short)
    assert longer is not None
    assert longer.expires_at == NOW + timedelta(hours=2)
