"""What follows where a person takes a value back: the same value elsewhere goes too, what it had replaced stands."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from uuid import UUID, uuid5

from schemas.events.memory import BriefWritten, FactRequested, FactRestored, FactRetracted
from services.learn_facts.facts.requests import follows
from services.learn_facts.participant import Fact, Participant

SPACE = UUID("6ba7b811-9dad-11d1-80b4-00c04fd430c8")
NOW = datetime(2026, 3, 1, tzinfo=UTC)


def id_of(name: str) -> UUID:
    return uuid5(SPACE, name)


def known(value: str, key: str = "plan", **given: object) -> Fact:
    one = Fact(id_of(value), "customer_info", key, value, "authenticated", NOW, single_valued=True)
    return replace(one, **given)  # type: ignore[arg-type]


def past(value: str, by: str | None, on: int, key: str = "plan", **given: object) -> Fact:
    ended = {"valid_to": NOW, "superseded_at": NOW, "superseded_by": id_of(by) if by else None}
    return known(value, key, valid_from=NOW - timedelta(days=100 - on), **ended, **given)


def merged(value: str, into: str) -> Fact:
    return known(value, superseded_at=NOW, merged_into=id_of(into))


def somebody(name: str = "ada", facts: tuple[Fact, ...] = (), before: tuple[Fact, ...] = ()) -> Participant:
    return Participant(id_of(name), exists=True, every_fact=(*facts, *before))


def told(who: Participant, forgotten: str, *others: Participant, op: str = "forget") -> list[tuple[str, UUID | None]]:
    asked = FactRequested.model_validate({"participant_id": who.participant_id, "op": op, "by": "grace"})
    people = (who, *others)
    found = [event for one in people for event in follows(one, id_of(forgotten), asked, people, NOW, brief=False)]
    assert all(isinstance(one, FactRetracted | FactRestored) for one in found)
    return [(one.TYPE, getattr(one, "fact_id", None)) for one in found]


RESTORED, RETRACTED = FactRestored.TYPE, FactRetracted.TYPE


def test_the_last_value_that_nobody_took_back_stands_again() -> None:
    """Withdrawn ones are passed over, older ones stay past."""
    before = (past("Free", "Team", 1), past("Team", "Oops", 2), past("Oops", "Pro", 3, withdrawn_at=NOW))
    assert told(somebody(facts=(known("Pro"),), before=before), "Pro") == [(RESTORED, id_of("Team"))]


def test_a_correction_gives_nothing_back() -> None:
    """The right value takes the place of the wrong one."""
    who = somebody(facts=(known("Pro"),), before=(past("Team", "Pro", 2),))
    assert told(who, "Pro", op="correct") == []


def test_what_ended_by_its_own_word_or_another_s_stays_past() -> None:
    """Only what the forgotten value itself had replaced was freed by forgetting it."""
    ended = somebody(facts=(known("Pro"),), before=(past("Free", "Team", 1), past("Team", None, 2)))
    assert told(ended, "Pro") == []
    renamed = somebody(facts=(known("Pro"), known("Gold", key="tier")), before=(past("Team", "Gold", 2),))
    assert told(renamed, "Pro") == []


def test_what_a_value_of_another_key_had_replaced_stands_again() -> None:
    """An update may name a fact of another key; that comes back under its own."""
    who = somebody(facts=(known("Gold", key="tier"),), before=(past("Team", "Gold", 2),))
    assert told(who, "Gold") == [(RESTORED, id_of("Team"))]


def test_the_same_value_of_another_time_or_address_goes_too_with_its_members() -> None:
    """In the past and under another address the value is withdrawn, and what was merged into any of them."""
    member, other = id_of("member"), id_of("other")
    before = (past("pro.", "Team", 1), past("Team", "Pro", 2), merged("member", "Pro"))
    who = somebody(facts=(known("Pro"),), before=before)
    home = somebody("home", facts=(known("PRO"), known("Slack", key="uses")), before=(merged("other", "PRO"),))
    assert told(who, "Pro", home) == [
        (RETRACTED, member),
        (RETRACTED, id_of("pro.")),
        (RESTORED, id_of("Team")),
        (RETRACTED, id_of("PRO")),
        (RETRACTED, other),
    ]


def test_a_past_fact_goes_alone() -> None:
    """The same value may rightly stand now, and what replaced the past one goes on."""
    who = somebody(facts=(known("Pro"),), before=(past("pro.", "Team", 1), past("Team", "Pro", 2)))
    assert told(who, "pro.") == []


def test_readers_of_every_address_see_the_brief_emptied() -> None:
    """Whoever has it in a cache under their own version reads it anew."""
    who, home = somebody(facts=(known("Pro"),)), somebody("home")
    asked = FactRequested.model_validate({"participant_id": who.participant_id, "op": "forget", "by": "grace"})
    found = [event for one in (who, home) for event in follows(one, id_of("Pro"), asked, (who, home), NOW, brief=True)]
    assert found == [BriefWritten(participant_id=id_of(name), text="") for name in ("ada", "home")]
