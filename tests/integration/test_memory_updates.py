"""What is believed, and what was: newer values, corrections, ends, late mails, quoted history."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest

from deploy.local import Endpoints
from schemas.events.threads import ReplyAttached, StateChanged
from services import track_threads
from services.core.bus.runner import enter
from services.core.clock import random_id
from services.core.settings import ConfidenceSettings, RecallSettings
from services.memory.embeddings import meanings
from services.memory.search import search_facts
from services.memory.tuning import tuned
from services.operations.memory.facts import RememberedFact, current, history
from services.operations.memory.past import as_of
from services.operations.rebuild.projections import fold, state_hash
from services.operations.rebuild.shadow_schema import connected
from tests.support.remembering import ADA, Memory, day, fact, remembering
from tests.support.stack import fresh_database


@pytest.fixture
async def memory(stack: Endpoints, database: str, topic_prefix: str, tmp_path: Path) -> AsyncIterator[Memory]:
    async with remembering(stack, database, topic_prefix, tmp_path) as one:
        yield one


async def plan(memory: Memory, on: float, known_on: float = 999, key: str = "plan", addr: str = ADA) -> str | None:
    """What a key was on one day of valid time, as it was known on another."""
    async with memory.app.database.reading() as conn:
        rows = await as_of(conn, memory.workspace, memory.person(addr), valid_at=day(on), known_at=day(known_on))
    values = [row.value for row in rows if row.key == key]
    assert len(values) <= 1
    return values[0] if values else None


async def believed(memory: Memory, on: float, addr: str = ADA) -> set[str]:
    """The values of one day of valid time, as they are known today."""
    async with memory.app.database.reading() as conn:
        return {
            row.value
            for row in await as_of(conn, memory.workspace, memory.person(addr), valid_at=day(on), known_at=day(999))
        }


async def told(memory: Memory, value: str, on: float, sent_on: float | None = None) -> None:
    text = f"Hello,\n\nwe are on the {value} plan now.\n"
    await memory.tell(text, fact("plan", value, f"on the {value} plan"), on=on, sent_on=sent_on)


async def test_a_newer_value_replaces_the_older_and_both_keep_their_time(memory: Memory) -> None:
    """The newer value is current; before it began, the older one was so."""
    await told(memory, "Starter", 1)
    await told(memory, "Team", 10)
    assert await memory.current() == ["Team"]
    assert [await plan(memory, on) for on in (0.5, 5, 10, 99)] == [None, "Starter", "Team", "Team"]
    assert await plan(memory, 99, known_on=5) == "Starter"


async def test_a_late_mail_changes_the_past_and_not_the_present(memory: Memory) -> None:
    """An older mail that arrives late is so in its own time; what we believed before it came stays on record."""
    await told(memory, "Starter", 1)
    await told(memory, "Growth", 10)
    await told(memory, "Team", 12, sent_on=6)
    assert await memory.current() == ["Growth"]
    assert [await plan(memory, on) for on in (3, 6, 8, 10)] == ["Starter", "Team", "Team", "Growth"]
    assert await plan(memory, 8, known_on=11) == "Starter"
    (row,) = await memory.rows("SELECT valid_to, superseded_at FROM facts WHERE value = 'Team'")
    assert (row["valid_to"], row["superseded_at"]) == (day(10), day(12))
    (starter,) = await memory.rows("SELECT valid_to FROM facts WHERE value = 'Starter'")
    assert starter["valid_to"] == day(6)


async def test_any_order_of_arrival_gives_the_same_answers(memory: Memory) -> None:
    """Mails of one history, imported in any of their 24 orders, give the same value at every time."""
    said = [("Starter", 1), ("Team", 5), ("Starter", 9), ("Growth", 13)]
    for number, order in enumerate(permutations(said)):
        addr = f"p{number}@acme.example"
        for arrival, (value, written) in enumerate(order):
            claim = fact("plan", value, f"on the {value} plan")
            text = f"Hello,\n\nwe are on the {value} plan now.\n"
            await memory.tell(text, claim, on=20 + arrival, sent_on=written, history_mode=True, sender=addr)
        assert await memory.current(addr=addr) == ["Growth"]
        answers = [await plan(memory, on, addr=addr) for on in (0, 3, 5, 7, 9.5, 12, 14, 99)]
        assert answers == [None, "Starter", "Team", "Team", "Starter", "Starter", "Growth", "Growth"], order


async def test_what_a_person_corrects_was_never_so(memory: Memory) -> None:
    """A correction takes the wrong value's place from its beginning; as it was known then, it still stands."""
    await told(memory, "Starter", 1)
    (row,) = await memory.rows("SELECT fact_id FROM facts")
    await memory.ask("correct", 10, fact_id=row["fact_id"], value="Team")
    assert await memory.current() == ["Team"]
    assert await plan(memory, 5) == "Team"
    assert await plan(memory, 5, known_on=9) == "Starter"
    await told(memory, "Starter", 12, sent_on=8)
    assert await memory.current() == ["Team"]
    assert (await memory.refusals())[-1] == "a person here took this back since"


async def test_what_the_customer_ends_was_so_until_then(memory: Memory) -> None:
    """After a DELETE there is no current value, and the past keeps its own; an older mail does not revive it."""
    await told(memory, "Starter", 1)
    await told(memory, "Team", 5)
    gone = "We have cancelled our plan."
    await memory.tell(gone, fact("plan", "", "cancelled our plan", op="delete", text="cancelled"), on=10)
    assert await memory.current() == []
    assert [await plan(memory, on) for on in (3, 7, 10, 99)] == ["Starter", "Team", None, None]
    await told(memory, "Starter", 12, sent_on=8)
    assert await memory.current() == []
    assert [await plan(memory, on) for on in (7, 9, 10)] == ["Team", "Starter", None]


async def test_what_a_person_makes_us_forget_is_not_so_at_any_time(memory: Memory) -> None:
    """A forgotten fact answers nothing, at any valid time; the log says who took it back."""
    await told(memory, "Starter", 1)
    (row,) = await memory.rows("SELECT fact_id FROM facts")
    await memory.ask("forget", 10, fact_id=row["fact_id"])
    assert await memory.current() == []
    assert [await plan(memory, on) for on in (5, 99)] == [None, None]
    async with memory.app.database.reading() as conn:
        (entry,) = await history(conn, memory.workspace, memory.person(), day(9))
    assert [line.reason for line in entry.log][-1] == "grace took it back"


async def test_what_a_person_said_stands_against_mails_until_they_correct_it(memory: Memory) -> None:
    """Human beats authenticated, whichever is newer."""
    await told(memory, "Starter", 1)
    await memory.ask("add", 5, key="plan", value="Enterprise", kind="customer_info")
    await told(memory, "Team", 9)
    assert await memory.current() == ["Enterprise"]
    assert (await memory.refusals())[-1] == "a person here said otherwise: 'Enterprise'"


async def test_quoted_history_is_no_news(memory: Memory) -> None:
    """An old mail quoted below a new one says nothing, however the model cites it."""
    await told(memory, "Starter", 1)
    await told(memory, "Team", 5)
    reply = (
        "Any news?\n\nOn Tue, 6 Jan 2026 at 10:00, Ada <ada@acme.example> wrote:\n> we are on the Starter plan now.\n"
    )
    await memory.tell(reply, fact("plan", "Starter", "on the Starter plan"), on=9)
    assert await memory.current() == ["Team"]
    assert (await memory.refusals())[-1] == "the quote stands in no mail of this turn"


async def test_an_update_changes_its_key_and_nothing_else(memory: Memory) -> None:
    """A new value of one key leaves every other fact, of this person and of others, as it was."""
    await told(memory, "Starter", 1)
    other = fact("seats", "40", "for 40 people")
    await memory.tell("We pay for 40 people.", other, on=2)
    await memory.tell("We pay for 40 people.", other, on=2, sender="bob@else.example")
    query = "SELECT fact_id, value, version, superseded_at, valid_to, confidence FROM facts WHERE key = 'seats'"
    before = await memory.rows(query + " ORDER BY fact_id")
    await told(memory, "Team", 9)
    assert await memory.rows(query + " ORDER BY fact_id") == before
    assert len(before) == 2


async def test_a_number_for_a_while_gives_the_permanent_one_back(memory: Memory) -> None:
    """'Until 15 January reach me on ...' stands over the permanent number until then, in either order of arrival."""
    phone = {"kind": "contact_info"}
    for_now = fact("phone", "222222", "reach me on 222222", valid_to="2026-01-15", **phone)
    permanent = fact("phone", "111111", "My number is 111111", **phone)
    await memory.tell("My number is 111111.", permanent, on=1)
    await memory.tell("Until 15 January reach me on 222222.", for_now, on=5)
    late = "bob@acme.example"
    await memory.tell("Until 15 January reach me on 222222.", for_now, on=5, sender=late)
    await memory.tell("My number is 111111.", permanent, on=6, sent_on=1, sender=late)
    for addr in (ADA, late):
        assert [await believed(memory, at, addr) for at in (4, 8, 30)] == [
            {"111111"},
            {"111111", "222222"},
            {"111111"},
        ]
    assert await memory.refusals() == []


async def test_a_plan_that_was_over_ends_no_other(memory: Memory) -> None:
    """'Until 31 December we were on Enterprise' leaves Team as it is, now and as of any day."""
    await memory.tell("We are on the Team plan.", fact("plan", "Team", "on the Team plan"), on=1)
    over = fact("plan", "Enterprise", "we were on the Enterprise plan", valid_to="2025-12-31")
    await memory.tell("Until 31 December we were on the Enterprise plan, as the invoices say.", over, on=10)
    assert await memory.current() == ["Team"]
    assert [await believed(memory, at) for at in (5, 11)] == [{"Team"}] * 2


async def test_ends_and_doubts_fold_alike(memory: Memory, stack: Endpoints, template_database: str) -> None:
    """Values for a while, ends in the past and doubts are the same after a rebuild."""
    await memory.tell("We sit in Berlin.", fact("city", "Berlin", "sit in Berlin"), on=1)
    await memory.tell("Wir sind nach München umgezogen.", fact("city", "Munich", "nach München umgezogen"), on=2)
    (doubted,) = await memory.rows("SELECT value, stale_since FROM facts")
    assert (doubted["value"], doubted["stale_since"]) == ("Berlin", day(2))
    await memory.tell("Ja, München.", fact("city", "Munich", "Ja, München"), on=3)
    assert await memory.current("city") == ["Munich"]
    over = fact("plan", "Pro", "were on Pro", valid_to="2025-12-31")
    for_now = fact("seats", "60", "60 seats", valid_to="2026-02-28")
    team = fact("plan", "Team", "it is Team")
    await memory.tell("We were on Pro. Now it is Team, with 60 seats until February.", over, team, for_now, on=4)
    with fresh_database(stack.database, template=template_database) as target:
        async with connected(memory.app.settings.database_url, memory.app.keys) as source:
            assert await fold(source, target) > 5
        async with connected(target) as conn:
            assert await state_hash(conn) == await memory.state()


async def test_what_expires_leaves_by_itself(memory: Memory) -> None:
    """'On vacation until 15 January' holds on the 15th, not on the 16th, and no event is needed."""
    away = fact("absence", "on vacation", "on vacation until 15 January", kind="event", valid_to="2026-01-15")
    await memory.tell("I am on vacation until 15 January.", away, on=1)
    assert await plan(memory, 10, key="absence") == "on vacation"  # 15 January
    assert await plan(memory, 11, key="absence") is None


async def test_a_vacation_that_is_extended_or_taken_again_holds_until_its_new_end(memory: Memory) -> None:
    """A new last day takes the place of the known one, in time or after it is over; what was known then stays so."""
    for on, until in ((1, "2026-01-15"), (8, "2026-01-20"), (30, "2026-02-28")):
        words = f"on vacation until {until}"
        away = fact("absence", "on vacation", words, kind="event", valid_to=until)
        await memory.tell(f"I am {words}.", away, on=on)
    answers = [await plan(memory, on, key="absence") for on in (10, 15, 16, 29, 40, 54, 55)]
    away, back = "on vacation", None
    assert answers == [away, away, back, back, away, away, back]
    assert await plan(memory, 12, known_on=7, key="absence") is None


async def test_a_plan_that_gets_an_end_expires(memory: Memory) -> None:
    """'Still Team, until 31 January' ends the plan by itself."""
    await told(memory, "Team", 1)
    ends = fact("plan", "Team", "Still on the Team plan", valid_to="2026-01-31")
    await memory.tell("Still on the Team plan, until 31 January.", ends, on=5)
    assert [await plan(memory, on) for on in (3, 26, 27)] == ["Team", "Team", None]


async def test_further_mails_make_a_fact_surer_and_repeats_do_not(memory: Memory) -> None:
    """Confidence grows with distinct messages and threads, and not with the same mail read again."""
    await told(memory, "Team", 1)
    mail = await memory.tell("We are on the Team plan.", fact("plan", "Team", "on the Team plan"), on=3)
    for _ in range(3):
        await memory.learn(mail, fact("plan", "team", "on the Team plan"))
    (row,) = await memory.rows("SELECT confidence FROM facts")
    assert row["confidence"] == pytest.approx(1 - 0.3 * 0.6 * 0.8)
    sources = await memory.rows("SELECT * FROM fact_sources JOIN mails USING (mail_id) ORDER BY said_at")
    assert len(sources) == 2
    for one in sources:
        assert one["text"][one["span_start"] : one["span_end"]] == one["quote"] == "on the Team plan"
        assert one["quote_sha256"] == sha256(one["quote"].encode()).hexdigest()


async def test_what_people_change_follows_the_tables_and_keeps_the_rest(memory: Memory) -> None:
    """A key that a mailbox lets have several values has them for people too; a correction keeps end, pin and parents."""
    inbox = memory.app.settings.inboxes[0]
    pupils = inbox.model_copy(update={"memory": inbox.memory.model_copy(update={"values": {"child": "multi"}})})
    memory.app = replace(memory.app, settings=memory.app.settings.model_copy(update={"inboxes": (pupils,)}))
    await told(memory, "Starter", 1)
    (parent,) = await memory.rows("SELECT fact_id FROM facts")
    given = {"key": "child", "kind": "customer_info", "valid_to": "2026-07-31", "parents": [parent["fact_id"]]}
    for on, child in ((2, "Tim"), (3, "Bem")):
        await memory.ask("add", on, value=child, **given)
    assert await memory.current("child") == ["Bem", "Tim"]
    (wrong,) = await memory.rows("SELECT fact_id FROM facts WHERE value = 'Bem'")
    await memory.ask("pin", 4, fact_id=wrong["fact_id"])
    await memory.ask("correct", 5, fact_id=wrong["fact_id"], value="Ben")
    query = "SELECT fact_id, pinned, expires_at FROM facts WHERE value = 'Ben' AND superseded_at IS NULL"
    (right,) = await memory.rows(query)
    assert (right["pinned"], right["expires_at"]) == (True, datetime(2026, 8, 1, tzinfo=UTC))
    parents = "SELECT parent_id FROM fact_parents WHERE fact_id = %(id)s"
    assert await memory.rows(parents, id=right["fact_id"]) == [{"parent_id": parent["fact_id"]}]


async def weight(memory: Memory, key: str, stale: float) -> float:
    """What a fact weighs when it is searched where a stale one is to weigh so much."""
    (meaning,) = await meanings(memory.app.embedder, [key])
    async with memory.app.database.reading() as conn:
        hits = await search_facts(
            conn,
            workspace=memory.workspace,
            participant_id=memory.person(),
            query_text=key,
            meaning=meaning,
            now=day(9),
            settings=tuned(RecallSettings(stale_weight=stale)).search,
        )
    (found,) = [hit.fact.weight for hit in hits if hit.fact.key == key]
    return found


async def test_a_derived_fact_is_marked_stale_and_believed_again_when_it_is_said(memory: Memory) -> None:
    """When its parent changes, a derived fact weighs half; said anew, it weighs in full again."""
    await told(memory, "Team", 1)
    (parent,) = await memory.rows("SELECT fact_id FROM facts")
    await memory.ask("add", 2, key="segment", value="mid market", kind="customer_info", parents=[parent["fact_id"]])
    await told(memory, "Enterprise", 5)
    query = "SELECT weight, stale_since FROM facts WHERE key = 'segment'"
    (row,) = await memory.rows(query)
    assert (row["weight"], row["stale_since"]) == (0.5, day(5))
    assert [await weight(memory, "segment", stale) for stale in (0.5, 0.2)] == [0.5, 0.2]
    assert await weight(memory, "plan", 0.2) == 1
    again = fact("segment", "mid market", "still mid market")
    await memory.tell("We are still mid market.", again, on=6)
    (row,) = await memory.rows(query)
    assert (row["weight"], row["stale_since"]) == (1, None)


async def test_near_duplicates_become_one_and_can_be_taken_apart(memory: Memory) -> None:
    """Two wordings of one trouble are shown as one with both supports; undoing it brings the member back."""
    given = {"kind": "issue_history", "op": "add"}
    first = fact("export", "export is slow", "export is slow", text="Ada reports that the export is slow.", **given)
    second = fact("export", "slow exporting", "exporting is slow", text="Ada reports that exporting is slow.", **given)
    await memory.tell("The export is slow.", first, on=1)
    await memory.tell("Exporting is slow. Yes, exporting is slow.", second, on=2)
    assert await memory.current("export") == ["export is slow"]
    (kept,) = await memory.rows("SELECT fact_id, confidence FROM facts WHERE superseded_at IS NULL")
    assert kept["confidence"] > 0.8
    await memory.ask("unmerge", 3, fact_id=kept["fact_id"])
    assert await memory.current("export") == ["export is slow", "slow exporting"]
    rows = await memory.rows("SELECT confidence FROM facts")
    assert {round(row["confidence"], 4) for row in rows} == {0.7}, "each rests on its own mail again"


async def test_one_value_under_two_keys_is_one_until_a_person_takes_it_apart(memory: Memory) -> None:
    """It is kept under the older key with both mails, newer values find it, and the log says what was merged."""
    given = {"kind": "preference", "op": "add"}
    await memory.tell("Send PDF reports.", fact("report format", "PDF", "PDF reports", **given), on=1)
    await memory.tell("As before, PDF reports.", fact("format of reports", "PDF", "PDF reports", **given), on=2)
    await memory.tell("Send CSV reports now.", fact("format of reports", "CSV", "CSV reports", **given), on=3)
    now = "SELECT fact_id, key, value FROM facts WHERE superseded_at IS NULL"
    (one,) = await memory.rows(now)
    assert (one["key"], one["value"]) == ("report format", "CSV")
    async with memory.app.database.reading() as conn:
        told = await history(conn, memory.workspace, memory.person(), day(4))
    assert [each.fact.status(day(4)) for each in told] == ["merged", "past", "current"]
    assert "format of reports = 'PDF'" in next(line.reason for line in told[1].log if line.decision == "merged")
    await memory.ask("unmerge", 5, fact_id=one["fact_id"])
    assert [row["value"] for row in await memory.rows(now)] == ["CSV"]
    await memory.tell("CSV reports, as I said.", fact("format of reports", "CSV", "CSV reports", **given), on=6)
    rows = await memory.rows(now)
    assert sorted(row["key"] for row in rows) == ["format of reports", "report format"]


async def then(memory: Memory, on: float, known_on: float = 999) -> dict[str, RememberedFact]:
    """The facts of one day by key, as they were known on another."""
    async with memory.app.database.reading() as conn:
        rows = await as_of(conn, memory.workspace, memory.person(), valid_at=day(on), known_at=day(known_on))
    return {row.key: row for row in rows}


async def test_the_past_is_shown_with_the_marks_that_it_had(memory: Memory) -> None:
    """How sure we were, what was pinned and what was stale on a day is made of what was recorded by then."""
    await told(memory, "Team", 1)
    (parent,) = await memory.rows("SELECT fact_id FROM facts")
    await memory.ask("add", 2, key="segment", value="mid market", kind="customer_info", parents=[parent["fact_id"]])
    await told(memory, "Team", 4)
    await memory.ask("pin", 6, fact_id=parent["fact_id"])
    await memory.ask("unpin", 8, fact_id=parent["fact_id"])
    await told(memory, "Growth", 10)
    days = {on: await then(memory, on) for on in (3, 5, 7, 9, 11)}
    assert [days[on]["plan"].pinned for on in days] == [False, False, True, False, False]
    assert [days[on]["segment"].status(day(on)) for on in days] == ["current"] * 4 + ["stale"]
    assert days[3]["plan"].confidence == ConfidenceSettings().authenticated < days[5]["plan"].confidence
    unaware = (await then(memory, 9, known_on=3))["plan"]
    assert (unaware.confidence, unaware.pinned, unaware.superseded_at) == (
        ConfidenceSettings().authenticated,
        False,
        None,
    )
    assert days[9]["plan"].confidence == days[5]["plan"].confidence, "what changed since changes nothing then"


async def test_a_fact_that_rests_on_what_has_ended_is_stale_when_it_is_read(memory: Memory) -> None:
    """No decision is needed: what is shown, searched and read as of a day is stale from its parent's last day on."""
    given = {"kind": "customer_info", "key": "cover", "value": "Bo", "valid_to": day(20).date()}
    await told(memory, "Team", 1)
    await memory.ask("add", 1.5, **given)
    (parent,) = await memory.rows("SELECT fact_id, expires_at FROM facts WHERE key = 'cover'")
    ended = (parent["expires_at"] - day(0)) / timedelta(days=1)
    await memory.ask("add", 2, key="contact", value="write to Bo", kind="note", parents=[parent["fact_id"]])
    (row,) = await memory.rows("SELECT stale_since, weight FROM facts WHERE key = 'contact'")
    assert (row["stale_since"], row["weight"]) == (None, 1), "nothing was decided"

    async def shown(on: float) -> str:
        async with memory.app.database.reading() as conn:
            facts = await current(conn, memory.workspace, memory.person(), day(on))
            entries = await history(conn, memory.workspace, memory.person(), day(on), key="contact")
        (one,) = [fact for fact in facts if fact.key == "contact"]
        assert entries[-1].fact.status(day(on)) == one.status(day(on))
        return one.status(day(on))

    async def weighed(on: float) -> float:
        (meaning,) = await meanings(memory.app.embedder, ["whom do I write to"])
        async with memory.app.database.transaction(memory.workspace) as conn:
            hits = await search_facts(
                conn,
                workspace=memory.workspace,
                participant_id=memory.person(),
                query_text="whom do I write to",
                meaning=meaning,
                now=day(on),
            )
        return next(one.fact.weight for one in hits if one.fact.key == "contact")

    assert [await shown(on) for on in (3, ended - 0.1, ended)] == ["current", "current", "stale"]
    assert [await weighed(on) for on in (3, ended - 0.1, ended)] == [1, 1, 0.5]
    seen = {on: (await then(memory, on))["contact"] for on in (3, ended + 1)}
    assert [one.stale_since for one in seen.values()] == [None, parent["expires_at"]]
    await memory.ask("add", ended + 2, key="contact", value="write to Bo", kind="note")
    assert await shown(ended + 2) == "current", "said again, it stands for itself"
    unaware = (await then(memory, ended + 1, known_on=ended + 1))["contact"]
    assert unaware.status(day(ended + 1)) == "stale", "as it was then"


async def test_what_a_person_took_apart_is_not_merged_again(memory: Memory) -> None:
    """Undoing a merge outlasts the next fact, which looks for near-duplicates anew."""
    given = {"kind": "issue_history", "op": "add"}
    for on, words in ((1, "export is slow"), (2, "exporting is slow")):
        trouble = fact("export", words, words, text=f"Ada reports that {words}.", **given)
        await memory.tell(f"The {words}.", trouble, on=on)
    (kept,) = await memory.rows("SELECT fact_id FROM facts WHERE superseded_at IS NULL")
    await memory.ask("unmerge", 3, fact_id=kept["fact_id"])
    other = fact("login", "login fails", "login fails", text="Ada reports that the login fails.", **given)
    await memory.tell("The login fails.", other, on=4)
    assert len(await memory.current("export")) == 2


async def test_our_sent_reply_sources_a_resolution(memory: Memory) -> None:
    """What we granted is remembered from the mail that we sent, as ours, and the customer's claim is not."""
    mail = await memory.mail("My parcel was late. You promised me a refund.", on=1)
    await memory.learn(mail, fact("refund", "promised", "promised me a refund"))
    assert await memory.refusals() == ["only we can establish this"]
    await reply(memory, mail, "I am sorry. I have credited $50 to your account.")
    settled = fact("late parcel", "$50 credit", "credited $50 to your account", kind="resolution")
    await memory.learn(mail, settled)
    (row,) = await memory.rows("SELECT trust, confidence FROM facts WHERE key = 'late parcel'")
    assert (row["trust"], row["confidence"]) == ("ours", pytest.approx(0.7))
    (source,) = await memory.rows("SELECT mail_id, reply_id FROM fact_sources WHERE trust = 'ours'")
    assert source["mail_id"] is None
    assert source["reply_id"] is not None


async def test_how_a_person_resolved_a_thread_is_remembered_as_ours(memory: Memory) -> None:
    """A person's step with its reason is a fact of what we did; a step without words, or by the agent, is none."""
    mail = await memory.mail("My parcel was late.", on=1)
    steps = {"human": ("grace: with a $50 credit", "grace: "), "ai": ("agent: solved",)}
    for trigger, reasons in steps.items():
        for reason in reasons:
            given = {"thread_id": mail["thread_id"], "participant_id": mail["participant_id"], "trigger": trigger}
            step = {**given, "from_state": "in_progress", "to_state": "resolved", "reason": reason}
            await enter(memory.app, memory.event(StateChanged.model_validate(step), day(2)))
    await memory.settle()
    (row,) = await memory.rows("SELECT kind, value, trust, valid_from FROM facts")
    assert (row["kind"], row["value"], row["trust"]) == ("resolution", "with a $50 credit", "ours")
    assert row["valid_from"] == day(2)


async def reply(memory: Memory, mail: dict[str, Any], text: str) -> None:
    """Our reply as track_threads attaches it to the thread."""
    data = ReplyAttached(thread_id=mail["thread_id"], reply_id=random_id(), text=text, tokens=9)
    async with memory.app.database.transaction() as conn:
        envelope = replace(memory.event(data, mail["received_at"]), version=2)
        await track_threads.PROCESSOR.appliers[ReplyAttached](conn, envelope)
