"""Mailboxes that keep their memory to themselves: nothing of one space is ever in a prompt or an answer of another."""

from __future__ import annotations

import random
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from deploy.local import Endpoints
from schemas.events.memory import FactRequested
from schemas.events.merging import ParticipantMergeRequested
from services.core.bus.event_row import EventRow
from services.memory.embeddings import meanings
from services.memory.knowledge import search_knowledge
from services.operations.erase.export import export, new_folder
from services.operations.erase.run import erase
from services.operations.events import find_events
from services.operations.knowledge.requests import SpaceUnknown, hand_in
from services.operations.memory.people import InSeveralSpaces, find_people, find_person, pairs
from services.operations.memory.search import find, find_said
from services.operations.requests import ask
from tests.support.app import INBOX
from tests.support.erasing import differences, found
from tests.support.tending import Tended, tending

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

SPACES = {"support": "", "info": "", "sales": "sales", "press": "press", "media": "press"}
NAMES = tuple(SPACES)
ADA, BOB = "ada@one.example", "bob@two.example"
PEOPLE = (ADA, BOB)
INBOXES = [
    {**INBOX, "name": name, "address": f"{name}@ourcompany.example", "vouched_by": "t", "memory": {"space": space}}
    for name, space in SPACES.items()
]


@pytest.fixture
async def town(stack: Endpoints, database: str, topic_prefix: str, tmp_path: Path) -> AsyncIterator[Tended]:
    """Five mailboxes: two share the default space, two share `press`, one is alone in `sales`."""
    async with tending(stack, database, topic_prefix, tmp_path, inboxes=INBOXES) as app:
        await app.app.cache.drop_all()
        yield app


def marked(space: str, number: int) -> str:
    """A word that was said in one space only."""
    return f"zq{space or 'default'}x{number}"


def foreign(text: str, space: str) -> list[str]:
    """The marks of other spaces in a text."""
    return [f"zq{one or 'default'}x" for one in set(SPACES.values()) - {space} if f"zq{one or 'default'}x" in text]


async def say(town: Tended, who: str, inbox: str, number: int, after: str = "") -> None:
    """A mail with a mark, an order number that is a fact, and a question."""
    word = marked(SPACES[inbox], number)
    text = f"My order number is {word}. The {word} export is slow. We are on the Team plan. What does {word} cost?"
    await town.write(text, sender=who, inbox=NAMES.index(inbox), after=after)


async def contexts(town: Tended) -> list[tuple[str, str]]:
    """Inbox and whole context of every turn so far, and what was drafted."""
    rows = await town.rows("SELECT * FROM events WHERE type IN ('memory.loaded.v1', 'reply.drafted.v1') ORDER BY seq")
    datas = [EventRow.of(**row).envelope().data for row in rows]
    return [(str(getattr(one, "inbox", "")), one.model_dump_json()) for one in datas]


async def ids_seen(town: Tended) -> list[str]:
    """The Message-IDs that a mail may answer: customers' and ours, which carry tokens."""
    rows = await town.rows("SELECT message_id FROM mails UNION SELECT message_id FROM deliveries ORDER BY 1")
    return [row["message_id"] for row in rows]


@pytest.mark.parametrize("seed", range(4))
async def test_nothing_of_a_space_is_ever_in_a_prompt_a_draft_or_a_search_of_another(town: Tended, seed: int) -> None:
    """Random mails, answers to any mail in any mailbox, corrections by people: every read path holds its own space."""
    chance = random.Random(seed)
    for name in ("support", "sales", "press"):
        word = marked(SPACES[name], 0)
        given: dict[str, Any] = {"by": "t", "media_type": "text/markdown", "space": SPACES[name]}
        text = f"# Prices of {word}\n\nThe {word} export costs {word} EUR on the Team plan.\n"
        await hand_in(town.app, text.encode(), origin="prices.md", title="Prices", **given)
    await town.settle()
    for number in range(1, 15):
        known = await ids_seen(town)
        after = f"<{chance.choice(known)}>" if known and chance.random() < 0.6 else ""
        await say(town, chance.choice(PEOPLE), chance.choice(NAMES), number, after)
        if chance.random() < 0.3:
            await town.wait(minutes=chance.choice((1, 60, 60 * 30)))
    told = await contexts(town)
    assert len(told) >= 14
    leaked = [(inbox, foreign(text, SPACES[inbox])) for inbox, text in told if inbox and foreign(text, SPACES[inbox])]
    assert leaked == []
    assert any(marked(SPACES[inbox], 0) in text for inbox, text in told if inbox), "documents were read"
    await check_searches(town)


async def check_searches(town: Tended) -> None:
    """What tool and API find of each participant, and of each space's documents."""
    people = await town.rows("SELECT participant_id, space FROM participants")
    assert len({one["space"] for one in people}) > 1
    (meaning,) = await meanings(town.app.embedder, ["export order number"])
    for one in people:
        facts = await find(town.app, one["participant_id"], "order number", now=town.clock())
        heard = await find_said(town.app, one["participant_id"], "which export is slow?", now=town.clock(), limit=50)
        texts = [*(hit.fact.text for hit in facts.hits), *(passage.text for passage in heard.said)]
        assert texts
        assert foreign(" ".join(texts), one["space"]) == []
    for space in set(SPACES.values()):
        async with town.app.database.transaction(town.workspace) as conn:
            passages = await search_knowledge(
                conn, workspace=town.workspace, space=space, query_text="prices", meaning=meaning, limit=50
            )
        assert [marked(space, 0) in one.text for one in passages] == [True]


async def test_mailboxes_without_a_space_and_those_of_one_share_what_they_know(town: Tended) -> None:
    """What was told to support is known to info, and what was told to press to media."""
    for first, second in (("support", "info"), ("press", "media")):
        await say(town, ADA, first, 1)
        await town.write("What is my order number?", sender=ADA, inbox=NAMES.index(second), subject="Order")
        inbox, text = (await contexts(town))[-2]
        assert inbox == second
        assert marked(SPACES[first], 1) in text


async def test_the_stored_rows_are_what_the_history_says(town: Tended, stack: Endpoints) -> None:
    """Spaces are in the events: a rebuild needs no settings."""
    for number, inbox in enumerate(NAMES):
        await say(town, ADA, inbox, number)
    assert await differences(town.app, stack) == set()


async def test_an_address_of_several_spaces_is_named_by_an_id_and_found_in_all(town: Tended) -> None:
    """Who is meant is never guessed; the events of the address are those of every space."""
    await say(town, ADA, "support", 1)
    await say(town, ADA, "sales", 2)
    async with town.app.database.reading() as conn:
        first, second = await find_people(conn, town.workspace, ADA)
        with pytest.raises(InSeveralSpaces, match=f"default: {first.participant_id}, sales: {second.participant_id}"):
            await find_person(conn, town.workspace, ADA)
        assert await find_person(conn, town.workspace, str(second.participant_id)) == second
    keys = {one.key for one in await find_events(town.app, ADA, limit=200)}
    assert {str(first.participant_id), str(second.participant_id)} <= keys


async def test_a_merge_is_made_in_each_space_and_never_between_two(town: Tended) -> None:
    """Ada and Bob are one person in both spaces that know both; across spaces it is refused in words."""
    for number, (who, inbox) in enumerate(((ADA, "support"), (BOB, "support"), (ADA, "sales"), (BOB, "sales"))):
        await say(town, who, inbox, number)
    async with town.app.database.reading() as conn:
        found_pairs = await pairs(conn, town.workspace, ADA, BOB)
    assert [(one.space, other.space) for one, other in found_pairs] == [("", ""), ("sales", "sales")]
    across = {"participant_id": found_pairs[0][0].participant_id, "into": found_pairs[1][1].participant_id}
    for ids in (across, *({"participant_id": a.participant_id, "into": b.participant_id} for a, b in found_pairs)):
        await ask(town.app, ParticipantMergeRequested(**ids, op="merge", by="t"))
    await town.settle()
    aliases = await town.rows("SELECT participant_id, into_id FROM participant_aliases")
    assert {(row["participant_id"], row["into_id"]) for row in aliases} == {
        (one.participant_id, other.participant_id) for one, other in found_pairs
    }
    refused = await town.rows("SELECT reason FROM fact_log WHERE decision = 'merge refused'")
    assert ["two spaces of memory" in row["reason"] for row in refused] == [True]


async def test_export_and_forget_reach_every_space(town: Tended, tmp_path: Path) -> None:
    """By address or by the id of one space; afterwards nothing of them is found, and Bob is as he was."""
    for number, (who, inbox) in enumerate(((ADA, "support"), (ADA, "sales"), (BOB, "sales"), (ADA, "press"))):
        await say(town, who, inbox, number)
    people = await town.rows("SELECT participant_id FROM participants WHERE addr = %(addr)s", addr=ADA)
    assert len(people) == 3
    for typed in (ADA, str(people[-1]["participant_id"])):
        assert {row["participant_id"] for row in people} <= (await found(town.app, typed)).people
    folder = tmp_path / "export"
    await export(town.app, await found(town.app, ADA), new_folder(folder))
    kept = "".join(path.read_text(errors="replace") for path in folder.rglob("*") if path.is_file())
    assert all(marked(space, number) in kept for space, number in (("", 0), ("sales", 1), ("press", 3)))
    await erase(town.app, await found(town.app, ADA), by="t")
    assert await town.rows("SELECT 1 FROM participants WHERE addr = %(addr)s", addr=ADA) == []
    (bob,) = await town.rows("SELECT participant_id FROM participants")
    assert [hit.fact.value for hit in (await find(town.app, bob["participant_id"], "order", now=town.clock())).hits]


async def test_a_colleagues_word_is_kept_in_the_space_of_the_person_it_names(town: Tended) -> None:
    """A fact that a person adds by id stays in that space."""
    await say(town, ADA, "support", 1)
    await say(town, ADA, "sales", 2)
    async with town.app.database.reading() as conn:
        _, sales = await find_people(conn, town.workspace, ADA)
    said: dict[str, Any] = {"op": "add", "key": "budget", "value": "9000", "text": "Their budget is 9000.", "by": "t"}
    await ask(town.app, FactRequested(participant_id=sales.participant_id, **said))
    await town.settle()
    await town.write("What is our budget?", sender=ADA, inbox=NAMES.index("info"), subject="Budget")
    assert "9000" not in (await contexts(town))[-2][1]
    await town.write("What is our budget?", sender=ADA, inbox=NAMES.index("sales"), subject="Budget")
    assert "9000" in (await contexts(town))[-2][1]


async def test_a_document_of_a_space_that_no_mailbox_has_is_refused_in_words(town: Tended) -> None:
    """Nothing would ever quote it: a misspelt name is an error."""
    with pytest.raises(SpaceUnknown, match="'sale'"):
        await hand_in(town.app, b"# x", origin="x.md", title="x", by="t", media_type="text/markdown", space="sale")
