"""What the deployment stands on goes away and comes back in the middle of mail; the deployment recovers by itself."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from itertools import cycle
from pathlib import Path
from uuid import uuid4

import pytest

from deploy.local import EmbeddedStack, Endpoints
from schemas.events.mail import MailReceived, Peer
from services.core.app import App, open_app
from services.core.bus.envelope import first
from services.core.bus.event_row import EventRow
from services.core.bus.processor import Processor
from services.core.bus.retry import PASSING
from services.core.bus.runner import Runner, publish
from services.core.bus.topics_admin import committed, ends
from services.core.bus.work import Work
from services.core.db import fetch_all
from services.mail.compose import Composed
from services.operations.idle import unfinished, until_idle
from services.operations.preparation import prepare
from services.operations.rebuild.projections import state_hash
from services.pipeline import PROCESSORS
from services.process import working
from services.receive_email.accept import accept
from services.send_email.frozen import Frozen, kept
from tests.chaos.traffic import Mail, make_mails, offered
from tests.flow.scenario import agent, reflection
from tests.oracle.collect import judged
from tests.oracle.judge import Judged
from tests.support.app import running_app, settings_for
from tests.support.bus import PATIENCE_S
from tests.support.groups import reset_group
from tests.support.scripted_model import ScriptedModel, failing, hang, malformed_json, reply_text, reply_tool
from tests.support.smtp_server import SmtpServer
from tests.support.stack import uses_apache_kafka

pytestmark = pytest.mark.timeout(240)
HALF, ALL = 10, 20
CONTENT = b"The bytes of a file"
WELL = {"text": "Hello,\n\nwe look into it.\n\nBest regards", "state": "awaiting_reply"}

Groups = dict[str, dict[tuple[str, int], int]]  # what each group has to read: the end of each partition


async def _kept_file(work: Work[MailReceived]) -> str:
    return await work.keep(CONTENT)


async def _kept_message(work: Work[MailReceived]) -> str:
    message = Composed(
        CONTENT, "1@ourcompany.example", "support@ourcompany.example", "ann@a.example", "", (), (), False
    )
    found = await kept(work, lambda: message)
    assert isinstance(found, Frozen)
    return found.blob


@pytest.mark.parametrize("part", ["kafka", "database", "redis"])
async def test_a_part_of_the_stack_is_killed_in_the_middle_of_mail(
    embedded_stack: EmbeddedStack, stack: Endpoints, database: str, topic_prefix: str, tmp_path: Path, part: str
) -> None:
    """kill -9 of the broker (the embedded one forgets all), of Postgres or of Valkey: each mail still ends once."""
    if part not in embedded_stack.pids():
        pytest.skip(f"this session's {part} is not run by the stack")
    if part == "kafka" and not uses_apache_kafka():
        pytest.skip("a live deployment does not always recover from the embedded broker's death (README)")
    mails = make_mails(11, ALL, 12)
    async with SmtpServer() as server:
        settings = settings_for(
            stack, database, topic_prefix, tmp_path, smtp={"host": "127.0.0.1", "port": server.port}
        )
        async with running_app(settings) as app:
            await _offer(app, mails[:HALF])
            assert await unfinished(app) > 0, "the part must die in the middle of work"
            embedded_stack.kill(part)
            offering = asyncio.create_task(_offer(app, mails[HALF:]))
            await asyncio.sleep(1)
            await asyncio.to_thread(embedded_stack.restart, part)
            await offering
            verdict = await _at_rest(app, server, mails)
    print(verdict.line(killed=part))
    assert verdict.faults == ()
    assert verdict.answered > ALL // 2


async def test_what_a_consumer_has_seen_is_on_disk_before_its_offset_moves(
    embedded_stack: EmbeddedStack, stack: Endpoints, database: str, topic_prefix: str, tmp_path: Path
) -> None:
    """Postgres is killed right after handlers had nothing to do: the journal has each event, so nothing counts as undone."""

    async def nothing_to_do(work: Work[MailReceived]) -> None:
        return

    settings = settings_for(stack, database, topic_prefix, tmp_path)
    await prepare(settings)
    async with open_app(settings) as app:
        await _offer(app, make_mails(3, ALL, ALL))
        async with app.database.reading() as conn:
            events = [
                EventRow.of(**row).envelope() for row in await fetch_all(conn, "SELECT * FROM events ORDER BY seq")
            ]
        for event in events:
            await Runner(Processor("read_email", {MailReceived: nothing_to_do}), app).process(event)
        embedded_stack.kill("database")
    await asyncio.to_thread(embedded_stack.restart, "database")
    async with open_app(settings) as app, app.database.reading() as conn:
        done = await fetch_all(conn, "SELECT event_id FROM journal WHERE consumer = 'read_email'")
    assert {row["event_id"] for row in done} == {event.id for event in events}
    assert len(events) == ALL


@pytest.mark.parametrize("kept_by", [_kept_file, _kept_message])
async def test_what_was_kept_under_a_new_key_could_not_be_read_once_postgres_was_killed(
    embedded_stack: EmbeddedStack,
    stack: Endpoints,
    database: str,
    topic_prefix: str,
    tmp_path: Path,
    kept_by: Callable[[Work[MailReceived]], Awaitable[str]],
) -> None:
    """A key is on disk before anything is sealed with it: an attached file's, and a finished message's."""
    settings = settings_for(stack, database, topic_prefix, tmp_path)
    await prepare(settings)
    async with open_app(settings) as app:
        data = MailReceived(
            mail_id=uuid4(), inbox="support", source="file", source_key="1", blob="b", size=1, peer=Peer()
        )
        cause = first(data, id=uuid4(), source="test", time=app.now(), workspace=settings.workspace)
        async with app.database.reading() as conn:  # what was written before is on disk, so nothing is there by chance
            await conn.execute("CHECKPOINT")
        blob = await kept_by(Work(data, cause, "send_email", app, {}))
        embedded_stack.kill("database")
    await asyncio.to_thread(embedded_stack.restart, "database")
    async with open_app(settings) as app:
        assert await app.blobs.get(blob) == CONTENT


async def test_a_model_that_hangs_or_talks_garbage_and_then_recovers(
    stack: Endpoints, database: str, topic_prefix: str, tmp_path: Path
) -> None:
    """No mail is lost to a sick model: each ends in an answer or with a human, and a well one answers the next."""
    async with SmtpServer() as server, ScriptedModel() as model:
        smtp = {"host": "127.0.0.1", "port": server.port}
        asked = {"provider": "anthropic", "base_url": model.base_url, "api_key": "k", "timeout_s": 1, "budget_s": 3}
        settings = settings_for(stack, database, topic_prefix, tmp_path, smtp=smtp, model={**asked, "max_retries": 1})
        async with running_app(settings) as app:
            troubles = cycle((hang(), malformed_json(), failing(500), reply_text("I call no tool.")))
            model.script(lambda seen: next(troubles))
            mails = make_mails(5, 8, 8)
            await _offer(app, mails)
            await _asked(model, 8)
            model.script(agent(lambda seen: reply_tool("reply", WELL), lambda seen: reflection("They asked.")))
            await _at_rest(app, server, mails, timeout_s=200)
            before = len(server.accepted)
            more = make_mails(6, 4, 4)
            await _offer(app, more)
            verdict = await _at_rest(app, server, [*mails, *more], timeout_s=200)
    print(verdict.line(requests=len(model.requests)))
    assert verdict.faults == ()
    assert len(server.accepted) - before == 4, "a well model answers every mail"


async def test_a_group_reset_to_earliest_sends_nothing_and_changes_nothing(
    embedded_stack: EmbeddedStack, stack: Endpoints, database: str, topic_prefix: str, tmp_path: Path
) -> None:
    """Every consumer reads all of its topics again from the beginning: no mail leaves, no table and no event changes."""
    async with SmtpServer() as server:
        settings = settings_for(
            stack, database, topic_prefix, tmp_path, smtp={"host": "127.0.0.1", "port": server.port}
        )
        async with running_app(settings) as app:
            mails = make_mails(21, HALF, 6)
            await _offer(app, mails)
            await _at_rest(app, server, mails)
        if not uses_apache_kafka():
            await asyncio.to_thread(embedded_stack.restart, "kafka")
            await prepare(settings)
        async with open_app(settings) as app:
            before, sent, events = await _state(app), len(server.accepted), await _count(app)
            reread = await _begin_again(app)
            async with working(app, [one.name for one in PROCESSORS]):
                await _read_to_the_end(app, reread)
            assert len(server.accepted) == sent > 0
            assert await _state(app) == before
            assert await _count(app) == events
    print(f"{sum(sum(until.values()) for until in reread.values())} deliveries read again, {sent} mails sent before")


async def _offer(app: App, mails: Sequence[Mail]) -> None:
    """Let the mails in; a source whose mail was not accepted offers it again."""
    for mail in mails:
        while True:
            try:
                await accept(app, app.settings.inboxes[0], mail.raw, source="file", source_key=mail.key)
                break
            except (*PASSING, OSError) as error:
                print(f"{mail.key} is offered again: {error!r}")
                await asyncio.sleep(0.3)


async def _at_rest(app: App, server: SmtpServer, mails: Sequence[Mail], timeout_s: float = 120) -> Judged:
    await until_idle(app, timeout_s=timeout_s)
    async with app.database.reading() as conn:
        return await judged(partial(fetch_all, conn), offered(mails), server)


async def _state(app: App) -> dict[str, str]:
    async with app.database.reading() as conn:
        return await state_hash(conn)


async def _count(app: App) -> int:
    async with app.database.reading() as conn:
        return int((await fetch_all(conn, "SELECT count(*) AS n FROM events"))[0]["n"])


async def _begin_again(app: App) -> Groups:
    """Set every group to the beginning of every topic; what each has to read again.

    The embedded broker does not let a group be reset that has had members. It was restarted instead, so that all
    groups are new, and is given everything that was ever stored.
    """
    kafka, found = app.settings.kafka, Groups()
    if kafka.embedded:
        async with app.database.reading() as conn:
            rows = await fetch_all(conn, "SELECT * FROM events ORDER BY seq")
        await publish(app, [EventRow.of(**row).envelope() for row in rows])
    for one in PROCESSORS:
        group = kafka.topic_prefix + one.name
        found[group] = await ends(kafka.brokers, [kafka.topic_prefix + topic for topic in one.topics])
        if not kafka.embedded:
            await reset_group(kafka.brokers, group, dict.fromkeys(found[group], 0))
    return found


async def _asked(model: ScriptedModel, count: int) -> None:
    async with asyncio.timeout(PATIENCE_S):
        while len(model.requests) < count:
            await asyncio.sleep(0.05)


async def _read_to_the_end(app: App, groups: Groups) -> None:
    async with asyncio.timeout(120):
        for group, until in groups.items():
            while any(
                at < until[place]
                for place, at in (await committed(app.settings.kafka.brokers, group, list(until))).items()
            ):
                await asyncio.sleep(0.2)
