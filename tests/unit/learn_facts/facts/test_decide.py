"""What becomes of a proposed memory operation, and of a person's wish."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from schemas.events.base import EventData
from schemas.events.memory import (
    FactCorroborated,
    FactMarkedStale,
    FactPinned,
    FactRecorded,
    FactRefused,
    FactRetracted,
)
from services.core.settings import MemorySettings
from services.learn_facts.facts import decide as decide_facts
from services.learn_facts.facts import proposals
from services.learn_facts.facts import requests as decide_requests
from services.learn_facts.facts.policy import STANDARD, end_of_day, extended
from services.memory.support import Support
from tests.unit.learn_facts.people import NOW, asked, id_of, known, past, person, proposal, source, support

NEW = id_of("new fact")
HUMAN: dict[str, Any] = {"trust": "human", "supports": (support(trust="human"),)}


def decided(*facts: Any, source: Any = None, past: Any = (), **given: Any) -> EventData:
    """The one event of a proposal."""
    (event,) = decide_facts.propose(person(*facts, past=past), proposal(**given), source, NEW)
    return event


def all_decided(*facts: Any, source: Any = None, past: Any = (), **given: Any) -> list[EventData]:
    """All events of a proposal."""
    return list(decide_facts.propose(person(*facts, past=past), proposal(**given), source, NEW))


def old_mail(days: int) -> Any:
    """A mail of an import, so many days old."""
    return source(history=True, sent_at=NOW - timedelta(days=days))


def our_mail() -> Any:
    """A reply that we sent."""
    text = "You are on the Enterprise plan. For the late parcel we have credited $50."
    return source(mail_id=None, reply_id=id_of("reply"), text=text)


def refusal(event: EventData) -> str:
    assert isinstance(event, FactRefused)
    return event.reason


def test_a_new_fact_keeps_where_it_stands() -> None:
    """What is recorded names its mail, its quote and the quote's place in the new text."""
    event = decided(source=source())
    assert isinstance(event, FactRecorded)
    assert (event.source_mail, event.source_thread, event.source_message_id) == (
        id_of("mail"),
        id_of("thread"),
        "mail@example.org",
    )
    assert source().text[event.span_start : event.span_end] == event.quote == "on the Enterprise plan now"
    assert (event.trust, event.confidence, event.supersedes, event.rule) == ("authenticated", 0.7, (), "new")


@pytest.mark.parametrize("day", [date(1, 1, 1), date(9999, 12, 31)])
def test_the_year_9999_loses_nothing(day: date) -> None:
    """A fact "until 9999-12-31" is a fact without an end, and so is one until year 1."""
    event = decided(source=source(), valid_to=day)
    assert isinstance(event, FactRecorded)
    assert event.expires_at is None


def test_a_proposal_that_cannot_be_decided_costs_itself_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """What raises while it is decided is refused with its reason, in its own place."""

    def raising(*_: object) -> Iterator[EventData]:
        raise OverflowError("date value out of range")
        yield

    monkeypatch.setattr(proposals, "propose", raising)
    (event,) = proposals.decided_or_refused(person(), proposal(), source(), NEW, STANDARD)
    assert refusal(event) == "it cannot be decided: OverflowError"


def test_a_quote_may_be_broken_over_lines() -> None:
    """White space is folded, and the quote that is kept is the mail's own."""
    event = decided(source=source(text="we are on the\n  Enterprise plan now"))
    assert isinstance(event, FactRecorded)
    assert event.quote == "on the\n  Enterprise plan now"


@pytest.mark.parametrize(
    ("given", "cited", "said"),
    [
        ({}, None, "the quote stands in no mail of this turn"),
        ({}, source(trusted=False), "the sender is not authenticated"),
        ({"quote": "on the Platinum plan"}, source(), "the quote does not stand in the cited mail"),
        ({"quote": ""}, source(), "the quote does not stand in the cited mail"),
        ({"quote": " \n "}, source(), "the quote does not stand in the cited mail"),
        ({"quote": "Hello, " * 60}, source(text="Hello, " * 60), "the quote does not stand in the cited mail"),
        ({"importance": 2}, source(), "importance 2 is below the threshold"),
        ({"importance": -3}, source(), "importance -3 is below the threshold"),
        ({"op": "delete", "key": "seats"}, source(), "there is no such fact"),
        ({"op": "delete", "fact_id": "made up"}, source(), "there is no such fact"),
    ],
)
def test_what_does_not_hold_is_refused_in_words(given: dict[str, Any], cited: Any, said: str) -> None:
    """No quote, no authenticated sender, nothing worth it or nothing meant: refused, and logged with the reason."""
    assert refusal(all_decided(known(), source=cited, **given)[0]) == said


@pytest.mark.parametrize("kind", ["identity", "goal", "constraint", "preference"])
def test_a_floor_lifts_what_the_model_finds_trivial(kind: str) -> None:
    """Kinds with a floor are stored however unimportant the model calls them."""
    event = decided(source=source(), kind=kind, importance=1)
    assert isinstance(event, FactRecorded)
    assert event.importance >= 0.6


def test_a_newer_value_supersedes_the_older() -> None:
    """A key with one value has one: the new fact names the one it replaces, and the rule."""
    event = decided(known("Starter"), source=source())
    assert isinstance(event, FactRecorded)
    assert event.supersedes == (id_of("fact Starter"),)
    assert event.rule == "the newer value replaces the older"


def test_appended_kinds_keep_what_stands() -> None:
    """An event or an issue is added beside the others of its key."""
    other = known("export broke", kind="issue_history", key="export", single_valued=False)
    event = decided(other, source=source(), kind="issue_history", key="export", value="export broke again")
    assert isinstance(event, FactRecorded)
    assert event.supersedes == ()
    assert not event.single_valued


def test_a_key_is_one_across_kinds() -> None:
    """The same key under another single-valued kind is the same thing, so the database's one value holds."""
    event = decided(known("Starter", kind="order_info"), source=source())
    assert isinstance(event, FactRecorded)
    assert event.supersedes == (id_of("fact Starter"),)


def test_a_named_fact_is_replaced_whatever_its_key() -> None:
    """An UPDATE that names a fact replaces that one, and the one that holds its key."""
    named = known("Team", key="tariff")
    event = decided(known("Starter"), named, source=source(), op="update", fact_id=str(named.fact_id))
    assert isinstance(event, FactRecorded)
    assert set(event.supersedes) == {id_of("fact Starter"), named.fact_id}


def test_another_mail_that_says_the_same_corroborates() -> None:
    """Confidence is computed from distinct messages and threads, and rises with each."""
    event = decided(known("enterprise"), source=source())
    assert isinstance(event, FactCorroborated)
    assert event.fact_id == id_of("fact enterprise")
    assert event.confidence == pytest.approx(1 - 0.3 * 0.6 * 0.8)


def test_the_same_mail_corroborates_nothing() -> None:
    """A mail that said so before, however often it is read, adds nothing."""
    mine = known("Enterprise", supports=(support("mail", thread="thread"),))
    assert list(decide_facts.propose(person(mine), proposal(), source(), NEW)) == []


def test_a_person_beats_a_mail() -> None:
    """What a person here recorded is not replaced by what a model read in a mail."""
    assert refusal(decided(known(**HUMAN), source=source())) == "a person here said otherwise: 'Starter'"


def test_a_mail_can_corroborate_a_person() -> None:
    """A customer who says what a person recorded supports it."""
    assert isinstance(decided(known("Enterprise", **HUMAN), source=source()), FactCorroborated)


def test_an_old_mail_that_comes_late_does_not_beat_what_is_newer() -> None:
    """Order of arrival does not matter: it is recorded as what was so until the newer value began."""
    newer = known("Team", valid_from=NOW - timedelta(days=1))
    old = source(history=True, sent_at=NOW - timedelta(days=300))
    event = decided(newer, source=old)
    assert isinstance(event, FactRecorded)
    assert (event.past, event.superseded_by, event.supersedes) == (True, newer.fact_id, ())
    assert (event.valid_from, event.valid_to) == (NOW - timedelta(days=300), newer.valid_from)


def test_a_late_value_ends_where_the_next_one_that_is_known_began() -> None:
    """Between two known values the older one's end is the first thing said after it, not the current value."""
    team = past("Team", valid_from=NOW - timedelta(days=90), valid_to=NOW - timedelta(days=1))
    newer = known("Growth", valid_from=NOW - timedelta(days=1))
    event = decided(newer, past=(team,), source=old_mail(300))
    assert isinstance(event, FactRecorded)
    assert (event.superseded_by, event.valid_to) == (team.fact_id, team.valid_from)


def test_a_late_mail_does_not_revive_what_has_ended() -> None:
    """After "we no longer have a plan" an older mail about the plan is history, with its end."""
    ended = past("Team", valid_from=NOW - timedelta(days=90), valid_to=NOW - timedelta(days=10), superseded_by=None)
    event = decided(past=(ended,), source=old_mail(50))
    assert isinstance(event, FactRecorded)
    assert (event.past, event.superseded_by, event.valid_to) == (True, None, ended.valid_to)


def test_a_late_mail_that_says_what_was_known_then_supports_it() -> None:
    """A past value is corroborated, not recorded a second time."""
    was = past("Enterprise", valid_from=NOW - timedelta(days=90), valid_to=NOW - timedelta(days=1))
    newer = known("Growth", valid_from=NOW - timedelta(days=1))
    event = decided(newer, past=(was,), source=old_mail(50))
    assert isinstance(event, FactCorroborated)
    assert event.fact_id == was.fact_id


def test_an_older_mail_that_says_the_same_moves_the_beginning_back() -> None:
    """What is believed has been so since the oldest mail that says it, unless another value lies between."""
    now = known("Enterprise", valid_from=NOW - timedelta(days=1))
    event = decided(now, source=old_mail(50))
    assert isinstance(event, FactCorroborated)
    assert event.valid_from == NOW - timedelta(days=50)
    between = past("Team", valid_from=NOW - timedelta(days=20), valid_to=NOW - timedelta(days=1))
    event = decided(now, past=(between,), source=old_mail(50))
    assert isinstance(event, FactRecorded)
    assert (event.past, event.valid_to) == (True, between.valid_from)


def test_a_value_that_was_confirmed_lately_is_newer_than_a_mail_from_before() -> None:
    """When a value was last said counts, not when it was first said."""
    again = Support("authenticated", id_of("again"), None, NOW - timedelta(days=5))
    current = known("Team", valid_from=NOW - timedelta(days=300), supports=(support(), again))
    event = decided(current, source=old_mail(50))
    assert isinstance(event, FactRecorded)
    assert (event.past, event.valid_to) == (True, NOW - timedelta(days=5))


def test_what_a_person_took_back_does_not_return_with_an_older_mail() -> None:
    """A mail from before a correction cannot bring the wrong value again; a later one may."""
    wrong = past("Enterprise", withdrawn_at=NOW - timedelta(days=2))
    assert refusal(decided(past=(wrong,), source=old_mail(3))) == "a person here took this back since"
    assert isinstance(decided(past=(wrong,), source=source()), FactRecorded)


def test_an_inferred_value_does_not_replace_what_was_said_literally() -> None:
    """A value that the quoted sentence does not say is inferred, and weaker than a stated one."""
    event, doubt = all_decided(known("Starter"), source=source(), value="Diamond")
    assert refusal(event) == "what stands was said in so many words: 'Starter'"
    assert isinstance(doubt, FactMarkedStale)
    event = decided(source=source(), value="Diamond")
    assert isinstance(event, FactRecorded)
    assert (event.trust, event.confidence) == ("inferred", 0.5)


def test_a_translated_value_makes_the_literal_one_unsure_and_the_next_word_decides() -> None:
    """'nach München umgezogen' as `Munich` does not end Berlin; Berlin is to be confirmed, and gives way when said again."""
    moved = {"key": "city", "value": "Munich", "quote": "nach München umgezogen"}
    mail = source(text="Wir sind nach München umgezogen.")
    berlin = known("Berlin", key="city")
    _, doubt = all_decided(berlin, source=mail, **moved)
    assert isinstance(doubt, FactMarkedStale)
    assert (doubt.fact_id, doubt.reason) == (berlin.fact_id, "a newer mail seems to say otherwise: 'Munich'")
    event = decided(replace(berlin, stale=True), source=mail, **moved)
    assert isinstance(event, FactRecorded)
    assert (event.supersedes, event.trust, event.confidence) == ((berlin.fact_id,), "inferred", 0.5)


@pytest.mark.parametrize(
    "current", [known(**HUMAN), known(valid_from=NOW + timedelta(days=1)), known(trust="inferred")]
)
def test_only_a_newer_word_makes_a_customers_literal_one_unsure(current: Any) -> None:
    """A person's word, a newer one and an inferred one are marked by nothing that a model concludes."""
    events = all_decided(current, source=source(), value="Diamond")
    assert not any(isinstance(one, FactMarkedStale) for one in events)


SOON, AGO = (NOW + timedelta(days=10)).date(), (NOW - timedelta(days=60)).date()


def test_a_value_that_was_over_when_it_was_said_supersedes_nothing() -> None:
    """'Until 31 December we were on Enterprise' is past, and Team stands."""
    event = decided(known("Team"), source=source(), valid_to=AGO)
    assert isinstance(event, FactRecorded)
    assert (event.past, event.supersedes, event.single_valued) == (True, (), False)
    assert event.valid_from == event.valid_to == event.expires_at == end_of_day(AGO)


def test_what_was_over_is_said_twice_and_known_once() -> None:
    """A second mail that says so too supports the past value."""
    end = end_of_day(AGO)
    over = past("Enterprise", valid_from=end, valid_to=end, superseded_by=None, single_valued=False)
    assert isinstance(decided(known("Team"), past=(over,), source=source(), valid_to=AGO), FactCorroborated)


def test_the_standing_value_that_is_over_ends_then() -> None:
    """An end in the past of what stands ends it at that day; where it began only since, it is another time's."""
    event = decided(known("Enterprise"), source=source(), valid_to=AGO)
    assert isinstance(event, FactRetracted)
    assert (event.fact_id, event.valid_to) == (id_of("fact Enterprise"), end_of_day(AGO))
    again = decided(known("Enterprise", valid_from=NOW - timedelta(days=3)), source=source(), valid_to=AGO)
    assert isinstance(again, FactRecorded)
    assert (again.past, again.supersedes) == (True, ())


@pytest.mark.parametrize("given", [{}, {"op": "update", "fact_id": str(id_of("fact Starter"))}])
@pytest.mark.parametrize("current", [known(), known(**HUMAN)])
def test_a_value_for_a_while_ends_no_open_ended_one(current: Any, given: dict[str, Any]) -> None:
    """'Until the 12th reach me on ...' stands over the permanent number, whoever said that, and leaves it as it is."""
    event = decided(current, source=source(), valid_to=SOON, **given)
    assert isinstance(event, FactRecorded)
    assert (event.past, event.supersedes, event.single_valued) == (False, (), False)
    assert event.expires_at == end_of_day(SOON)


def test_a_newer_value_ends_the_one_for_a_while_too() -> None:
    """Of two values for a while the newer takes the place; the newer open-ended one takes both places."""
    for_now = known("Team", single_valued=False, expires_at=NOW + timedelta(days=5), valid_from=NOW - timedelta(days=2))
    event = decided(known(), for_now, source=source(), valid_to=SOON)
    assert isinstance(event, FactRecorded)
    assert event.supersedes == (for_now.fact_id,)
    event = decided(known(), for_now, source=source())
    assert isinstance(event, FactRecorded)
    assert event.supersedes == (id_of("fact Starter"), for_now.fact_id)


def test_the_standing_value_that_gets_an_end_stays_the_standing_one() -> None:
    """'Still Starter, until the 12th' is known of the one value; another value for a while comes over it."""
    ends = decided(known("Enterprise"), source=source(), valid_to=SOON)
    assert isinstance(ends, FactRecorded)
    assert (ends.supersedes, ends.single_valued) == ((id_of("fact Enterprise"),), True)
    over = decided(known(expires_at=NOW + timedelta(days=90)), source=source(), valid_to=SOON)
    assert isinstance(over, FactRecorded)
    assert (over.supersedes, over.single_valued) == ((), False)


def test_a_person_too_says_what_is_for_a_while() -> None:
    """A number that a person notes until a day leaves the permanent one as it is."""
    command = asked("add", value="Team", valid_to=SOON)
    (event,) = decide_requests.request(person(known()), command, NEW, NOW, STANDARD)
    assert isinstance(event, FactRecorded)
    assert (event.supersedes, event.single_valued) == ((), False)


def test_a_day_ends_where_the_mailbox_is() -> None:
    """A mailbox in Tokyo and a person there end a day nine hours before one in UTC."""
    tokyo = extended(zone=ZoneInfo("Asia/Tokyo"))
    command = asked("add", value="Team", valid_to=SOON)
    (told,) = decide_facts.propose(person(), proposal(valid_to=SOON), source(), NEW, tokyo)
    (noted,) = decide_requests.request(person(), command, NEW, NOW, tokyo)
    for event in (told, noted):
        assert isinstance(event, FactRecorded)
        assert event.expires_at == datetime(2026, 3, 12, 15, tzinfo=UTC)


def test_an_older_mail_comes_under_a_value_for_a_while() -> None:
    """The order of arrival does not matter: the permanent value that comes late stands, and so does the one over it."""
    for_now = known("Team", single_valued=False, expires_at=NOW + timedelta(days=5), valid_from=NOW - timedelta(days=2))
    event = decided(for_now, source=old_mail(30))
    assert isinstance(event, FactRecorded)
    assert (event.past, event.supersedes, event.single_valued) == (False, (), True)


USES: dict[str, Any] = {"key": "uses", "kind": "preference", "value": "Enterprise"}


def test_a_late_mail_does_not_revive_one_of_several_values() -> None:
    """'We use Slack' from before 'no longer use Slack' is past, ended where that was said."""
    ended = past("Enterprise", key="uses", single_valued=False, superseded_by=None,
                 valid_from=NOW - timedelta(days=90), valid_to=NOW - timedelta(days=10))  # fmt: skip
    late = decided(past=(ended,), source=old_mail(100), **USES)
    assert isinstance(late, FactRecorded)
    assert (late.past, late.valid_to) == (True, ended.valid_to)
    assert isinstance(decided(past=(ended,), source=old_mail(50), **USES), FactCorroborated)
    again = decided(past=(ended,), source=old_mail(5), **USES)
    assert isinstance(again, FactRecorded)
    assert not again.past


def test_values_side_by_side_are_no_successors() -> None:
    """A late mail about one of several values makes it older, whatever began or ended beside it."""
    beside = past("Teams", key="uses", single_valued=False, valid_from=NOW - timedelta(days=20),
                  valid_to=NOW - timedelta(days=15), superseded_by=None)  # fmt: skip
    current = known(
        "Enterprise", key="uses", kind="preference", single_valued=False, valid_from=NOW - timedelta(days=9)
    )
    event = decided(current, past=(beside,), source=old_mail(30), **USES)
    assert isinstance(event, FactCorroborated)
    assert event.valid_from == NOW - timedelta(days=30)


@pytest.mark.parametrize(("value", "ended"), [("", True), ("Team plan", True), ("team", True), ("Enterprise", False)])
def test_a_delete_ends_the_value_that_it_names(value: str, ended: bool) -> None:
    """'We no longer have Pro' does not end Team."""
    event = decided(known("Team"), source=source(), op="delete", value=value)
    assert isinstance(event, FactRetracted) is ended
    if not ended:
        assert refusal(event) == "what stands is 'Team'"


@pytest.mark.parametrize("given", [{}, {"fact_id": str(id_of("fact Team"))}])
def test_a_delete_does_not_end_what_its_own_mail_says(given: dict[str, Any]) -> None:
    """ADD Team and DELETE the plan in one answer leave Team."""
    said = known("Team", supports=(Support("authenticated", id_of("mail"), id_of("thread"), NOW),))
    assert refusal(decided(said, source=source(), op="delete", **given)) == "its own mail says so: 'Team'"


@pytest.mark.parametrize(
    ("kind", "thread", "days", "again"),
    [
        ("event", "other", 29, True),
        ("interaction", "other", 2, True),
        ("event", "thread", 29, False),
        ("event", "other", 0, False),
        ("note", "other", 29, False),
    ],
)
def test_what_happens_twice_is_two_events(kind: str, thread: str, days: int, again: bool) -> None:
    """'The delivery was late', weeks apart, is two deliveries; in one thread or on one day it is one."""
    said = Support("authenticated", id_of("old mail"), id_of(thread), NOW - timedelta(days=days))
    first = known("Enterprise", key="delivery", kind=kind, single_valued=False, supports=(said,))
    event = decided(first, source=source(), key="delivery", kind=kind)
    assert isinstance(event, FactRecorded if again else FactCorroborated)


def test_our_own_mail_sources_what_is_ours_to_say() -> None:
    """A resolution may rest on our sent reply, with the trust class `ours`."""
    quote = "we have credited $50"
    event = decided(source=our_mail(), kind="resolution", key="late parcel", value="$50 credit", quote=quote)
    assert isinstance(event, FactRecorded)
    assert (event.trust, event.source_mail, event.source_reply) == ("ours", None, id_of("reply"))


def test_our_own_mail_says_nothing_of_a_customer() -> None:
    """What we wrote about a customer's plan is no source for it, and supports it in nothing."""
    quote = "You are on the Enterprise plan"
    assert refusal(decided(source=our_mail(), quote=quote)) == "our own words say nothing of a customer"
    current = known("$50 credit", kind="resolution", key="late parcel", single_valued=False)
    again = {"kind": "resolution", "key": "late parcel", "value": "$50 credit", "quote": "credited $50"}
    assert refusal(decided(current, source=our_mail(), **again)) == "our own words do not corroborate"


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ({"kind": "customer_info", "key": "discount"}, False),
        ({"kind": "customer_info", "key": "credits"}, False),
        ({"kind": "customer_info", "key": "agreed_discounts"}, False),
        ({"kind": "customer_info", "key": "treuerabatt"}, False),
        ({"kind": "order_info", "key": "remises"}, False),
        ({"kind": "order_info", "key": "возврат денег"}, False),
        ({"kind": "order_info", "key": "返金"}, False),
        ({"kind": "resolution", "key": "refund"}, False),
        ({"kind": "resolution", "key": "late parcel", "value": "$500 refund"}, False),
        ({"kind": "resolution", "key": "late parcel", "text": "We granted Ada a $500 credit."}, False),
        ({"kind": "event", "key": "refund"}, False),
        ({"kind": "resolution", "key": "export", "value": "works again"}, True),
        ({"kind": "customer_info", "key": "credit card"}, True),
        ({"kind": "customer_info", "key": "refund account"}, True),
        ({"kind": "customer_info", "key": "Erstattungskonto"}, True),
        ({"kind": "customer_info", "key": "compte de remboursement"}, True),
        ({"kind": "customer_info", "key": "account refund"}, False),
        ({"kind": "note", "key": "refund approval"}, False),
        ({"kind": "action", "key": "plan"}, False),
        ({"kind": "goal", "key": "refund"}, True),
        ({"kind": "issue_history", "key": "refund late"}, True),
    ],
)
def test_what_we_grant_no_customer_establishes(given: dict[str, Any], kept: bool) -> None:
    """A customer may wish for a refund or complain about it; that there is one is ours to say."""
    event = decided(source=source(), **given)
    assert isinstance(event, FactRecorded) if kept else refusal(event) == "only we can establish this"


@pytest.mark.parametrize("given", [{"op": "delete"}, {"op": "update", "key": "outcome", "value": "Enterprise"}])
def test_what_we_did_no_customer_takes_back(given: dict[str, Any]) -> None:
    """An `ours` fact is ended by our own words and by people, not by who profits from its end."""
    granted = known("$50 credit", kind="resolution", key="late parcel", single_valued=False, trust="ours")
    named = {"kind": "customer_info", "fact_id": str(granted.fact_id), **given}
    assert refusal(decided(granted, source=source(), **named)) == "only we can take this back: '$50 credit'"
    assert isinstance(decided(granted, source=our_mail(), op="delete", kind="resolution", fact_id=named["fact_id"],
                              quote="we have credited $50"), FactRetracted)  # fmt: skip


def test_our_words_end_nothing_that_a_customer_said() -> None:
    """Our own mail ends no fact of a customer, however weak, by naming its id."""
    weak = known("Starter", trust="inferred")
    ours = {"kind": "resolution", "key": "plan", "fact_id": str(weak.fact_id), "quote": "we have credited $50"}
    for op in ("delete", "update"):
        event = decided(weak, source=our_mail(), op=op, **ours)
        assert refusal(event) == "our own words say nothing of a customer: 'Starter'"


@pytest.mark.parametrize("kind", ["billing_info", "plan", "class"])
def test_a_kind_that_nobody_defined_is_refused(kind: str) -> None:
    """A model that makes up a kind stores nothing under it; an old fact of such a kind can still be ended."""
    assert refusal(decided(source=source(), kind=kind)) == f"there is no kind of facts {kind!r}"
    old = known("Starter", kind=kind)
    assert isinstance(decided(old, source=source(), kind=kind, op="delete"), FactRetracted)
    (event,) = decide_requests.request(person(), asked("add", kind=kind, value="Team"), NEW, NOW, STANDARD)
    assert refusal(event).startswith(f"there is no kind of facts {kind!r}: action, ")


def away(until: datetime | None, **given: Any) -> Any:
    """An absence that is known to end so."""
    fields = {"kind": "event", "key": "absence", "single_valued": False, "expires_at": until, **given}
    return known("on vacation", **fields)


def says_away(*facts: Any, until: date | None = None, kind: str = "event", **given: Any) -> EventData:
    """What becomes of "I am on vacation", said today."""
    said = source(text="I am on vacation.", **given)
    fields = {"kind": kind, "key": "absence", "value": "on vacation", "quote": "I am on vacation"}
    return decided(*facts, source=said, valid_to=until, **fields)


NEXT_MONTH = datetime(2026, 4, 16, tzinfo=UTC)


@pytest.mark.parametrize("was", [NEXT_MONTH - timedelta(days=9), NEXT_MONTH + timedelta(days=9), None])
def test_another_end_takes_the_place_of_the_known_one(was: datetime | None) -> None:
    """The same value with a new last day is a new fact with that day."""
    event = says_away(away(was), until=date(2026, 4, 15))
    assert isinstance(event, FactRecorded)
    assert (event.expires_at, event.supersedes) == (NEXT_MONTH, (away(was).fact_id,))
    assert event.rule == "said again, with a time of its own"


def test_a_pin_outlasts_another_end() -> None:
    """What a person pinned is pinned also with its new last day."""
    until = proposal(key="plan", value="Enterprise", valid_to=date(2026, 4, 15))
    event, pin = decide_facts.propose(person(known("Enterprise", pinned=True)), until, source(), NEW)
    assert isinstance(event, FactRecorded)
    assert isinstance(pin, FactPinned)
    assert (pin.fact_id, pin.pinned) == (NEW, True)


@pytest.mark.parametrize("single", [True, False])
def test_what_has_expired_begins_anew(single: bool) -> None:
    """An expired value that is said again holds again, as named; of a key with one value it takes the old one's place."""
    known = away(NOW - timedelta(days=30), kind="constraint" if single else "event", single_valued=single)
    for until, ends in ((date(2026, 4, 15), NEXT_MONTH), (None, None)):
        event = says_away(known, until=until, kind=known.kind)
        assert isinstance(event, FactRecorded)
        assert (event.valid_from, event.expires_at) == (NOW, ends)
        assert event.supersedes == ((known.fact_id,) if single else ())


@pytest.mark.parametrize(
    ("fact", "until", "sent"),
    [
        (away(NEXT_MONTH), date(2026, 4, 15), NOW),
        (away(NEXT_MONTH), None, NOW),
        (away(None, **HUMAN), date(2026, 4, 15), NOW),
        (away(None, valid_from=NOW - timedelta(days=2)), date(2026, 4, 15), NOW - timedelta(days=5)),
        (away(NOW - timedelta(days=30)), date(2026, 1, 30), NOW),
    ],
    ids=["the same end", "no end", "a person's", "an older mail", "the same end, over"],
)
def test_what_names_no_better_end_only_supports(fact: Any, until: date | None, sent: datetime) -> None:
    """The known end stands where none is named, where a person set it, and where the mail is older."""
    fact = (
        replace(fact, expires_at=NOW.replace(month=1, day=31, hour=0, minute=0)) if until == date(2026, 1, 30) else fact
    )
    event = says_away(fact, until=until, sent_at=sent, history=True)
    assert isinstance(event, FactCorroborated)


def test_what_has_expired_stands_against_nothing() -> None:
    """A person's word that ended by itself does not keep out what is said later."""
    trial = known("Trial", expires_at=NOW - timedelta(days=1), **HUMAN)
    event = decided(trial, source=source())
    assert isinstance(event, FactRecorded)
    assert event.supersedes == (trial.fact_id,)


def test_what_a_model_concludes_names_its_parents() -> None:
    """A derived fact names facts that are believed; what names others is refused."""
    base = known("40", key="seats")
    event = decided(base, source=source(), derived_from=[str(base.fact_id)])
    assert isinstance(event, FactRecorded)
    assert event.parents == (base.fact_id,)
    for made_up in ("made up", str(id_of("another's fact"))):
        assert refusal(decided(base, source=source(), derived_from=[made_up])) == (
            "a fact that it is derived from is not believed"
        )


def test_of_several_values_a_delete_ends_the_one_that_is_said() -> None:
    """A multi-valued key keeps its other values; an occurrence is ended only by who names it."""
    tools = [known(one, key="uses", single_valued=False) for one in ("Slack", "Jira")]
    event = decided(*tools, source=source(), op="delete", key="uses", value="Jira")
    assert isinstance(event, FactRetracted)
    assert event.fact_id == id_of("fact Jira")
    happened = known("export broke", kind="issue_history", key="export", single_valued=False)
    event = decided(happened, source=source(), op="delete", kind="issue_history", key="export")
    assert refusal(event) == "there is no such fact"


def test_an_operator_extends_the_policy() -> None:
    """Values per key, reserved keys, floors and the threshold come from the mailbox's settings."""
    school = MemorySettings(
        values={"seats": "multi"},
        kinds={"class": "a"},
        reserved=("loyalty_level",),
        floors={"order_info": 0.9},
        store_from=0.5,
    )
    policy = extended(school)
    assert [policy.arity("customer_info", key) for key in ("seats", "plan")] == ["multi", "single"]
    for key in ("loyalty_level", "loyalty levels", "level of loyalty"):
        (event,) = decide_facts.propose(person(), proposal(key=key), source(), NEW, policy)
        assert refusal(event) == "only we can establish this"
    (event,) = decide_facts.propose(person(), proposal(kind="class"), source(), NEW, policy)
    assert isinstance(event, FactRecorded)
    (event,) = decide_facts.propose(person(), proposal(importance=4), source(), NEW, policy)
    assert refusal(event) == "importance 4 is below the threshold"
    assert policy.importance("order_info", 1) == 0.9


def test_an_old_mail_that_comes_late_does_not_delete_what_is_newer() -> None:
    """A wish of last year to forget a value ends no value of this year."""
    newer = known("Team", valid_from=NOW - timedelta(days=1))
    old = source(history=True, sent_at=NOW - timedelta(days=300))
    assert refusal(decided(newer, source=old, op="delete")) == "what stands is newer: 'Team'"


@pytest.mark.parametrize("given", [{"key": "plan"}, {"key": "anything", "fact_id": str(id_of("fact Starter"))}])
def test_a_customer_takes_a_fact_back(given: dict[str, Any]) -> None:
    """A DELETE ends the fact that it names by id or by key, and cites its mail."""
    event = decided(known("Starter"), known("40", key="seats"), source=source(), op="delete", **given)
    assert isinstance(event, FactRetracted)
    assert (event.fact_id, event.source_mail) == (id_of("fact Starter"), id_of("mail"))


def test_a_mail_does_not_delete_what_a_person_recorded() -> None:
    """A person's word is taken back by a person only."""
    assert refusal(decided(known(**HUMAN), source=source(), op="delete")) == "a person here said otherwise: 'Starter'"


def test_a_fact_with_a_last_day_expires_when_that_day_is_over() -> None:
    """'Until 15 January' holds on the 15th and not on the 16th."""
    event = decided(source=source(), valid_to=date(2026, 1, 15))
    assert isinstance(event, FactRecorded)
    assert event.expires_at == datetime(2026, 1, 16, tzinfo=UTC)


def test_a_person_adds_and_is_believed() -> None:
    """A person's fact replaces what mails said of the key, with the highest trust."""
    (event,) = decide_requests.request(person(known()), asked("add", value="Enterprise"), NEW, NOW, STANDARD)
    assert isinstance(event, FactRecorded)
    assert (event.trust, event.confidence, event.valid_from) == ("human", 0.95, NOW)
    assert event.supersedes == (id_of("fact Starter"),)
    assert event.rule == "grace said so"


def test_a_person_corrects_the_fact_that_is_meant() -> None:
    """A correction keeps kind and key of what it corrects, whatever the request says."""
    wanted = asked("correct", fact_id=id_of("fact Starter"), kind="note", key="else", value="Team")
    (event,) = decide_requests.request(person(known()), wanted, NEW, NOW, STANDARD)
    assert isinstance(event, FactRecorded)
    assert event.corrects
    assert event.valid_from == known().valid_from
    assert (event.kind, event.key, event.value, event.supersedes) == (
        "customer_info",
        "plan",
        "Team",
        (id_of("fact Starter"),),
    )


def test_a_correction_keeps_what_it_does_not_correct() -> None:
    """The end, the pin and the parents of the wrong fact are the right one's, unless an end is given."""
    wrong = known(expires_at=NEXT_MONTH, pinned=True, parents=(id_of("parent"),))
    for until, ends in ((None, NEXT_MONTH), (date(2026, 4, 30), datetime(2026, 5, 1, tzinfo=UTC))):
        wanted = asked("correct", fact_id=wrong.fact_id, value="Team", valid_to=until)
        event, pin = decide_requests.request(person(wrong), wanted, NEW, NOW, STANDARD)
        assert isinstance(event, FactRecorded)
        assert (event.expires_at, event.parents) == (ends, (id_of("parent"),))
        assert pin == FactPinned(participant_id=event.participant_id, fact_id=NEW, pinned=True, by="grace")


def test_a_persons_facts_follow_the_operators_tables() -> None:
    """What a mailbox's settings say of kinds and values holds for what people add as well."""
    policy = extended(MemorySettings(values={"child": "multi"}, kinds={"class": "a"}), MemorySettings())
    first = known("Tim", key="child", single_valued=False)
    wanted = asked("add", kind="class", key="child", value="Ben")
    (event,) = decide_requests.request(person(first), wanted, NEW, NOW, policy)
    assert isinstance(event, FactRecorded)
    assert (event.single_valued, event.supersedes) == (False, ())


def test_a_fact_that_is_added_without_a_sentence_says_its_key() -> None:
    """A bare value answers no question: the key is what one asks by."""
    (event,) = decide_requests.request(person(), asked("add", value="Enterprise"), NEW, NOW, STANDARD)
    assert isinstance(event, FactRecorded)
    assert event.text == "plan: Enterprise"


@pytest.mark.parametrize(
    ("sentence", "right"),
    [
        ("Ada is on the Starter plan.", "Ada is on the Team plan."),
        ("Starters are on Starter.", "Starters are on Team."),
        ("Ada has the small plan.", "plan: Team"),
        ("Starter, as it says: Starter", "plan: Team"),
    ],
)
def test_a_correction_keeps_the_sentence_that_it_corrects(sentence: str, right: str) -> None:
    """The old sentence with the new value, where it is clear which word that is; else the key and the value."""
    wanted = asked("correct", fact_id=id_of("fact Starter"), value="Team")
    (event,) = decide_requests.request(person(known(text=sentence)), wanted, NEW, NOW, STANDARD)
    assert isinstance(event, FactRecorded)
    assert event.text == right


@pytest.mark.parametrize("op", ["pin", "unpin"])
def test_a_person_pins_and_lets_go(op: str) -> None:
    """Pinning and letting go name the fact and the person."""
    (event,) = decide_requests.request(person(known()), asked(op, fact_id=id_of("fact Starter")), NEW, NOW, STANDARD)
    assert isinstance(event, FactPinned)
    assert (event.fact_id, event.pinned, event.by) == (id_of("fact Starter"), op == "pin", "grace")


def test_a_person_makes_us_forget() -> None:
    """A person may end any fact, a person's too."""
    wanted = asked("forget", fact_id=id_of("fact Starter"))
    (event,) = decide_requests.request(person(known(**HUMAN)), wanted, NEW, NOW, STANDARD)
    assert isinstance(event, FactRetracted)
    assert event.reason == "grace took it back"


@pytest.mark.parametrize("op", ["correct", "pin", "unpin", "forget"])
def test_a_wish_about_no_fact_of_this_person_is_refused(op: str) -> None:
    """Nobody's fact, or another participant's, cannot be changed through this one."""
    (event,) = decide_requests.request(person(known()), asked(op, fact_id=id_of("foreign")), NEW, NOW, STANDARD)
    assert refusal(event) == "there is no such fact"
