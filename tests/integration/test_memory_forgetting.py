"""What a person takes back or corrects answers nothing any more, wherever it stood; what it had replaced stands again."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from deploy.local import Endpoints
from schemas.events.merging import ParticipantMergeRequested
from services.core.bus.runner import enter
from services.learn_facts.facts import decide as decide_facts
from services.operations.memory.facts import current
from services.operations.memory.past import as_of
from services.operations.memory.search import find
from services.operations.rebuild.projections import fold, state_hash
from services.operations.rebuild.shadow_schema import connected
from tests.support.remembering import ADA, Memory, day, fact, remembering
from tests.support.stack import fresh_database

pytestmark = pytest.mark.usefixtures("refolded")

HOME = "ada@home.example"
SAP, SAPS = "They use the SAP tool every day.", "They use the SAP tools every day."


@pytest.fixture
async def memory(stack: Endpoints, database: str, topic_prefix: str, tmp_path: Path) -> AsyncIterator[Memory]:
    async with remembering(stack, database, topic_prefix, tmp_path) as one:
        yield one


@pytest.fixture
async def refolded(memory: Memory, stack: Endpoints, template_database: str) -> AsyncIterator[None]:
    """After the test a rebuild gives the same tables."""
    yield
    with fresh_database(stack.database, template=template_database) as target:
        async with connected(memory.app.settings.database_url, memory.app.keys) as source:
            await fold(source, target)
        async with connected(target) as conn:
            assert await state_hash(conn) == await memory.state()


async def told_plan(memory: Memory, value: str, on: float, **given: Any) -> None:
    """A mail that says which plan they are on."""
    await memory.tell(f"We are on the {value} plan.", fact("plan", value, f"on the {value} plan"), on=on, **given)


async def told_tool(memory: Memory, value: str, text: str, on: float, **given: Any) -> None:
    """A mail that says what they use, in one of two wordings that mean the same."""
    proposed = fact("uses", value, f"use the {value} every day", kind="preference", text=text)
    await memory.tell(f"We use the {value} every day.", proposed, on=on, **given)


async def id_of(memory: Memory, value: str) -> UUID:
    """The newest fact with this value."""
    query = "SELECT fact_id FROM facts WHERE value = %(value)s ORDER BY recorded_at DESC"
    found: UUID = (await memory.rows(query, value=value))[0]["fact_id"]
    return found


async def shown(memory: Memory) -> list[str]:
    """The values that `show` prints."""
    async with memory.app.database.reading() as conn:
        return [one.value for one in await current(conn, memory.workspace, memory.person(), day(99))]


async def so_on(memory: Memory, on: float) -> list[str]:
    """The values that were so on a day, as is known at the end."""
    async with memory.app.database.reading() as conn:
        who = memory.person()
        rows = await as_of(conn, memory.workspace, who, valid_at=day(on), known_at=day(99))
    return [one.value for one in rows]


async def merge(memory: Memory, on: float) -> None:
    """The two addresses are one person."""
    ids = {"participant_id": memory.person(HOME), "into": memory.person()}
    command = ParticipantMergeRequested.model_validate({**ids, "op": "merge", "by": "grace"})
    await enter(memory.app, memory.event(command, day(on)))
    await memory.settle()


@pytest.mark.parametrize("command", [{"op": "forget"}, {"op": "correct", "value": "Odoo"}])
async def test_what_was_merged_into_a_forgotten_fact_answered_in_its_time_and_came_back_with_an_older_mail(
    memory: Memory, command: dict[str, Any]
) -> None:
    """Members are withdrawn with the fact that shows them: no window finds them, no older mail in their words does."""
    await told_tool(memory, "SAP tool", SAP, 1)
    await told_tool(memory, "SAP tools", SAPS, 5)
    assert await shown(memory) == ["SAP tool"]
    await memory.ask(on=8, fact_id=await id_of(memory, "SAP tool"), **command)
    found = await find(memory.app, memory.person(), "Which SAP tool did we use in January 2026?", now=day(40))
    assert [hit.fact.value for hit in found.hits if "SAP" in hit.fact.value] == []
    await told_tool(memory, "SAP tools", SAPS, 9, sent_on=6)
    assert [value for value in await shown(memory) if "SAP" in value] == []
    assert (await memory.refusals())[-1] == "a person here took this back since"


@pytest.mark.parametrize("command", [{"op": "forget"}, {"op": "correct", "value": "Team"}])
async def test_brief_and_session_still_told_what_was_taken_back(memory: Memory, command: dict[str, Any]) -> None:
    """Derived text of any of the person's addresses is emptied, by events, and the running session is over."""
    for address in (HOME, ADA):
        mail = await memory.mail("We are on the Pro plan.", on=1, sender=address)
        told = {"brief": "Ada is on the Pro plan.", "summary": "Ada is on the Pro plan."}
        await memory.learn(mail, fact("plan", "Pro", "on the Pro plan"), **told)
    await merge(memory, 1.1)
    await memory.ask(on=1.2, fact_id=await id_of(memory, "Pro"), **command)
    assert await memory.rows("SELECT text FROM briefs") == [{"text": ""}, {"text": ""}]
    left = await memory.rows("SELECT summary, entities, expires_at <= %(at)s AS over FROM sessions", at=day(1.2))
    assert left == [{"summary": "", "entities": [], "over": True}] * 2


async def test_forgetting_all_that_is_shown_of_a_merged_person_brought_out_the_same_value_of_the_other_address(
    memory: Memory,
) -> None:
    """A value is forgotten under every address of the person; a rival with another value stands as any value before."""
    for on, address in ((1, ADA), (2, HOME)):
        slack = fact("uses", "Slack", "We use Slack", kind="preference")
        await memory.tell("We use Slack.", slack, on=on, sender=address)
    await told_plan(memory, "Team", 1)
    await told_plan(memory, "Pro", 2, sender=HOME)
    await merge(memory, 3)
    assert sorted(await shown(memory)) == ["Pro", "Slack"]
    await memory.ask("forget", 4, fact_id=await id_of(memory, "Slack"))
    await memory.ask("forget", 4, fact_id=await id_of(memory, "Pro"))
    assert await shown(memory) == await so_on(memory, 9) == ["Team"]
    await memory.ask("forget", 5, fact_id=await id_of(memory, "Team"))
    assert await shown(memory) == await so_on(memory, 9) == []


async def test_forgetting_a_wrong_successor_left_nothing_where_as_of_said_the_value_before(memory: Memory) -> None:
    """What the forgotten value had replaced is believed again, for `show`, the agent and `as-of` alike."""
    await told_plan(memory, "Team", 1)
    await told_plan(memory, "Platinum", 5)
    await memory.ask("forget", 8, fact_id=await id_of(memory, "Platinum"))
    assert await shown(memory) == await so_on(memory, 9) == ["Team"]
    found = await find(memory.app, memory.person(), "Which plan are we on?", now=day(40))
    assert [hit.fact.value for hit in found.hits] == ["Team"]
    await told_plan(memory, "Growth", 12)
    assert (await shown(memory), await so_on(memory, 9)) == (["Growth"], ["Team"])


async def test_a_correction_that_is_forgotten_gives_back_what_was_before_the_mistake(memory: Memory) -> None:
    """What a correction withdrew stays withdrawn: the last value that nobody took back stands."""
    await told_plan(memory, "Team", 1)
    await told_plan(memory, "Platinum", 5)
    await memory.ask("correct", 8, fact_id=await id_of(memory, "Platinum"), value="Gold")
    await memory.ask("forget", 9, fact_id=await id_of(memory, "Gold"))
    assert await shown(memory) == await so_on(memory, 10) == ["Team"]


async def test_what_a_customer_had_ended_is_not_given_back(memory: Memory) -> None:
    """A value whose end was said for itself stays ended when a later one is forgotten."""
    await told_plan(memory, "Team", 1)
    await memory.tell("We cancelled our plan.", fact("plan", "", "cancelled our plan", op="delete"), on=3)
    await told_plan(memory, "Platinum", 5)
    await memory.ask("forget", 8, fact_id=await id_of(memory, "Platinum"))
    assert await shown(memory) == await so_on(memory, 9) == []


async def test_a_past_fact_could_not_be_forgotten(memory: Memory) -> None:
    """A past fact is withdrawn alone: what stands goes on; and once is enough."""
    await told_plan(memory, "Team", 1)
    await told_plan(memory, "Pro", 5)
    await memory.ask("forget", 8, fact_id=await id_of(memory, "Team"))
    assert (await shown(memory), await so_on(memory, 3)) == (["Pro"], [])
    await memory.ask("forget", 9, fact_id=await id_of(memory, "Team"))
    await memory.ask("pin", 9, fact_id=await id_of(memory, "Team"))
    assert (await memory.refusals())[-2:] == ["it was taken back already"] * 2


async def test_a_merged_fact_is_forgotten_by_the_one_that_shows_it(memory: Memory) -> None:
    """A request about a member says which fact shows it, and changes nothing."""
    await told_tool(memory, "SAP tool", SAP, 1)
    await told_tool(memory, "SAP tools", SAPS, 5)
    kept = await id_of(memory, "SAP tool")
    await memory.ask("forget", 8, fact_id=await id_of(memory, "SAP tools"))
    assert (await memory.refusals())[-1] == f"it is shown as {kept}: name that one, or undo the merge first"
    assert await shown(memory) == ["SAP tool"]


@pytest.mark.parametrize(
    ("key", "given"),
    [("Plan", {"kind": "customer_info"}), ("plan", {}), (" PLAN ", {})],
)
async def test_what_a_person_added_stood_beside_what_it_contradicts(
    memory: Memory, key: str, given: dict[str, Any]
) -> None:
    """With no kind the one of the key's fact is taken, and case does not make another key: one value stands."""
    await told_plan(memory, "Team", 1)
    await memory.ask("add", 2, key=key, value="Gold", **given)
    assert await shown(memory) == ["Gold"]
    kept = await memory.rows("SELECT kind, key, single_valued FROM facts WHERE value = 'Gold'")
    assert kept == [{"kind": "customer_info", "key": "plan", "single_valued": True}]


async def test_a_fact_of_before_stood_beside_the_one_that_replaced_it_under_another_spelling(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was recorded under an old spelling is replaced, forgotten and restored like any other, for `as-of` too."""
    with monkeypatch.context() as before:
        before.setattr(decide_facts, "key_of", lambda key, kind: key)
        await memory.tell("We pay by card.", fact("payment_method", "card", "pay by card"), on=1)
    await memory.tell("We pay by invoice now.", fact("payment_method", "invoice", "pay by invoice"), on=5)
    assert [row["key"] for row in await memory.rows("SELECT key FROM facts ORDER BY recorded_at")] == [
        "payment_method",
        "payment method",
    ]
    assert [await so_on(memory, on) for on in (3, 9)] == [["card"], ["invoice"]]
    await memory.ask("forget", 10, fact_id=await id_of(memory, "invoice"))
    assert await shown(memory) == await so_on(memory, 11) == ["card"]


async def test_what_was_added_to_one_address_stood_beside_the_value_of_the_other(memory: Memory) -> None:
    """The kind and the number of values are those of the person's fact, under whichever address it stands."""
    await told_plan(memory, "Team", 1, sender=HOME)
    await memory.mail("Hello.", on=1)
    await merge(memory, 2)
    await memory.ask("add", 3, key="plan", value="Gold")
    assert await shown(memory) == ["Gold"]


async def test_one_key_in_three_spellings_had_three_values(memory: Memory) -> None:
    """`_`, `-` and a blank between the words of a key are one, in mails and for people."""
    for on, key, value in ((1, "renewal_date", "1 May"), (2, "renewal date", "1 June"), (3, "renewal-date", "1 July")):
        said = f"Our renewal date is {value}."
        await memory.tell(said, fact(key, value, f"renewal date is {value}"), on=on)
        assert await shown(memory) == [value]
    await memory.ask("add", 4, key="Renewal_Date", value="1 August")
    assert await shown(memory) == ["1 August"]
    assert await so_on(memory, 2.5) == ["1 June"]
