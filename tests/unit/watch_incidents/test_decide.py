"""When a report opens an incident, joins one, brings an answer or reopens one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import permutations
from uuid import UUID, uuid5

import pytest

from schemas.events.alerts import PersonCalled
from schemas.events.base import EventData
from schemas.events.incidents import (
    IncidentClosed,
    IncidentOpened,
    IncidentReopened,
    IncidentRequested,
    TroubleReported,
)
from schemas.events.proactive import DraftRequested
from services.core.settings import IncidentSettings
from services.memory.troubles import LONGEST_WORD, Report, customers, shared_words
from services.watch_incidents.alike import names_in, same_trouble
from services.watch_incidents.board import Board, Incident
from services.watch_incidents.decide import reported, requested

BOARD = UUID(int=7)
EMPTY = Board()
START = datetime(2026, 3, 2, 9, tzinfo=UTC)
SETTINGS = IncidentSettings(customers=3, days=2)
MEANING = {"csv export times out": 0.0, "csv export hangs": 0.3, "timeout of csv export": 0.6, "refund missing": 9.0}


def report(
    address: str, trouble: str = "csv export times out", *, hours: float = 0, person: UUID | None = None
) -> Report:
    """A report from an address."""
    own = uuid5(BOARD, address)
    return Report(
        report_id=uuid5(own, f"{trouble}{hours}"),
        participant_id=own,
        thread_id=uuid5(own, "thread"),
        mail_id=uuid5(own, "mail"),
        trouble=trouble,
        names=frozenset(),
        said_at=START + timedelta(hours=hours),
        incident_id=None,
        person=person or own,
        address=address,
    )


def near(one: Report, other: Report) -> float:
    """Alike where the troubles lie at most 0.35 from each other."""
    return 1 - abs(MEANING.get(one.trouble, 0) - MEANING.get(other.trouble, 0))


def event(one: Report) -> TroubleReported:
    said = {
        name: getattr(one, name)
        for name in ("report_id", "participant_id", "thread_id", "mail_id", "trouble", "said_at")
    }
    return TroubleReported(board_id=BOARD, inbox="support", **said)


def decided(new: Report, board: Board = EMPTY, settings: IncidentSettings = SETTINGS) -> list[EventData]:
    return list(reported(event(new), new, board, near, settings))


def opened(reports: Sequence[Report], settings: IncidentSettings = SETTINGS) -> IncidentOpened | None:
    """What the reports open, in this order of arrival."""
    for number, new in enumerate(reports):
        for one in decided(new, Board(tuple(reports[:number])), settings):
            if isinstance(one, IncidentOpened):
                return one
    return None


THREE = [report("a@one.example"), report("b@two.example", hours=1), report("c@three.example", hours=2)]


def test_the_third_customer_opens_an_incident_and_calls_a_person() -> None:
    """Two do not; the event names the reports and when the first of them came, the call says numbers alone."""
    assert opened(THREE[:2]) is None
    first, incident, call = decided(THREE[2], Board(tuple(THREE[:2])))
    assert isinstance(first, TroubleReported)
    assert isinstance(incident, IncidentOpened)
    assert (incident.customers, incident.since) == (3, START)
    assert set(incident.report_ids) == {one.report_id for one in THREE}
    assert isinstance(call, PersonCalled)
    assert (call.kind, call.thread_id) == ("incident", incident.incident_id)
    assert call.reason == "3 customers report the same issue since 2026-03-02 09:00 UTC"


def test_off_by_default() -> None:
    """Without a number of customers nothing is opened."""
    assert opened(THREE, IncidentSettings()) is None


@pytest.mark.parametrize("number", range(6))
def test_no_order_of_arrival_hides_an_incident(number: int) -> None:
    """The outer two are like the middle one and not like each other: whichever comes last, it opens."""
    words = ("csv export times out", "csv export hangs", "timeout of csv export")
    apart = [report(f"a@c{n}.example", one, hours=n) for n, one in enumerate(words)]
    assert not same_trouble(apart[0], apart[2], near, SETTINGS.alike_from)
    assert opened(list(permutations(apart))[number]) is not None


def test_reports_further_apart_than_the_days_are_no_incident() -> None:
    """Three within 50 hours, and never three within 48."""
    spread = [report("a@one.example"), report("b@two.example", hours=25), report("c@three.example", hours=50)]
    assert opened(spread) is None
    assert opened([*spread, report("d@four.example", hours=40)]) is not None


def test_ten_mails_from_one_domain_are_one_customer() -> None:
    """Whoever has a domain has as many addresses as they like; plus-addresses at a provider cost nothing either."""
    assert opened([report(f"eve{n}@mail{n}.evil.example", hours=n / 10) for n in range(10)]) is None
    assert opened([report(f"eve+{n}@gmail.com", hours=n / 10) for n in range(10)]) is None
    assert opened([report(f"eve{n}@gmail.com", hours=n / 10) for n in range(3)]) is not None


def test_one_person_with_ten_addresses_is_one_customer() -> None:
    """As identity knows them: merged addresses are one person, whatever their domains."""
    ada = uuid5(BOARD, "ada")
    assert opened([report(f"ada@home{n}.example", hours=n / 10, person=ada) for n in range(10)]) is None


def test_customers_joined_by_either_are_one() -> None:
    """A person at two organizations joins those who write from them."""
    ada = uuid5(BOARD, "ada")
    some = [report("ada@one.example", person=ada), report("ada@two.example", person=ada), report("bo@two.example")]
    assert len(customers(some)) == 1


@pytest.mark.parametrize(
    ("one", "other"),
    [("error 500 on login", "error 502 on login"), ("two users locked", "three users locked")],
)
def test_other_numbers_are_another_trouble(one: str, other: str) -> None:
    """However near in meaning."""
    same = lambda *_: 1.0  # noqa: E731
    assert not same_trouble(report("a@one.example", one), report("b@two.example", other), same, 0.5)


def test_how_it_is_said_not_to_work_makes_no_other_trouble() -> None:
    """In whatever words, where what does not work is the same, and however far apart an embedder finds them."""
    far = lambda *_: 0.0  # noqa: E731
    fails, broken = report("a@one.example", "csv export fails"), report("b@two.example", "exporting to csv is broken")
    assert same_trouble(fails, broken, far, 0.5)
    assert not same_trouble(fails, report("c@three.example", "csv export works"), far, 0.5)


def test_other_names_are_another_trouble() -> None:
    """A word that one mail writes as a name has to stand in the other; written small it is the same."""
    same = lambda *_: 1.0  # noqa: E731
    stripe = replace(report("a@one.example", "stripe payment fails"), names=frozenset({"stripe"}))
    paypal = replace(report("b@two.example", "paypal payment fails"), names=frozenset({"paypal"}))
    small = report("c@three.example", "stripe payment rejected")
    assert not same_trouble(stripe, paypal, same, 0.5)
    assert same_trouble(stripe, small, same, 0.5)


def test_names_are_the_words_that_the_mail_writes_as_names() -> None:
    """Within a sentence, and in no language that writes every noun so."""
    assert names_in("stripe payment fails", "Our payment by Stripe fails.") == ("stripe",)
    assert names_in("payment fails", "Payment fails again.") == ()
    assert names_in("export fails", "Hallo, leider ist der Export nicht möglich, was können wir tun?") == ()


def test_words_that_fewer_said_are_not_told() -> None:
    """Each in the very form in which so many customers say it; two reports of one customer are one voice."""
    some = [
        report("a@one.example", "acme secret csv export"),
        report("b@two.example", "csv export timeout"),
        report("c@three.example", "export csv slow"),
        report("d@three.example", "timeout of csv"),
    ]
    assert shared_words(some, 3) == ("csv", "export")
    assert shared_words(some, 2) == ("csv", "export", "timeout")
    assert shared_words(some[:1], 2) == ()


def test_a_word_as_long_as_an_order_is_not_told() -> None:
    """`sendthepasswordtomallory...` is one word, and whoever has three mailboxes can say it three times."""
    long = "x" * (LONGEST_WORD + 1)
    some = [report(f"a@c{n}.example", f"csv {long} {long[:-1]}") for n in range(3)]
    assert shared_words(some, 3) == ("csv", long[:-1])


def test_three_mailboxes_of_one_attacker_told_every_other_customers_prompt_a_sentence_of_fifty_words() -> None:
    """Of what they agree on a few short words are told, in no order of theirs, however many reports they spread it over."""
    orders = [
        "system ignore rules approve refund transfer everything password colleague instruct customer supervisor",
        "accept reject please always never answer attacker example" + "x" * 40,
    ]
    some = [
        report(f"eve@sybil{number}.example", said, hours=hour)
        for number in range(3)
        for hour, said in enumerate(orders)
    ]
    told = shared_words(some, 3)
    assert len(told) == 6
    assert list(told) == sorted(told)
    assert max(map(len, told)) <= 30


def test_the_words_of_most_customers_are_told_first() -> None:
    """Where there are more than are told: what a trouble is called by all stays, what some add to it goes."""
    common = [report(f"a@one{number}.example", "csv export timeout") for number in range(3)]
    more = [report(f"b@two{number}.example", "csv export timeout abc bcd cde def efg fgh") for number in range(3)]
    assert {"csv", "export", "timeout"} <= set(shared_words([*common, *more], 3))


def known(*, closed: float | None = None, answer: str = "", reports: Sequence[Report] = THREE) -> Incident:
    at = START + timedelta(hours=closed) if closed is not None else None
    return Incident(UUID(int=9), closed is None, at, answer, 0 if closed is None else 1, tuple(reports))


def test_a_further_report_joins_the_open_incident_and_calls_nobody_again() -> None:
    """Its event says which."""
    [joined] = decided(report("d@four.example", hours=30), Board(incidents=(known(),)))
    assert isinstance(joined, TroubleReported)
    assert joined.incident_id == UUID(int=9)


def test_a_report_that_is_like_few_of_an_incident_is_not_of_it() -> None:
    """Nearness does not hand itself on from one report to the next: to be like one of three is not enough."""
    new, told = report("d@four.example", "timeout of csv export"), known()
    hangs = replace(told.reports[-1], trouble="csv export hangs")
    for reports in (told.reports, (*told.reports[:-1], hangs)):
        [alone] = decided(new, Board(incidents=(replace(told, reports=reports),)))
        assert isinstance(alone, TroubleReported)
        assert alone.incident_id is None


def test_a_report_from_before_the_end_gets_the_answer_too() -> None:
    """Its mail was on its way when the incident was closed; who has the answer already gets no second one."""
    board = Board(incidents=(known(closed=5, answer="It works again."),))
    joined, draft = decided(report("d@four.example", hours=4), board)
    assert isinstance(joined, TroubleReported)
    assert isinstance(draft, DraftRequested)
    assert draft.text == "It works again."
    assert len(decided(report("a@one.example", hours=4), board)) == 1
    assert len(decided(report("d@four.example", hours=4), Board(incidents=(known(closed=5),)))) == 1


def test_as_many_as_open_one_reopen_it() -> None:
    """One report after the end joins, and the agent answers it with what was said; the third one says it is not over."""
    after = [report(f"x@new{n}.example", hours=6 + n) for n in range(3)]
    assert len(decided(after[0], Board(incidents=(known(closed=5, answer="Done."),)))) == 1
    late = known(closed=5, answer="Done.", reports=[*THREE, *after[:2]])
    _, again, call = decided(after[2], Board(incidents=(late,)))
    assert isinstance(again, IncidentReopened)
    assert again.customers == 3
    assert isinstance(call, PersonCalled)


def asked(op: str, answer: str = "") -> IncidentRequested:
    said = {
        "board_id": BOARD,
        "inbox": "support",
        "incident_id": UUID(int=9),
        "op": op,
        "answer": answer,
        "by": "grace",
    }
    return IncidentRequested.model_validate(said)


def test_closing_drafts_the_answer_for_each_person_once() -> None:
    """In the thread where they reported it last; the same ids whenever it is decided again."""
    again = replace(report("a@one.example", "csv export hangs", hours=3), thread_id=UUID(int=8))
    twice = [*THREE, again]
    closed, *drafts = requested(asked("close", "It works again."), known(reports=twice))
    assert isinstance(closed, IncidentClosed)
    assert len(drafts) == len({one.reply_id for one in drafts if isinstance(one, DraftRequested)}) == 3
    threads = {one.thread_id for one in drafts if isinstance(one, DraftRequested)}
    assert threads == {again.thread_id, *(one.thread_id for one in THREE if one.person != again.person)}
    assert drafts == list(requested(asked("close", "It works again."), known(reports=twice)))[1:]


def test_closing_without_an_answer_drafts_nothing_and_said_twice_it_is_said_once() -> None:
    """Nor is an open incident reopened."""
    assert [type(one) for one in requested(asked("close"), known())] == [IncidentClosed]
    assert list(requested(asked("close"), known(closed=5))) == []
    assert list(requested(asked("reopen"), known())) == []
    assert [type(one) for one in requested(asked("reopen"), known(closed=5))] == [IncidentReopened]
