"""Agents wired to each other stop by themselves."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from contextlib import AsyncExitStack
from datetime import timedelta
from itertools import count
from pathlib import Path

import pytest

from deploy.local import Endpoints
from services.core.app import App
from services.core.clock import utc_now
from services.demo.clock import SteppingClock
from services.operations.idle import until_idle
from services.receive_email.accept import accept
from tests.flow.conftest import Town
from tests.flow.scenario import AUTHSERV, agent, reflection, rows, verified
from tests.support.app import settings_for
from tests.support.brokerless import running_brokerless
from tests.support.letters import letter
from tests.support.scripted_model import ScriptedModel, Seen
from tests.support.scripted_replies import Behaviour, reply_tool
from tests.support.smtp_server import Kept, SmtpServer
from tests.support.stack import fresh_database

LIMIT = 3  # automatic replies in a thread without a person


async def test_two_inboxes_of_one_deployment_do_not_talk_to_each_other(town: Town) -> None:
    """A mail from one of our own addresses is a loop, whatever else it says."""
    support, billing, _ = (one.address for one in town.app.settings.inboxes)
    await town.post(
        verified("Are you there?", sender=f"Billing <{billing}>", to=support, message_id="<loop@x.example>")
    )
    found = await rows(town.app, "SELECT verdict FROM mails WHERE message_id = 'loop@x.example'")
    assert [row["verdict"] for row in found] == ["loop"]
    assert town.replies(billing) == []


def as_it_is(raw: bytes) -> bytes:
    """A relay that changes nothing."""
    return raw


def stripped(raw: bytes) -> bytes:
    """A relay that takes away whatever says that a machine wrote it."""
    head, _, body = raw.partition(b"\r\n\r\n")
    head = re.sub(rb"(?im)^(Auto-Submitted|X-Auto-Response-Suppress|Precedence):.*\r\n", b"", head + b"\r\n")
    return head + b"\r\n" + body


@pytest.mark.slow
@pytest.mark.parametrize(("relay", "most"), [(as_it_is, 1), (stripped, 2 * LIMIT)])
async def test_two_deployments_wired_to_each_other_stop_by_themselves(
    stack: Endpoints,
    template_database: str,
    topic_prefix: str,
    tmp_path: Path,
    relay: Callable[[bytes], bytes],
    most: int,
) -> None:
    """Honest headers end it at the first reply; without them, each agent ends it after its number of replies."""
    async with AsyncExitStack() as on, ScriptedModel() as model:
        number = count(1)

        def answer(seen: Seen) -> Behaviour:
            return reply_tool("reply", {"text": f"And what about {next(number)}?", "state": "awaiting_reply"})

        model.script(agent(answer, lambda seen: reflection("They wrote again.")))
        apps: list[App] = []
        servers: list[SmtpServer] = []
        for name in ("left", "right"):
            database = on.enter_context(fresh_database(stack.database, template=template_database))
            servers.append(await on.enter_async_context(SmtpServer()))
            settings = settings_for(
                stack, database, f"{topic_prefix}{name}.", tmp_path / name,
                own_authserv_ids=[AUTHSERV],
                threads={"max_auto_replies": LIMIT},
                model={"provider": "anthropic", "api_key": "k", "base_url": model.base_url, "max_retries": 1},
                inboxes=[{"name": "support", "address": f"support@{name}.example"}],
                smtp={"host": "127.0.0.1", "port": servers[-1].port},
            )  # fmt: skip
            apps.append(await on.enter_async_context(running_brokerless(settings)))
        first = verified("Hello?", sender="Support <support@right.example>", message_id="<begin@right.example>")
        await _let_in(apps[0], first, "begin")
        passed = [0, 0]
        for _ in range(4 * LIMIT):
            for here, there in ((0, 1), (1, 0)):
                await until_idle(apps[here])
                for kept in servers[here].accepted[passed[here] :]:
                    passed[here] += 1
                    await _let_in(apps[there], _authenticated(relay(kept.raw), kept), f"{here}-{passed[here]}")
        await asyncio.gather(*(until_idle(app) for app in apps))
        verdicts = [await rows(app, "SELECT verdict, filter FROM mails ORDER BY received_at") for app in apps]
    sent = [len(server.accepted) for server in servers]
    print(sent, verdicts)
    assert 1 <= sum(sent) <= most
    assert (sum(sent) > 1) is (relay is stripped), "without honest headers it is the number that ends it"
    assert max(sent) <= LIMIT
    last = [found[-1]["verdict"] for found in verdicts if found]
    assert any(verdict != "answer" for verdict in last), "it ended because somebody said so"


Robot = Callable[[Kept, int], bytes]


def in_the_thread(kept: Kept, number: int) -> bytes:
    """A robot that answers each mail, in its thread, with another text and nothing that says what it is."""
    return letter(
        f"We have noted your message as case {number * 7919}. What is it about?",
        sender="Desk <desk@robot.example>",
        subject=kept.header("Subject"),
        message_id=f"<robot{number}@robot.example>",
        in_reply_to=f"<{kept.message_id}>",
    )


def in_a_new_thread(kept: Kept, number: int) -> bytes:
    """A robot that refers to nothing and has another subject each time."""
    return letter(
        f"Case {number * 7919} was opened for you. Whom does it concern?",
        sender="Desk <desk@robot.example>",
        subject=f"Case {number * 7919}",
        message_id=f"<robot{number}@robot.example>",
    )


def at_once(kept: Kept, number: int) -> bytes:
    """One that always says the same, in a new thread."""
    return letter("Noted.", sender="Desk <desk@robot.example>", subject="Noted", message_id=f"<r{number}@r.example>")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("robot", "most", "says"),
    [(in_the_thread, LIMIT, "long_monologue"), (in_a_new_thread, 3 * LIMIT, "rates"), (at_once, 4, "storm")],
)
async def test_a_robot_that_answers_everything_is_left_alone(
    stack: Endpoints, database: str, topic_prefix: str, tmp_path: Path, robot: Robot, most: int, says: str
) -> None:
    """No header gives it away and its words change: the number of replies to a thread, and to a sender, ends it."""
    clock = SteppingClock(utc_now())
    async with SmtpServer() as server, ScriptedModel() as model:
        model.script(agent(lambda seen: reply_tool("reply", {"text": "Hello. What can we do?", "state": "in_progress"}),
                           lambda seen: reflection("They wrote again.")))  # fmt: skip
        settings = settings_for(
            stack, database, topic_prefix, tmp_path,
            threads={"max_auto_replies": LIMIT},
            model={"provider": "anthropic", "api_key": "k", "base_url": model.base_url, "max_retries": 1},
            smtp={"host": "127.0.0.1", "port": server.port},
        )  # fmt: skip
        async with running_brokerless(settings, now=clock) as app:
            await _let_in(app, letter("Hello?", sender="Desk <desk@robot.example>"), "begin")
            await until_idle(app)
            answered = 0
            while answered < len(server.accepted) <= 4 * most:
                kept, answered = server.accepted[answered], answered + 1
                clock.forward(clock() + timedelta(minutes=13))  # below each hour's bucket
                await _let_in(app, robot(kept, answered), f"robot-{answered}")
                await until_idle(app)
            last = await rows(app, "SELECT verdict, filter, reason FROM mails ORDER BY received_at DESC LIMIT 1")
    print(len(server.accepted), last)
    assert len(server.accepted) == most
    assert last[0]["verdict"] != "answer"
    assert last[0]["filter"] == says


def _authenticated(raw: bytes, kept: Kept) -> bytes:
    domain = kept.sender.rpartition("@")[2]
    return f"Authentication-Results: {AUTHSERV}; dmarc=pass header.from={domain}\r\n".encode() + raw


async def _let_in(app: App, raw: bytes, key: str) -> None:
    await accept(app, app.settings.inboxes[0], raw, source="file", source_key=key)
