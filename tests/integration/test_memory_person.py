"""What the prompt says of the person: mood, repeats, tags, and where memory was not searched."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from deploy.local import Endpoints
from schemas.events.memory import MailSignals
from schemas.events.replies import ContextLayer
from schemas.events.threads import TurnClosed
from services.core.bus.work import Work
from services.core.clock import random_id
from services.load_memory.layers import participant
from services.load_memory.participant_lines import care
from services.load_memory.turn import Turn
from services.memory.embeddings import Meaning, MiniLM
from services.reflect.materials import gather
from services.reflect.turn import ended
from tests.support.layers import load_layer
from tests.support.remembering import Memory, day, fact, remembering


@pytest.fixture
async def memory(stack: Endpoints, database: str, topic_prefix: str, tmp_path: Path) -> AsyncIterator[Memory]:
    async with remembering(stack, database, topic_prefix, tmp_path) as one:
        yield one


def a_turn(memory: Memory) -> Turn:
    return Turn(
        app=memory.app,
        workspace=memory.workspace,
        now=day(20),
        thread_id=random_id(),
        participant_id=memory.person(),
        inbox=memory.app.settings.inboxes[0],
        mails=(),
        meaning=Meaning(MiniLM.name, np.zeros(384, dtype=np.float32)),
    )


async def shown(memory: Memory) -> ContextLayer:
    return await load_layer(participant, a_turn(memory))


async def feels(memory: Memory, on: float, **signals: object) -> None:
    """A mail in a thread of its own, and what a model reads in it."""
    mail = await memory.mail("The export fails.", on=on)
    await memory.learn(mail, signals=MailSignals.model_validate(signals))


async def test_three_frustrated_mails_in_a_row_ask_for_care(memory: Memory) -> None:
    """Two are not enough; the third makes the risk high, and the prompt asks for care until a calm mail comes."""
    for on in (1, 2):
        await feels(memory, on, frustrated=True, sentiment=-0.6)
    assert care(3) not in (await shown(memory)).text
    await feels(memory, 3, frustrated=True, sentiment=-0.6)
    told = await shown(memory)
    assert care(3) in told.text
    assert told.items[0]["risk"] == "high"
    await feels(memory, 4, sentiment=0.4)
    assert care(3) not in (await shown(memory)).text


async def test_the_fifth_report_of_one_trouble_is_known_as_that(memory: Memory) -> None:
    """Four threads about the same trouble: the prompt says that a further one is number five, and what is tagged."""
    for on in range(1, 5):
        await feels(memory, on, issue_key="export fails", tags=("export",))
    told = await shown(memory)
    assert "export fails (reported 4 times, open" in told.text
    assert "a further report is number 5" in told.text
    assert "tags: export" in told.text


async def test_a_trouble_in_other_words_is_the_same_trouble(memory: Memory) -> None:
    """The fifth report counts as the fifth however it is worded; the extractor is shown the key that is known."""
    for on in range(1, 5):
        await feels(memory, on, issue_key="csv export timeout")
    await feels(memory, 5, issue_key="csv export times out")
    await feels(memory, 6, issue_key="pdf export timeout")
    told = (await shown(memory)).text
    assert "csv export timeout (reported 5 times" in told
    assert "pdf export timeout (reported once" in told
    mail = await memory.mail("The export fails.", on=7)
    closed = TurnClosed(turn_id=random_id(), thread_id=mail["thread_id"], participant_id=memory.person(), outcome="sent",
                        inbox=mail["inbox"], mail_ids=(mail["mail_id"],), trusted=True)  # fmt: skip
    event = memory.event(closed, day(7))
    async with memory.app.database.reading() as conn:
        materials = await gather(Work(closed, event, "reflect", memory.app, {}), conn, ended(closed))
    assert "known trouble: csv export timeout (reported 5 times, open)" in materials.layers[0].text
    few = memory.app.settings.learning.model_copy(update={"issues_shown": 1})
    app = replace(memory.app, settings=memory.app.settings.model_copy(update={"learning": few}))
    async with app.database.reading() as conn:
        materials = await gather(Work(closed, event, "reflect", app, {}), conn, ended(closed))
    assert materials.layers[0].text.count("known trouble: ") == 1


async def test_a_trouble_under_keys_that_a_model_invents_was_as_many_troubles(memory: Memory) -> None:
    """However a key says that it does not work; another thing that does not work is another trouble."""
    for on, key in enumerate(("csv export fails", "cannot export csv", "exporting_to_csv_is_broken"), start=1):
        await feels(memory, on, issue_key=key)
    await feels(memory, 4, issue_key="csv import fails")
    told = (await shown(memory)).text
    assert "csv export fails (reported 3 times" in told
    assert "csv import fails (reported once" in told


async def test_what_a_mail_shows_moves_a_customer_whatever_the_model_proposes(memory: Memory) -> None:
    """Asking prices makes a prospect, renewing a customer, and leaving for a competitor a risk, with each step logged."""
    states = []
    for on, intent in enumerate(("pricing_question", "renewal", "competitor"), start=1):
        await feels(memory, on, intent=intent)
        states.append((await shown(memory)).items[0]["state"])
    assert states == ["prospect", "customer", "at_risk"]
    mail = await memory.mail("We are switching to a competitor.", on=9, sender="bob@else.example")
    await memory.learn(mail, signals=MailSignals(intent="competitor"), participant_state="at_risk")
    log = await memory.rows("SELECT to_state, refused FROM participant_log WHERE participant_id = %(bob)s ORDER BY version",
                            bob=memory.person("bob@else.example"))  # fmt: skip
    assert log == [{"to_state": "customer", "refused": ""}, {"to_state": "at_risk", "refused": ""}]


async def test_imported_old_mail_does_not_move_todays_lifecycle(memory: Memory) -> None:
    """What is older than what is known of somebody's standing is refused in words; else it is dated by its Date."""
    old = await memory.mail("We renewed our plan.", on=1, sent_on=-800, history_mode=True)
    await memory.learn(old, signals=MailSignals(intent="renewal"))
    log = "SELECT to_state, refused, at FROM participant_log ORDER BY version"
    assert await memory.rows(log) == [{"to_state": "customer", "refused": "", "at": day(-800)}]
    await feels(memory, 2, intent="renewal")
    leaving = await memory.mail("We are switching to a competitor.", on=3, sent_on=-700, history_mode=True)
    await memory.learn(leaving, signals=MailSignals(intent="competitor"))
    assert (await shown(memory)).items[0]["state"] == "customer"
    (late,) = (await memory.rows(log))[1:]
    assert (late["to_state"], late["refused"]) == ("at_risk", "older than what is known")
    await feels(memory, 4, intent="competitor")
    assert (await shown(memory)).items[0]["state"] == "at_risk"


async def test_imported_mail_says_since_when_they_are_with_us_and_gives_nobody_an_old_name(memory: Memory) -> None:
    """A person was first seen when the oldest mail was written, and last when the newest was."""
    await memory.mail("Hello.", on=1, sender="Ada Miller <ada@acme.example>")
    for on, sent_on in ((2, -900), (3, -950)):
        await memory.mail("Hello.", on=on, sent_on=sent_on, sender="Ada Jones <ada@acme.example>", history_mode=True)
    seen = "SELECT name, first_seen_at, last_seen_at FROM participants"
    assert await memory.rows(seen) == [{"name": "Ada Miller", "first_seen_at": day(-950), "last_seen_at": day(1)}]
    await memory.mail("Hello again.", on=9, sender="ada@acme.example")
    assert [row["last_seen_at"] for row in await memory.rows(seen)] == [day(9)]


async def test_a_thank_you_is_no_further_report(memory: Memory) -> None:
    """A mail that says that a trouble is over ends it, in whatever thread, and its count and day stay."""
    await feels(memory, 1, issue_key="csv export timeout")
    await feels(memory, 2, issue_key="csv export timeout")
    before = await memory.rows("SELECT reports, thread_id, last_at FROM participant_issues")
    for on in (3, 4):
        await feels(memory, on, issue_key="csv export timeout", issue_resolved=True)
    assert await memory.rows("SELECT reports, thread_id, last_at FROM participant_issues") == before
    assert "csv export timeout (reported 2 times, resolved, last 2026-01-07)" in (await shown(memory)).text
    await feels(memory, 5, issue_key="login fails", issue_resolved=True)
    assert len(await memory.rows("SELECT 1 FROM participant_issues")) == 1


async def test_imported_troubles_are_reports_too(memory: Memory) -> None:
    """After four imported reports a live one is the fifth; an import after that counts, and moves no mood or day."""
    for n in range(4):
        old = await memory.mail("The CSV export times out.", on=1, sent_on=n - 90, history_mode=True)
        await memory.learn(old, signals=MailSignals(issue_key="csv export timeout", frustrated=True, sentiment=-1))
    await feels(memory, 2, issue_key="csv export timeout")
    live = "SELECT reports, thread_id, resolved, first_at, last_at FROM participant_issues"
    (known,) = await memory.rows(live)
    assert (known["reports"], known["first_at"], known["last_at"]) == (5, day(-90), day(2))
    old = await memory.mail("The CSV export times out.", on=3, sent_on=-100, history_mode=True)
    await memory.learn(old, signals=MailSignals(issue_key="csv export timeout", issue_resolved=True))
    assert await memory.rows(live) == [known]
    await memory.learn(old, signals=MailSignals(issue_key="csv export timeout", frustrated=True))
    assert await memory.rows(live) == [{**known, "reports": 6, "first_at": day(-100)}]
    mood = "SELECT frustrated_in_row, sentiment, risk FROM participants"
    assert await memory.rows(mood) == [{"frustrated_in_row": 0, "sentiment": 0.0, "risk": "low"}]
    assert len(await memory.rows("SELECT 1 FROM sessions")) == 1


async def test_facts_stand_by_kind_and_say_why_they_are_there(memory: Memory) -> None:
    """Each kind's facts stand together, with score and reason as data."""
    claims = [fact(f"k{n}", f"v{n}", "k and v", kind=kind) for n, kind in enumerate(("goal", "preference") * 2)]
    await memory.tell("k and v: v0, v1, v2, v3", *claims, on=1)
    items = [item for item in (await shown(memory)).items if item.get("id")]
    kinds = [item["kind"] for item in items]
    assert len(kinds) == 4
    assert kinds in (["goal"] * 2 + ["preference"] * 2, ["preference"] * 2 + ["goal"] * 2)
    assert {item["why"] for item in items} == {"bears on the mail"}
    assert all(item["score"] > 0 for item in items)


async def test_where_memory_is_not_searched_the_prompt_says_so(memory: Memory) -> None:
    """Without a cue no fact is shown, and the model is told that it may look."""
    await memory.tell("We are on the Team plan.", fact("plan", "Team", "on the Team plan"), on=1)
    told = await load_layer(participant, replace(a_turn(memory), recalls=False))
    assert [item for item in told.items if item.get("id")] == []
    assert "facts were not searched" in told.text
