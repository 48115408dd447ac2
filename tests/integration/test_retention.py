"""What is kept for a time only goes everywhere, what somebody needs stays, and the tables stay a fold of the events."""

from __future__ import annotations

import asyncio
import json
import re
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from contextvars import Context
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from typer.testing import CliRunner

from deploy.local import Endpoints
from schemas.events.ratings import RatingRequested
from services.cli.main import app as command_line
from services.core.app import App
from services.core.archive.archive import archive_of
from services.core.archive.history import archived_rows, manifests
from services.core.blobs import BlobMissing
from services.core.bus.event_row import opened_rows
from services.core.settings import ArchiveSettings, RetentionSettings
from services.keep_time.keeper import KEEP_TIME
from services.mail.link_tokens import rating_link
from services.operations import daily
from services.operations.archive import move
from services.operations.erase.export import export, new_folder
from services.operations.erase.files import archives, blobs
from services.operations.erase.person import person
from services.operations.erase.proof import prove
from services.operations.erase.run import erase
from services.operations.erase.stores import tables
from services.operations.erase.survey import Survey, survey
from services.operations.ratings import LinkUnknown, ratable
from services.operations.rebuild import run as rebuild
from services.operations.rebuild.scopes import scope
from services.operations.rebuild.shadow_schema import connected
from services.operations.replay.model import Asking
from services.operations.replay.run import past_cases, replay
from services.operations.replay.selection import Selection
from services.operations.requests import ask
from services.operations.retention import ask as asking
from services.operations.retention.rounds import Clearing, today
from services.operations.retention.run import RETENTION, preview, run
from tests.support.app import running_app
from tests.support.bus import until_true
from tests.support.documents import shelve
from tests.support.remembering import ADA, START, fact
from tests.support.tending import Tended, tending

pytestmark = [pytest.mark.slow, pytest.mark.timeout(400)]

WORD = "zanzibarlantern"  # stands in the mail alone
KEEP = RetentionSettings(bodies_days=60, blobs_days=60, facts_days=200, checkpoints_days=60, journal_days=100)
LONG = timedelta(days=900)  # the deployment stores by the wall clock: its story has to be told well after today


@pytest.fixture
async def app(stack: Endpoints, database: str, topic_prefix: str, tmp_path: Path) -> AsyncIterator[Tended]:
    said = {"retention": KEEP.model_dump(), "archive": {"daily": False}}
    async with tending(stack, database, topic_prefix, tmp_path, **said) as one:
        await one.rows("SELECT make_journal_day(%(day)s)", day=START.date())
        yield one


async def clear(app: Tended, rounds: int = 2) -> dict[str, int]:
    """Rounds of retention, each with what the owners decide then; how much went, by step. No step failed."""
    went: dict[str, int] = {}
    for _ in range(rounds):
        async for done in run(Clearing(app.app, today(app.clock()))):
            assert not done.error
            went[done.step.name] = went.get(done.step.name, 0) + done.count
        await app.settle()
    return went


async def due(app: Tended) -> dict[str, int]:
    """What would go now, by step, where anything would."""
    found = [one async for one in preview(Clearing(app.app, today(app.clock())))]
    return {one.step.name: one.count for one in found if one.count}


async def places(app: Tended, word: str = WORD) -> set[str]:
    """Where a word stands: in which tables and blobs, sealed parts opened."""
    return {
        place.partition(",")[0].partition(" ")[0] + place[-6:]
        for store in (tables, blobs, archives)
        async for place, text in store(app.app)
        if word in text
    }


async def differences(app: Tended) -> Any:
    """Where the live tables are no fold of the events."""
    found = await rebuild.check(app.app.settings, scope("all"), lambda count: None, archive_of(app.app.settings))
    return found.differences


async def archive_all(app: Tended) -> int:
    """Move every event that may leave to files; how many files."""
    async with connected(app.app.settings.database_url) as conn:
        return len([one async for one in move(conn, archive_of(app.app.settings), app.clock())])


async def written(app: Tended, **given: Any) -> UUID:
    """A thread that rests: a mail of long ago, and its answer."""
    thread = await app.write(f"The export fails. I keep my reports under {WORD}, please help.", **given)
    await app.wait(days=40)
    app.clock.forward(app.clock() + LONG)
    return thread


async def test_a_text_goes_from_every_table_event_and_blob(app: Tended) -> None:
    """After two rounds nothing of a mail's words is left, its row and summary are, and the fold agrees all the time."""
    thread = await written(app)
    assert await places(app) != set()
    went = await clear(app, rounds=1)
    assert await differences(app) == ()
    for name, count in (await clear(app, rounds=1)).items():
        went[name] += count
    assert await places(app) == set()
    assert went["texts in stored events"] >= 5
    assert went["mails and replies with blobs"] == 2
    assert await due(app) == {}
    seen = await app.thread(thread)
    assert [(one.role, one.text, one.gone_at is None) for one in seen.conversation] == [
        ("customer", "", False),
        ("agent", "", False),
    ]
    assert seen.summary
    assert await differences(app) == ()


async def test_what_is_archived_is_emptied_in_its_file(app: Tended) -> None:
    """A file is written anew without the texts, the former is gone, none is lost, and the fold is the live state."""
    await written(app)
    assert await archive_all(app) >= 1
    before = {one.file: one.events for one in await _manifests(app)}
    went = await clear(app)
    assert went["texts in stored events, archived"] >= 5
    after = {one.file: one.events for one in await _manifests(app)}
    folder = Path(app.app.settings.home) / "archive"
    assert {one.name for one in folder.iterdir()} == set(after)
    assert sum(after.values()) == sum(before.values())
    assert set(before) - set(after)
    assert not any(WORD in text for text in await _archived_texts(app))
    assert await differences(app) == ()
    assert (await clear(app))["texts in stored events, archived"] == 0


async def test_a_thread_in_which_somebody_is_at_work_keeps_everything(app: Tended) -> None:
    """While a person has the thread nothing of it goes, however old; when they have closed it, all of it does."""
    thread = await app.write(f"I want to talk to a human about {WORD}.")
    await app.rows("UPDATE threads SET state = 'escalated' WHERE thread_id = %(thread)s RETURNING 1", thread=thread)
    app.clock.forward(app.clock() + LONG)
    await clear(app)
    assert WORD in (await app.thread(thread)).conversation[0].text
    assert await app.app.blobs.get((await app.rows("SELECT blob FROM mails"))[0]["blob"])
    await app.rows("UPDATE threads SET state = 'closed' WHERE thread_id = %(thread)s RETURNING 1", thread=thread)
    await clear(app)
    assert not any(one.text for one in (await app.thread(thread)).conversation)
    assert await due(app) == {}


@pytest.mark.parametrize("state", ["approved", "unknown"])
async def test_a_reply_that_is_under_way_keeps_its_mime(app: Tended, state: str) -> None:
    """An undelivered reply, or one whose fate nobody knows, keeps every blob of its thread."""
    await written(app)
    await app.rows("UPDATE deliveries SET state = %(state)s RETURNING 1", state=state)
    went = await clear(app)
    assert went["mails and replies with blobs"] == 0
    (row,) = await app.rows("SELECT blob FROM deliveries")
    assert await app.app.blobs.get(row["blob"])


async def test_documents_keep_their_source(app: Tended) -> None:
    """What the knowledge base was made of is not touched."""
    await shelve(app.app, "export.md", "# Export\n\nOpen the report and choose Export.")
    await app.settle()
    await written(app)
    await clear(app)
    (row,) = await app.rows("SELECT blob FROM documents")
    assert await app.app.blobs.get(row["blob"])


async def test_facts_that_nothing_renewed_go_with_what_was_said_of_them(app: Tended) -> None:
    """An old fact goes from tables and events; a pinned one, and one that was said again lately, stay."""
    mail = await app.mail(f"We are on {WORD}. Our region is Bavaria. Our team has seven people.", on=0)
    await app.learn(
        mail,
        fact("codename", WORD, f"We are on {WORD}"),
        fact("region", "Bavaria", "Our region is Bavaria"),
        fact("team", "seven", "Our team has seven people"),
    )
    rows = await app.rows("SELECT fact_id, key FROM facts")
    pinned = next(row["fact_id"] for row in rows if row["key"] == "region")
    await app.ask("pin", 1, fact_id=pinned)
    app.clock.forward(app.clock() + LONG)
    again = await app.mail("Our team has seven people still.", on=890)
    await app.learn(again, fact("team", "seven", "Our team has seven people still"))
    await clear(app)
    left = await app.rows("SELECT key, value FROM facts ORDER BY key")
    assert [(row["key"], row["value"]) for row in left] == [("region", "Bavaria"), ("team", "seven")]
    told = await app.rows("SELECT data, type FROM events WHERE type LIKE 'fact.%%' OR type = 'turn.reflected.v1'")
    told = [row["data"] | {"summary": "", "brief": ""} for row in told]
    assert not any(WORD in str(data) for data in told)
    assert any("Bavaria" in str(data) for data in told)
    assert await differences(app) == ()


async def test_a_brief_goes_with_the_facts_that_it_tells(app: Tended) -> None:
    """What nobody wrote again goes from tables and events, also what waited beside it; the brief that holds stays."""
    for sender, briefs in ((ADA, (f"On {WORD}.", f"Still on {WORD}.")), ("bob@other.example", (f"Was on {WORD}.",))):
        mail = await app.mail("Hello.", on=0, sender=sender)
        for brief in briefs:
            await app.learn(mail, brief=brief)
    app.clock.forward(app.clock() + LONG)
    await app.mail("Hello again.", on=890, sender="bob@other.example")
    await clear(app)
    left = {row["participant_id"]: row["text"] for row in await app.rows("SELECT participant_id, text FROM briefs")}
    assert left.pop(app.person()) == ""
    assert ["Hello again" in text for text in left.values()] == [True]
    assert not any(WORD in row["text"] for row in await app.rows("SELECT text FROM brief_divergences"))
    told = [row["data"] for row in await app.rows("SELECT data FROM events WHERE type LIKE 'participant.brief%%'")]
    told += [row["data"] for row in await app.rows("SELECT data FROM events WHERE type = 'turn.reflected.v1'")]
    assert not any(WORD in str(data) for data in told)
    assert any("Hello again" in data.get("text", "") for data in told)
    assert await differences(app) == ()


async def test_a_past_state_is_folded_across_what_is_gone(app: Tended) -> None:
    """The state of a time before has the rows of then, without the texts that are kept no longer."""
    await written(app)
    (row,) = await app.rows("SELECT max(at) AS at FROM conversation")
    await clear(app)
    settings = app.app.settings
    await rebuild.past(settings, scope("all"), row["at"] + timedelta(minutes=1), "earlier", lambda count: None)
    said = await app.rows("SELECT text, tokens, gone_at FROM earlier.conversation")
    assert [(one["text"], one["gone_at"]) for one in said] == [("", None)] * 2
    assert all(one["tokens"] for one in said)


async def test_the_journal_stays_while_an_event_could_come_again(app: Tended) -> None:
    """A day of it goes only once its events left the table; then a broker that forgot is told nothing of them."""
    await written(app)
    await app.rows("UPDATE journal SET done_at = event_day::timestamptz RETURNING 1")
    await app.rows("UPDATE events SET stored_at = time RETURNING 1")
    (before,) = await app.rows("SELECT count(*) AS n FROM journal")
    assert (await clear(app))["days of the journal"] == 0
    await archive_all(app)
    assert (await clear(app))["days of the journal"] > 0
    old = await app.rows("SELECT 1 FROM journal WHERE event_day < %(day)s", day=app.clock() - timedelta(days=101))
    assert before["n"] > 0
    assert old == []
    (replies,) = await app.rows("SELECT count(*) AS n FROM deliveries")
    await app.settle()  # whatever no journal row stands for would be done again here
    assert await app.rows("SELECT count(*) AS n FROM deliveries") == [replies]


async def test_what_was_done_lately_keeps_its_day_however_old(app: Tended) -> None:
    """An event of long ago that was handled only now may still be on the log: its day of the journal stays."""
    await written(app)
    await app.rows("UPDATE events SET stored_at = time RETURNING 1")
    await app.rows("UPDATE journal SET done_at = %(now)s RETURNING 1", now=app.clock())
    await archive_all(app)
    assert (await clear(app))["days of the journal"] == 0


async def test_killed_at_any_step_the_next_round_completes_it(app: Tended) -> None:
    """SIGKILL after an owner was asked, a blob removed, a file replaced, and while a day of the journal is dropped."""
    await written(app)
    await app.rows("UPDATE events SET stored_at = time RETURNING 1")
    await app.rows("UPDATE journal SET done_at = event_day::timestamptz RETURNING 1")
    for step in ("asked", "blob removed"):
        await _killed(app, step)
    await archive_all(app)
    for step in ("replaced", "day locked"):
        await _killed(app, step)
    await clear(app)
    assert await places(app) == set()
    assert await due(app) == {}
    folder = Path(app.app.settings.home) / "archive"
    counted = {one.file for one in await _manifests(app)}
    assert counted <= {one.name for one in folder.iterdir()}
    assert not any(WORD in text for text in await _archived_texts(app))
    assert await app.rows("SELECT 1 FROM archives WHERE former <> ''") == []
    assert await differences(app) == ()


async def test_a_replay_of_what_is_gone_says_so(app: Tended) -> None:
    """A mail whose bytes or texts retention has taken is not replayed; the reason, the day and the setting are said."""
    thread = await written(app)
    await clear(app)
    settings = app.app.settings
    for wanted, said in (
        (Selection(thread=thread), r"the texts in memory\.loaded\.v1 .*retention\.bodies_days"),
        (
            Selection(thread=thread, until="read_email", topic="inbound-email.raw"),
            r"the raw mail is kept no longer, since 20.*retention\.blobs_days",
        ),
    ):
        results = [one async for _, one, _ in replay(settings, past_cases(settings, wanted, documents=False), Asking())]
        assert [one.code for one in results] == [2]
        assert re.search(said, results[0].error)


async def test_a_person_is_erased_and_shown_after_it_as_before(app: Tended, tmp_path: Path) -> None:
    """With texts and blobs gone, an export holds what is left of one person, and an erase leaves nothing of another."""
    await app.app.cache.drop_all()  # other tests' Adas
    await written(app)
    await app.write("My report is empty since Tuesday.", sender="Bob <bob@other.example>")
    await app.wait(days=40)
    app.clock.forward(app.clock() + LONG)
    await clear(app)
    counts = await export(app.app, await _survey(app, "bob@other.example"), new_folder(tmp_path / "bob"))
    assert counts["events"] > 5
    assert (counts["mails"], counts["replies"]) == (0, 0)
    assert len(list((tmp_path / "bob" / "mails").glob("*.json"))) == 1
    await archive_all(app)
    ada = await _survey(app, ADA)
    marks = ada.marks
    assert (await erase(app.app, ada, by="the test")).events > 5
    assert (await prove(app.app, marks)).findings == ()
    assert await differences(app) == ()
    left = await app.rows("SELECT author_addr FROM mails")
    assert [one["author_addr"] for one in left] == ["bob@other.example"]


async def test_two_rounds_at_once_end_as_one(app: Tended) -> None:
    """Two processes that go through it at the same time take nothing twice, and what is left is the same."""
    await written(app)
    await asyncio.gather(clear(app), clear(app))
    await clear(app)
    assert await places(app) == set()
    assert await due(app) == {}


@pytest.mark.parametrize("step", ["ask_threads", "ask_people"])
async def test_retention_asked_about_somebody_who_was_erased_since_they_were_found_due(
    app: Tended, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    """An erase that begins in between waits; no request about the erased is stored after it."""
    await app.app.cache.drop_all()  # other tests' Adas
    await written(app)
    mail = await app.mail("We are on Team.", on=0)
    await app.learn(mail, fact("plan", "Team", "We are on Team"))
    app.clock.forward(app.clock() + LONG)
    ada, looked = await _survey(app, ADA), asking._due
    erasing: list[asyncio.Task[Any]] = []

    async def erased_meanwhile(*args: Any) -> Any:
        due = await looked(*args)
        erasing.append(asyncio.create_task(erase(app.app, ada, by="the test"), context=Context()))
        await asyncio.wait(erasing, timeout=8)
        return due

    monkeypatch.setattr(asking, "_due", erased_meanwhile)
    await getattr(asking, step)(Clearing(app.app, today(app.clock())))
    await asyncio.gather(*erasing)
    (last,) = await app.rows(
        "SELECT type FROM events WHERE type LIKE '%%due%%' OR type LIKE 'timer.%%' OR type LIKE '%%erased%%' ORDER BY seq DESC LIMIT 1"
    )
    assert last["type"] == "participant.erased.v1"


async def test_of_two_keepers_one_goes_through_the_day(app: Tended) -> None:
    """The daily round is gone through once; it is again a day later, and once more where it was cut short."""
    await written(app)
    stop = asyncio.Event()
    assert sorted(await asyncio.gather(*(daily.if_due(RETENTION, app.app, stop) for _ in range(2)))) == [False, True]
    assert not await daily.if_due(RETENTION, app.app, stop)
    app.clock.forward(app.clock() + timedelta(hours=25))
    assert await daily.if_due(RETENTION, app.app, stop)
    await app.rows("UPDATE upkeep SET begun_at = begun_at + interval '1 minute' RETURNING 1")
    assert await daily.if_due(RETENTION, app.app, stop)


async def test_the_deployment_goes_through_it_by_itself(app: Tended) -> None:
    """What the command says would go is gone after the process that keeps time was at work, and old events are in files."""
    thread = await app.write(f"The export fails. I keep my reports under {WORD}.")
    await app.wait(days=40)
    await app.rows("UPDATE events SET stored_at = time RETURNING 1")
    assert re.search(r"messages in threads +60 d +2", await _typed(app))
    archive = ArchiveSettings(daily=True, after_days=30)
    settings = app.app.settings.model_copy(update={"archive": archive})
    async with running_app(settings, (KEEP_TIME, "read_email", "track_threads")) as at_work:
        await until_true(lambda: _is_over(at_work))
        await until_true(lambda: _has_no_text(app))
    assert [one.role for one in (await app.thread(thread)).conversation] == ["customer", "agent"]
    assert await _manifests(app)
    said = await _typed(app)
    assert re.search(r"messages in threads +60 d +0", said)
    assert "and came to the end" in said
    assert "Kept for good" not in said


async def _has_no_text(app: Tended) -> bool:
    kept = "SELECT mail_id FROM mails WHERE text <> '' UNION SELECT thread_id FROM conversation WHERE text <> ''"
    return await app.rows(kept) == []


async def _is_over(app: App) -> bool:
    row = await daily.last(RETENTION.name, app)
    return row is not None and row["done_at"] is not None


async def _typed(app: Tended, *arguments: str) -> str:
    """What `correspondent retention` says."""
    settings = app.app.settings
    env = {
        "COLUMNS": "120",
        "CORRESPONDENT_DATABASE_URL": settings.database_url,
        "CORRESPONDENT_HOME": str(settings.home),
        "CORRESPONDENT_WORKSPACE": settings.workspace,
        "CORRESPONDENT_KAFKA__BROKERS": settings.kafka.brokers,
        "CORRESPONDENT_KAFKA__EMBEDDED": str(settings.kafka.embedded),
        "CORRESPONDENT_RETENTION": settings.retention.model_dump_json(),
    }
    command = ["--home", str(settings.home), "retention", *arguments]
    result = await asyncio.to_thread(CliRunner().invoke, command_line, command, env=env)
    assert result.exit_code == 0, result.output
    return result.output


async def test_a_step_that_fails_is_said_and_tried_again(app: Tended, monkeypatch: pytest.MonkeyPatch) -> None:
    """A blob store that is away keeps blobs, and nothing else, from going; an hour later they go."""
    await written(app)
    stop = asyncio.Event()

    async def away(_: object, name: str) -> None:
        raise OSError(f"no way to {name}")

    with monkeypatch.context() as patched:
        patched.setattr("services.core.sealed_blobs.SealedBlobs.delete", away)
        assert await daily.if_due(RETENTION, app.app, stop)
    row = await daily.last(RETENTION.name, app.app)
    assert row is not None
    assert row["report"]["failed"] == ["mails and replies with blobs"]
    assert row["done_at"] is None
    assert not await daily.if_due(RETENTION, app.app, stop)
    app.clock.forward(app.clock() + timedelta(hours=2))
    assert await daily.if_due(RETENTION, app.app, stop)
    (mail,) = await app.rows("SELECT blob FROM mails")
    with pytest.raises(BlobMissing):
        await app.app.blobs.get(mail["blob"])


async def _manifests(app: Tended) -> Any:
    async with connected(app.app.settings.database_url) as conn:
        return await manifests(conn)


async def _archived_texts(app: Tended) -> list[str]:
    rows = [row async for row in archived_rows(await _manifests(app), archive_of(app.app.settings))]
    return [str(row.data) for row in await opened_rows(app.app.keys, rows)]


async def _killed(app: Tended, step: str) -> None:
    """A process of its own goes through a round and dies at the step."""
    settings = app.app.settings
    said = settings.model_dump(
        mode="json", include={"database_url", "redis_url", "kafka", "home", "workspace", "retention"}
    )
    arguments = [json.dumps(said), app.clock().isoformat(), step]
    command = [sys.executable, "-m", "tests.support.clearer", *arguments]
    ended = await asyncio.to_thread(subprocess.run, command, check=False, capture_output=True)
    assert ended.returncode == -signal.SIGKILL, (step, ended.stderr.decode())
    await app.settle()


async def _survey(app: Tended, who: str) -> Survey:
    people, names = await person(app.app, who)
    async with app.app.database.reading() as conn:
        return await survey(conn, app.workspace, people, names, archive_of(app.app.settings))


async def test_what_a_customer_wrote_beside_a_rating_goes_with_the_reply(app: Tended) -> None:
    """The rating stays; the comment goes from tables and events, and the tables stay a fold of them; its link is over."""
    await written(app)
    (row,) = await app.rows("SELECT reply_id, thread_id FROM deliveries WHERE state = 'sent'")
    comment = f"It was {WORD}COMMENT."
    await ask(
        app.app, RatingRequested(thread_id=row["thread_id"], reply_id=row["reply_id"], good=False, comment=comment)
    )
    await app.settle()
    assert await app.rows("SELECT comment FROM reply_ratings") == [{"comment": comment}]
    assert await differences(app) == ()
    await app.wait(days=70)
    await clear(app)
    assert await app.rows("SELECT good, comment FROM reply_ratings") == [{"good": False, "comment": ""}]
    assert await places(app, f"{WORD}COMMENT") == set()
    assert await differences(app) == ()
    with pytest.raises(LinkUnknown):
        await ratable(app.app, rating_link(app.app.signing_keys, "main", row["reply_id"], "").rpartition("/")[2])
