"""What a memory holds and was used for, counted: each fact once, each week by its own events, of nobody by name."""

from __future__ import annotations

import asyncio
import re
from collections import Counter, defaultdict
from collections.abc import AsyncIterator
from dataclasses import asdict, replace
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest
from lxml import html

from deploy.local import Endpoints
from schemas.events.investigations import InvestigationRequested
from schemas.events.suggestions import SuggestionRequested
from services.cli.memory.statistics import VERDICTS, show
from services.cli.terminal import console
from services.core.clock import random_id
from services.core.web import make_app
from services.operations import uses
from services.operations.daily import if_due
from services.operations.memory.statistics import KindOfFacts, monday_of, statistics
from services.operations.periods import PERIODS
from services.operations.requests import ask
from services.web.routes import routes
from tests.integration.test_memory_periods import word_for_word
from tests.support.console import signed_in, text_of
from tests.support.remembering import ADA, START, Memory, day, fact, remembering
from tests.support.scripted_model import Behaviour, ScriptedModel, Seen, reply_tool
from tests.support.tending import Tended, tending

TOKEN = "a token for tests"
PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "memory.md"


@pytest.fixture
async def memory(stack: Endpoints, database: str, topic_prefix: str, tmp_path: Path) -> AsyncIterator[Memory]:
    async with remembering(stack, database, topic_prefix, tmp_path) as one:
        yield one


@pytest.fixture
async def app(stack: Endpoints, database: str, topic_prefix: str, tmp_path: Path) -> AsyncIterator[Tended]:
    prices = {"provider": "offline", "prices": {"input": 3.0, "output": 15.0}}
    async with tending(stack, database, topic_prefix, tmp_path, web={"api_token": TOKEN}, model=prices) as one:
        yield one


def of_kind(found: tuple[KindOfFacts, ...], kind: str) -> KindOfFacts:
    (one,) = [each for each in found if each.kind == kind]
    return one


async def test_each_fact_stands_in_one_column(memory: Memory) -> None:
    """A value that gave way is replaced, one that a person took back withdrawn, and one of the past two weeks expired."""
    await memory.tell("We are on the Team plan.", fact("plan", "Team", "on the Team plan"), on=1)
    await memory.tell("We are on Enterprise now.", fact("plan", "Enterprise", "on Enterprise now"), on=9)
    await memory.tell("Our city is Graz.", fact("city", "Graz", "Our city is Graz"), on=10)
    await memory.tell("Our city is Graz.", fact("colour", "red", "words that nobody wrote"), on=11)
    memory.clock.forward(day(12))
    found = await statistics(memory.app, 3)
    plan = of_kind(found.kinds, "customer_info")
    assert (plan.stored, plan.current, plan.replaced) == (3, 2, 1)
    assert plan.stored == sum(
        getattr(plan, name) for name in ("current", "doubtful", "expired", "replaced", "merged", "withdrawn")
    )
    assert [sum(week.decisions.get("recorded", 0) for week in found.weeks), sum(found.refusals.values())] == [3, 1]
    assert not [reason for reason in found.refusals if "red" in reason]


async def test_a_reason_with_both_quotation_marks_showed_a_part_of_a_value(memory: Memory) -> None:
    """Reasons are counted for everybody who may see figures: what they quote of a customer is left out, however it is written."""
    said = """Our team is called O'Brien "Zebra" crew."""
    await memory.tell(said, fact("team name", """O'Brien "Zebra" crew""", said), on=1)
    over = "There is no team Okapi any more."
    await memory.tell(over, fact("team name", "Okapi", over, op="delete"), on=2)
    memory.clock.forward(day(3))
    assert (await statistics(memory.app, 1)).refusals == {"what stands is …": 1}


async def test_what_another_clock_dates_ahead_counts_once_its_week_has_come(app: Tended) -> None:
    """A machine whose clock is a little ahead at the end of a week made the figures fail."""
    app.clock.forward(day(7))
    await app.write("We are on the Team plan. What does the Enterprise plan cost?", sender=ADA)
    early = await statistics(replace(app.app, now=lambda: day(6)), 2)
    assert [(week.decisions, week.turns) for week in early.weeks] == [({}, 0), ({}, 0)]
    late = await statistics(app.app, 2)
    assert [(week.decisions.get("recorded"), week.turns) for week in late.weeks] == [(None, 0), (2, 1)]


async def test_what_was_shown_and_cost_counts_in_its_week(app: Tended) -> None:
    """Each turn is counted once, with the facts that its context held; dollars are those of the prices that are set."""
    await app.write("We are on the Team plan. What does the Enterprise plan cost?", sender=ADA)
    app.clock.forward(app.app.now() + timedelta(days=7))
    await app.write("Which plan are we on?", sender=ADA)
    found = await statistics(app.app, 2)
    assert [week.turns for week in found.weeks] == [1, 1]
    assert found.weeks[0].shown == 0 < found.weeks[1].shown
    assert found.weeks[1].monday == monday_of(app.app.now())
    assert {one.purpose for one in found.spent} == {"replies", "learning"}
    for one in found.spent:
        used = one.usage
        assert one.dollars == pytest.approx((3 * used.input + 15 * used.output) / 1e6, abs=1e-3)
    assert (await statistics(app.app, 1)).weeks[0] == found.weeks[1]


async def test_the_command_and_the_api_tell_the_same(app: Tended) -> None:
    """The command prints what the API answers; an empty memory is said, and so many weeks only."""
    with console.capture() as said:
        show(await statistics(app.app, 1))
    assert "Nothing is remembered yet" in said.get()
    await app.write("We are on the Team plan.", sender=ADA)
    transport = httpx.ASGITransport(make_app([routes(app.app)]))
    headers = {"authorization": f"Bearer {TOKEN}"}
    async with httpx.AsyncClient(transport=transport, base_url="http://deployment", headers=headers) as api:
        told = (await api.get("/api/memory/statistics", params={"weeks": 1})).json()
        refused = [(await api.get("/api/memory/statistics", params={"weeks": n})).status_code for n in ("0", "54", "x")]
    assert set(refused) == {422}
    print(said.get())
    (kind,) = told["kinds"]
    with console.capture() as said:
        show(await statistics(app.app, 1))
    assert [word in said.get() for word in (kind["kind"], "replies", "learning", told["since"])] == [True] * 4


# Every figure beside a count by hand: of a story in which none of them is zero.

KEYS = {"plan": ("customer_info", 7), "city": ("customer_info", 7), "dog": ("note", 4), "cat": ("note", 4)}
TOLD_FACT = re.compile(r"Our (\w+) is ([\w ]+?)\.")
SHOWN_ID = re.compile(r"- \[([0-9a-f-]{36})\]")
WEEKS = 3
CY = "cy@three.example"


def remembers(request: Seen) -> Behaviour:
    """A model that learns what a mail says, cites the first fact that it sees, and tells every row of a period."""
    if "tell" in request.tools:
        return word_for_word(request)
    if "finish" in request.tools:
        return reply_tool("finish", {"note": "It is as they say.", "facts": []})
    if "reply" in request.tools:
        cited = SHOWN_ID.findall(request.text)[:1]
        return reply_tool("reply", {"text": "Noted.", "state": "awaiting_reply", "citations": cited})
    facts = [
        {"op": "ADD", "kind": KEYS[key][0], "key": key, "value": value, "importance": KEYS[key][1],
         "text": f"Their {key} is {value}.", "quote": f"Our {key} is {value}",
         "valid_to": "2026-01-20" if key == "city" else None}
        for key, value in TOLD_FACT.findall("\n".join(request.fenced("mail")))
    ]  # fmt: skip
    facts.append(dict(facts[0], key="colour", value="red", quote="words that nobody wrote") if facts else {})
    return reply_tool("reflect", {"summary": "They wrote.", "brief": "A customer.", "facts": facts})


@pytest.fixture
async def counted(stack: Endpoints, database: str, topic_prefix: str, tmp_path: Path) -> AsyncIterator[Tended]:
    """Three weeks of somebody: facts of every fate, what was shown, cited and asked, and a model for each purpose."""
    async with ScriptedModel() as server:
        server.script(remembers)
        settings = {
            "model": {"provider": "anthropic", "api_key": "k", "base_url": server.base_url,
                      "prices": {"input": 3.0, "output": 15.0, "cache_read": 0.3, "cache_write": 3.75}},
            "web": {"api_token": TOKEN},
            "condense": {"enabled": True, "rows_from": 2, "calls_a_day": 2},
            "investigate": {"enabled": True},
            "recall": {"unused_days": 10},
        }  # fmt: skip
        async with tending(stack, database, topic_prefix, tmp_path, **settings) as one:
            await lived(one)
            yield one


async def lived(app: Tended) -> None:
    """What happens in the three weeks."""
    thread = await app.write("Our plan is Team. Our dog is Rex. Our cat is Tom. Our city is Graz.", sender=ADA)
    await app.write("Our plan is Free. Our dog is Bello.", sender="Bo <bo@two.example>")
    await app.wait(days=3)
    await app.write("Our plan is Enterprise. Which dog do we have? Which car do we drive?", sender=ADA)
    facts = {row["value"]: row["fact_id"] for row in await app.rows("SELECT value, fact_id FROM facts")}
    now = (app.clock() - START) / timedelta(days=1)
    await app.ask("pin", now, fact_id=facts["Rex"])
    await app.ask("forget", now, fact_id=facts["Tom"])
    await app.ask("correct", now, "bo@two.example", fact_id=facts["Free"], value="Basic")
    for part, tool in enumerate(("SAP tool", "SAP tools")):
        said = {"quote": f"use the {tool} every day", "text": f"They use the {tool} every day.", "kind": "preference"}
        await app.tell(f"We use the {tool} every day.", fact("uses", tool, **said), on=now + part / 100, sender=CY)
    await ask(app.app, SuggestionRequested(thread_id=thread, words="", by="grace"))
    case = {"investigation_id": random_id(), "participant_id": app.person(), "thread_id": thread, "by": "grace"}
    await ask(app.app, InvestigationRequested.model_validate(case | {"question": "Why?"}))
    await app.wait(days=13)
    await PERIODS.round(app.app, asyncio.Event())
    await if_due(PERIODS, app.app, asyncio.Event())
    await app.settle()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(uses, "UNSEEN_S", -60.0)
        await uses.count(app.app, asyncio.Event())
    for sender in (ADA, "Bo <bo@two.example>", CY):
        await app.write("Is the export fixed?", sender=sender)
    now = (app.clock() - START) / timedelta(days=1)
    said = "I believe our plan is Pro now."
    await app.tell(said, fact("plan", "Pro", said), on=now, sender=ADA)


async def by_hand(app: Tended) -> dict[str, Any]:
    """Every figure, counted row by row and event by event."""
    now = app.clock()
    fates: dict[str, Counter[str]] = defaultdict(Counter)
    for row in await app.rows("SELECT * FROM facts"):
        fate = (
            "withdrawn" if row["retracted_at"] else "merged" if row["merged_into"] else "replaced" if row["superseded_at"]
            else "expired" if row["expires_at"] and row["expires_at"] <= now
            else "doubtful" if row["stale_since"] else "current"
        )  # fmt: skip
        fates[row["kind"]].update(["stored", fate, *(["pinned"] if row["pinned"] and not row["superseded_at"] else [])])
    decisions: dict[date, Counter[str]] = defaultdict(Counter)
    for row in await app.rows("SELECT at, decision FROM fact_log"):
        decisions[monday_of(row["at"])][row["decision"]] += 1
    weeks: dict[date, Counter[str]] = defaultdict(Counter)
    spent: dict[tuple[date, str, str], Counter[str]] = defaultdict(Counter)
    inbox = app.app.settings.inboxes[0].name
    for row in await app.rows("SELECT type, time, data FROM events ORDER BY seq"):
        week, data = weeks[monday_of(row["time"])], row["data"]
        for layer in data.get("layers", ()) if row["type"] == "memory.loaded.v1" else ():
            items = layer["items"] if layer["name"] == "participant" else []
            week["shown"] += sum("id" in item for item in items)
            week.update(item["recall"] for item in items if "recall" in item)
        week["turns"] += row["type"] == "memory.loaded.v1"
        week["cited"] += len(data.get("facts_cited", ())) if row["type"] == "reply.drafted.v1" else 0
        if purpose := PURPOSE_OF.get(row["type"]):
            spent[monday_of(row["time"]), inbox, purpose].update(data["usage"])
    periods: dict[str, Counter[str]] = defaultdict(Counter)
    for row in await app.rows("SELECT * FROM memory_periods"):
        told = {"told": bool(row["text"]), "empty": not row["text"], "sentences": len(row["sentences"])}
        periods[row["grain"]].update(told | {"dropped": len(row["dropped"]), "rows_left_out": row["left_out"]})
    (last_round,) = await app.rows("SELECT report FROM upkeep WHERE task = 'periods'")
    refused = await app.rows("SELECT reason FROM fact_log WHERE decision LIKE '%% refused'")
    loaded = await app.rows("SELECT data FROM events WHERE type = 'memory.loaded.v1' ORDER BY seq")
    newest = {row["data"]["participant_id"]: row["data"]["layers"] for row in loaded}.values()
    return {
        "fates": fates, "decisions": decisions, "weeks": weeks, "spent": spent, "periods": periods,
        "left": last_round["report"]["left"],
        "refusals": Counter(re.sub(r"'[^']*'|\"[^\"]*\"", "…", row["reason"]) for row in refused),
        "set_aside": sum(item.get("unused", 0) for layers in newest for layer in layers for item in layer["items"]),
    }  # fmt: skip


PURPOSE_OF = {
    "reply.drafted.v1": "replies",
    "suggestion.drafted.v1": "suggestions",
    "turn.reflected.v1": "learning",
    "period.condensed.v1": "periods",
    "investigation.round_taken.v1": "investigations",
}


async def test_every_figure_is_that_of_a_count_by_hand(counted: Tended) -> None:
    """Each field of the figures, none of which is zero in the story; the API and the command say the same."""
    found, hand = await statistics(counted.app, WEEKS), await by_hand(counted)
    names = ("stored", "current", "doubtful", "expired", "replaced", "merged", "withdrawn", "pinned")
    assert {one.kind: {name: getattr(one, name) for name in names} for one in found.kinds} == {
        kind: {name: fates[name] for name in names} for kind, fates in hand["fates"].items()
    }
    assert not [name for name in names if not sum(getattr(one, name) for one in found.kinds)]
    assert {one.monday: one.decisions for one in found.weeks if one.decisions} == hand["decisions"]
    for week in found.weeks:
        seen = hand["weeks"][week.monday]
        assert (week.turns, week.shown, week.cited) == (seen["turns"], seen["shown"], seen["cited"])
        assert week.recalled == {name: seen[name] for name in VERDICTS if seen[name]}
    for name in ("turns", "shown", "cited"):
        assert sum(getattr(week, name) for week in found.weeks)
    assert sum((week.recalled for week in found.weeks), Counter()).keys() >= {"nothing"}
    assert found.refusals == hand["refusals"]
    assert {(one.monday, one.inbox, one.purpose): one.usage.model_dump() for one in found.spent if one.usage.calls} == {
        of: dict(usage) for of, usage in hand["spent"].items() if usage["calls"]
    }
    assert {one.purpose for one in found.spent} == set(PURPOSE_OF.values())
    prices = {"input": 3.0, "output": 15.0, "cache_read": 0.3, "cache_write": 3.75}
    for one in found.spent:
        dollars = sum(price * getattr(one.usage, name) for name, price in prices.items()) / 1e6
        assert one.dollars == pytest.approx(dollars, abs=1e-4)
    assert {one.grain: asdict(one) for one in found.periods} == {
        grain: {"grain": grain, **{name: seen[name] for name in asdict(found.periods[0]) if name != "grain"}}
        for grain, seen in hand["periods"].items()
    }
    assert (found.periods_left, found.set_aside) == (hand["left"], hand["set_aside"])
    assert found.periods_left
    assert found.set_aside


async def test_the_console_draws_what_a_count_by_hand_gives(counted: Tended) -> None:
    """Each table of the page has the figures, and each line goes through the weeks' share of the greatest of them."""
    hand = await by_hand(counted)
    async with signed_in(counted.app, role="viewer") as vic:
        page = await vic.get(f"/console/memory?weeks={WEEKS}")
        assert (await vic.get("/console/memory?weeks=54")).status_code == 404
    cards = {one.get("aria-labelledby"): one for one in html.fromstring(page.text).xpath("//section")}
    facts = {name.replace(" ", "_"): cells for name, cells in cells_of(cards["facts"])}
    fates = ("stored", "current", "doubtful", "expired", "replaced", "merged", "withdrawn", "pinned")
    assert facts == {kind: [str(seen[name]) for name in fates] for kind, seen in hand["fates"].items()}
    mondays = [monday_of(counted.clock()) - timedelta(weeks=back) for back in range(WEEKS - 1, -1, -1)]
    used = [[hand["weeks"][monday][name] for monday in mondays] for name in ("turns", "shown", "cited", *VERDICTS)]
    assert [cells[1:] for _, cells in cells_of(cards["used"])] == [[str(sum(one)), str(one[-1])] for one in used]
    assert drawn(cards["used"]) == [shares(one) for one in used]
    decided = {name: [hand["decisions"][monday][name] for monday in mondays] for name in names_of(hand["decisions"])}
    assert {name: cells[1:] for name, cells in cells_of(cards["decided"])} == {
        name: [str(sum(one)), str(one[-1])] for name, one in decided.items()
    }
    names = [name for name, _ in cells_of(cards["decided"])]
    assert drawn(cards["decided"]) == [shares(decided[name]) for name in names]
    assert [int(cells[0]) for _, cells in cells_of(cards["refused"])] == sorted(hand["refusals"].values(), reverse=True)
    assert {name: [*map(int, cells)] for name, cells in cells_of(cards["periods"])} == {
        grain: [seen[name] for name in ("told", "empty", "sentences", "dropped", "rows_left_out")]
        for grain, seen in hand["periods"].items()
    }
    costs = sorted({of[1:] for of, usage in hand["spent"].items() if usage["calls"]})
    tokens = [[tokens_of(hand["spent"][monday, *of]) for monday in mondays] for of in costs]
    assert [(name, cells[0]) for name, cells in cells_of(cards["spent"])] == costs
    assert drawn(cards["spent"]) == [shares([sum(week) for week in one]) for one in tokens]
    for (_, cells), one, of in zip(cells_of(cards["spent"]), tokens, costs, strict=True):
        calls = sum(hand["spent"][monday, *of]["calls"] for monday in mondays)
        assert cells[2:5] == [str(calls), *(str(sum(week[place] for week in one)) for place in (0, 1))]
    text = text_of(page)
    assert f"{hand['set_aside']} fact is in no prompt" in text
    assert f"{hand['left']} periods wait for another day" in text


def cells_of(card: Any) -> list[tuple[str, list[str]]]:
    """The rows of a table: what each is of, and its cells."""
    rows = card.xpath(".//tbody/tr")
    return [
        (row.xpath("string(th)").strip(), [cell.text_content().strip() for cell in row.xpath("td")]) for row in rows
    ]


def drawn(card: Any) -> list[list[float]]:
    """The height of each line at each week, of the height that the greatest has."""
    found = []
    for picture in card.xpath(".//svg"):
        (points,) = picture.xpath(".//polyline/@points")
        found.append([round((22 - float(one.partition(",")[2])) / 20, 2) for one in points.split()])
    return found


def shares(weeks: list[int]) -> list[float]:
    """What part of the greatest each week is."""
    return [round(one / max(weeks), 2) if max(weeks) else 0.0 for one in weeks]


def names_of(decisions: dict[date, Counter[str]]) -> set[str]:
    """Every decision that there was."""
    return {name for seen in decisions.values() for name in seen}


def tokens_of(usage: Counter[str]) -> tuple[int, int]:
    """Tokens read, cached ones among them, and written."""
    return usage["input"] + usage["cache_read"] + usage["cache_write"], usage["output"]


async def test_the_page_shows_what_the_command_prints(app: Tended) -> None:
    """docs/how-to/memory.md has the figures of two customers and two weeks as `memory stats` prints them."""
    await app.write("We are on the Team plan. What does the Enterprise plan cost?", sender=ADA)
    await app.write("Our export runs nightly. How do I change my seats?", sender="Bo <bo@two.example>")
    app.clock.forward(app.app.now() + timedelta(days=7))
    await app.write("Which plan are we on?", sender=ADA)
    await app.write("We are on the Enterprise plan now. Thank you.", sender=ADA)
    with console.capture() as said:
        show(await statistics(app.app, 2))
    printed = [without_tokens(f"    {line}") for line in said.get().splitlines()]
    page = set(map(without_tokens, PAGE.read_text(encoding="utf-8").splitlines()))
    assert [line for line in printed if line not in page] == [], said.get()


def without_tokens(line: str) -> str:
    """What a prompt's wording does not move: of what was spent the number of calls."""
    return re.sub(r"^( +\S+ +support +\w+ +\d+) .*", r"\1", line).rstrip()
