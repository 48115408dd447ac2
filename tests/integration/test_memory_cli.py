"""`correspondent memory`: people by address or id, facts with their provenance, requests, clear errors."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from deploy.local import Endpoints
from services import track_threads
from services.cli.main import app as command_line
from services.operations.memory.people import NobodyFound
from services.operations.preparation import prepare
from tests.support.remembering import ADA, DRIVEN, Memory, fact, remembering


@pytest.fixture
async def memory(
    stack: Endpoints, database: str, topic_prefix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Memory]:
    async with remembering(stack, database, topic_prefix, tmp_path) as one:
        settings = one.app.settings
        await prepare(settings)
        monkeypatch.setenv("COLUMNS", "200")
        for name, value in {
            "DATABASE_URL": database,
            "REDIS_URL": stack.redis,
            "WORKSPACE": settings.workspace,
            "MASTER_KEYS": (settings.home / "master.key").read_text(),
            "KAFKA__BROKERS": stack.kafka,
            "KAFKA__TOPIC_PREFIX": topic_prefix,
            "KAFKA__EMBEDDED": str(settings.kafka.embedded),
        }.items():
            monkeypatch.setenv(f"CORRESPONDENT_{name}", value)
        await one.tell("We are on the Team plan [b]now[/b].", fact("plan", "Team", "on the Team plan [b]now[/b]"), on=1)
        yield one


async def run(memory: Memory, *words: str) -> Result:
    """One command of an operator, while the deployment works."""
    home = str(memory.app.settings.home / "no-stack")
    async with memory.at_work():
        return await asyncio.to_thread(CliRunner().invoke, command_line, ["--home", home, "memory", *words])


async def test_show_gives_each_fact_with_its_provenance(memory: Memory) -> None:
    """The value, the mail's id, the exact words (markup is text) and the decision are printed."""
    shown = (await run(memory, "show", ADA)).output
    (mail,) = await memory.rows("SELECT message_id FROM mails")
    for part in ("customer_info/plan = Team", mail["message_id"], "“on the Team plan [b]now[/b]”", "recorded: new"):
        assert part in shown


async def test_a_person_changes_what_is_known_and_sees_what_became_of_it(memory: Memory) -> None:
    """Correct, pin, add, forget: each prints the decision, and history keeps the wrong value."""
    (row,) = await memory.rows("SELECT fact_id FROM facts")
    corrected = await run(memory, "correct", str(memory.person()), str(row["fact_id"]), "Growth", "--by", "grace")
    assert corrected.exit_code == 0
    assert "grace corrected it" in corrected.output
    assert await memory.current() == ["Growth"]
    (row,) = await memory.rows("SELECT fact_id FROM facts WHERE superseded_at IS NULL")
    assert "pinned" in (await run(memory, "pin", ADA, str(row["fact_id"]))).output
    assert "recorded" in (await run(memory, "add", ADA, "language", "German")).output
    assert "retracted" in (await run(memory, "forget", ADA, str(row["fact_id"]))).output
    told = (await run(memory, "history", ADA, "--key", "plan")).output
    assert "= Team" in told
    assert "= Growth" in told
    assert "withdrawn" in told
    assert "= Team" in (await run(memory, "as-of", ADA, "2026-01-07", "--known-at", "2026-01-07")).output
    assert "German" in (await run(memory, "search", ADA, "which language")).output


async def test_a_person_sees_how_somebody_stands_and_moves_them(memory: Memory) -> None:
    """Mood, troubles and each step are shown with reason and cause; a person makes legal steps, others are refused."""
    mail = await memory.mail("The export fails again. We want to buy.", on=2)
    signals = {"sentiment": -0.5, "frustrated": True, "intent": "bug_report", "issue_key": "export fails"}
    state = {"participant_state": "customer", "participant_state_reason": "they buy"}
    await memory.learn(mail, signals=signals, **state)
    shown = (await run(memory, "show", ADA)).output
    assert "customer, mood -0.20, risk medium" in shown
    assert f"issue export fails: reported once, open, last 2026-01-07 in thread {mail['thread_id']}" in shown
    refused = await run(memory, "move", ADA, "returning", "--reason", "hope", "--by", "grace")
    assert (refused.exit_code, "REFUSED: from customer one can only become at_risk, vip" in refused.output) == (1, True)
    made = await run(memory, "move", ADA, "vip", "--reason", "three years", "--by", "grace")
    assert (made.exit_code, "customer -> vip  human: grace: three years" in made.output) == (0, True)
    assert "They are vip already." in (await run(memory, "move", ADA, "vip")).output
    told = (await run(memory, "lifecycle", ADA)).output
    for part in (
        "unknown -> customer  ai: they buy  [",
        "customer -> returning",
        "-> vip",
        "risk medium, frustrated 1",
    ):
        assert part in told
    cause = await memory.rows("SELECT id FROM events WHERE type = 'turn.reflected.v1' ORDER BY seq DESC LIMIT 1")
    assert f"about export fails in thread {mail['thread_id']}  [{cause[0]['id']}]" in told


async def test_a_person_writes_and_deletes_the_brief(memory: Memory, tmp_path: Path) -> None:
    """From the command line or a file; what does not hold is refused in words, and nothing is printed that steers."""
    assert "There is no brief." in (await run(memory, "brief", ADA)).output
    made = await run(memory, "brief", ADA, "--edit", "Ada [b]never[/b] calls.", "--by", "grace")
    assert (made.exit_code, made.output) == (0, "written: grace\n")
    shown = (await run(memory, "brief", ADA)).output
    assert "by grace" in shown
    assert "Ada [b]never[/b] calls." in shown
    file = tmp_path / "brief.txt"
    file.write_text("Ada calls.\r\nOften.\n", encoding="utf-8")
    assert (await run(memory, "brief", ADA, "--from", str(file))).exit_code == 0
    assert await memory.rows("SELECT text, by FROM briefs") == [{"text": "Ada calls.\nOften.", "by": "operator"}]
    for wrong in (("--edit", "a\x1bb"), ("--edit", ""), ("--from", "/no/file"), ("--edit", "a", "--delete")):
        assert (await run(memory, "brief", ADA, *wrong)).exit_code == 2
    assert "deleted: operator" in (await run(memory, "brief", ADA, "--delete")).output
    told = (await run(memory, "brief", ADA, "--history")).output
    assert "There is no brief." in told
    assert [part in told for part in ("by grace", "[b]never[/b]", "Often.", "(deleted, or kept no longer)")] == [
        True
    ] * 4
    refused = await run(memory, "brief", ADA, "--delete")
    assert (refused.exit_code, refused.output) == (1, "brief delete refused: there is no brief\n")


async def test_a_key_was_not_found_by_its_other_names(memory: Memory) -> None:
    """History by any name of a key that the product knows, in any language; the graph, too."""
    for name in ("plan", "Subscription tier", "forfait"):
        assert "customer_info/plan = Team" in (await run(memory, "history", ADA, "--key", name)).output
        assert "  plan  Team  (since" in (await run(memory, "graph", ADA, "--about", name)).output
    assert "Nothing is remembered." in (await run(memory, "history", ADA, "--key", "birthday")).output
    assert "Nothing is known" in (await run(memory, "graph", ADA, "--about", "birthday")).output


async def test_errors_are_clear(memory: Memory) -> None:
    """An unknown person and an unknown fact are said in words, with a code that scripts can see."""
    nobody = await run(memory, "show", "no@one.example")
    assert isinstance(nobody.exception, NobodyFound)
    assert "no@one.example" in str(nobody.exception)
    refused = await run(memory, "forget", ADA, str(memory.person()))
    assert refused.exit_code == 1
    assert "there is no such fact" in refused.output


async def test_nothing_was_said_to_be_remembered_above_the_very_fact(memory: Memory) -> None:
    """A small memory is shown whole: what is not recognised as an answer is not denied above what may be one."""
    told = (await run(memory, "search", ADA, "How do you spell the name of my dog?")).output
    assert told.splitlines()[0] == "no fact below clearly answers this"
    assert "Team" in told
    (row,) = await memory.rows("SELECT fact_id FROM facts")
    await run(memory, "forget", ADA, str(row["fact_id"]))
    assert (await run(memory, "search", ADA, "Which plan?")).output.strip() == "nothing is remembered of this"


async def test_an_operator_searches_messages_and_everybody(memory: Memory) -> None:
    """--said finds messages with day and speaker, --everybody facts of the workspace with whose they are."""
    await memory.settle([*DRIVEN, track_threads.PROCESSOR])
    said = (await run(memory, "search", ADA, "which plan", "--said")).output
    assert f"{ADA} in «Mail 1»: “We are on the Team plan [b]now[/b].”" in said
    assert "Team plan" in (await run(memory, "search", "--everybody", "which plan", "--said")).output
    assert f"(participant {memory.person()})" in (await run(memory, "search", "--everybody", "which plan")).output
    for words in ((ADA,), ("--everybody", ADA, "which plan")):
        refused = await run(memory, "search", *words)
        assert refused.exit_code == 2
