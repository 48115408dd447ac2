"""What counts as a difference between what happened and a replay."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from schemas.events.memory import BriefWritten
from schemas.events.replies import ChosenSetting, ContextLayer, FactProposal, MemoryLoaded, ReplyDrafted, TokenUsage
from schemas.events.threads import TurnFailed
from services.core.bus.envelope import Envelope, first
from services.operations.replay.difference import differences
from services.operations.replay.result import DIFFERENT, FAILED, SAME, Result

ID = UUID(int=1)
COMMON: dict[str, Any] = {"turn_id": ID, "thread_id": ID, "participant_id": ID, "inbox": "i", "mail_ids": (ID,)}


def envelope(data: Any) -> Envelope:
    return first(data, id=ID, source="test", time=datetime(2026, 3, 2, tzinfo=UTC), workspace="main")


def drafted(**changes: Any) -> Envelope:
    given = {**COMMON, "reply_id": ID, "trusted": True, "decision": "reply", "text": "Hello", **changes}
    return envelope(ReplyDrafted.model_validate(given))


def test_the_same_events_differ_in_nothing() -> None:
    """Equal data is no difference, whatever mark or id the envelope has."""
    assert differences([drafted()], [replace(drafted(), replay="r", id=UUID(int=2))]) == ()


def test_text_state_and_facts_are_told_one_by_one() -> None:
    """Each field that changed is named, with both sides in words."""
    learned = FactProposal(op="add", kind="note", key="plan", value="Team", quote="our Team plan")
    found = differences([drafted()], [drafted(text="Bye", state="resolved", facts=(learned,))])
    assert [one.field for one in found] == ["text", "state", "facts"]
    assert found[2].after == "add note/plan = Team «our Team plan»"
    assert all(one.counts for one in found)


def test_tokens_and_the_models_name_are_told_and_do_not_count() -> None:
    """The same reply at another price is shown, and is the same."""
    found = differences([drafted()], [drafted(model="other", usage=TokenUsage(calls=1, input=5))])
    assert {one.field for one in found} == {"model", "usage"}
    assert Result(name="x", differences=found).code == SAME


def test_bases_that_an_earlier_release_did_not_record_do_not_count() -> None:
    """A brief with the same words is the same, whatever is known of what it was written from."""
    before, after = (envelope(BriefWritten(participant_id=ID, text="Ada.", bases=bases)) for bases in ((), ("0" * 64,)))
    found = differences([before], [after])
    assert [one.field for one in found] == ["bases"]
    assert Result(name="x", differences=found).code == SAME


def test_a_context_is_compared_layer_by_layer() -> None:
    """Of two contexts only the layers that differ are told."""

    def loaded(persona: str) -> Envelope:
        layers = (ContextLayer(name="persona", text=persona), ContextLayer(name="mail", text="Hi"))
        return envelope(MemoryLoaded(**COMMON, trusted=True, layers=layers))

    (found,) = differences([loaded("friendly")], [loaded("strict")])
    assert (found.field, found.before, found.after) == ("context: persona", "friendly", "strict")


def test_settings_are_compared_one_by_one() -> None:
    """Of what shapes a reply only the settings that differ are told, each with where it was said."""

    def loaded(quiet: float, source: str) -> Envelope:
        settings = {
            "quiet_s": ChosenSetting(value=quiet, source=source),
            "tone": ChosenSetting(value="", source="default"),
        }
        return envelope(MemoryLoaded(**COMMON, trusted=True, layers=(), settings=settings))

    (found,) = differences([loaded(0.3, "workspace")], [loaded(20, "default")])
    assert (found.field, found.before, found.after) == ("setting: quiet_s", "0.3  (workspace)", "20  (default)")


def test_a_missing_and_a_new_event_differ_as_a_whole() -> None:
    """What was recorded then and not now stands on the left alone, and the other way round."""
    (gone,) = differences([drafted()], [])
    (came,) = differences([], [drafted()])
    assert "Hello" in gone.before
    assert gone.after == ""
    assert "Hello" in came.after
    assert came.before == ""


def test_each_difference_says_in_which_of_the_events_it_is() -> None:
    """Of two drafts the second differs; of three, two are new."""
    assert [one.place for one in differences([drafted(), drafted()], [drafted(), drafted(text="Bye")])] == [1]
    assert [one.place for one in differences([drafted()], [drafted(), drafted(), drafted()])] == [1, 2]


def test_failing_as_it_failed_then_is_the_same() -> None:
    """A turn that failed and fails again in the same words is no difference; in other words it is an error."""
    failed = envelope(TurnFailed(thread_id=ID, turn_id=ID, processor="generate_reply", error="NoDecision: none"))
    assert differences([failed], [], "NoDecision: none") == ()
    (other,) = differences([failed], [], "KeyError: 'x'")
    assert other.field == "error"
    assert Result(name="x", differences=(other,), error="KeyError: 'x'").code == FAILED
    assert Result(name="x", differences=(other,)).code == DIFFERENT


def test_when_it_happened_is_the_pasts_own() -> None:
    """An earlier release stored no moment of an effect; a replay that has one is the same."""
    at = datetime(2026, 3, 2, 9, tzinfo=UTC)
    assert differences([drafted()], [drafted(happened_at=at)]) == ()
