"""A year later: the demo's customers ask, and are told from memory what is so now, what was so then, and no more."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from deploy.local import Endpoints
from services.core.app import App
from services.demo.clock import SteppingClock
from services.demo.director import demo_settings, play
from services.demo.world import SentReply, World, ZoneResolver, make_world
from services.demo.world.things import Mail
from tests.flow.scenario import rows
from tests.support.app import settings_for
from tests.support.brokerless import running_brokerless
from tests.support.offline import MODEL

pytestmark = [pytest.mark.slow, pytest.mark.timeout(400)]
YEAR = timedelta(days=365)


async def deliver(app: App, clock: SteppingClock, mail: Mail, replies: dict[str, SentReply]) -> str:
    """A mail of the world through the whole deployment; the reply's text, or ""."""
    came = await play(app, clock, mail, replies)
    return replies[mail.key].text if came.replies else ""


def asks(world: World, first: Mail, key: str, text: str, hours: int) -> Mail:
    """The same person, a year after the last mail of the world, with a new question."""
    at = world.mails[-1].received_at + YEAR + timedelta(hours=hours)
    message = replace(first.message, message_id=f"{key}@later.example", subject=key, date=at, text=text)
    return replace(first, key=key, received_at=at, message=message)


async def test_customers_are_told_from_memory_after_a_year(
    stack: Endpoints, topic_prefix: str, database: str, tmp_path: Path
) -> None:
    """Plan and size as last told, the plan of long ago as that, and of what was never said that nothing is noted."""
    world = make_world(0)
    known = {mail.envelope_from: mail for mail in reversed(world.mails) if mail.expected.learned}
    john, maria = known["john@acme.example"], known["maria@bluefin.example"]
    inboxes = [one.model_dump() for one in demo_settings(world, stack, tmp_path).inboxes]
    settings = settings_for(stack, database, topic_prefix, tmp_path, inboxes=inboxes)
    clock = SteppingClock(world.mails[0].received_at)
    replies: dict[str, SentReply] = {}
    async with running_brokerless(settings, model=MODEL, resolver=ZoneResolver(world.dns_zone), now=clock) as app:
        for mail in world.mails:
            if mail.envelope_from in known:
                await deliver(app, clock, mail, replies)
        then = john.received_at
        questions = [
            asks(world, john, "now", "Hello,\n\nwhich plan are we on? How many users do we have?\n\nJohn", 0),
            asks(world, john, "then", f"Hello,\n\nwhich plan were we on in {then:%B %Y}?\n\nJohn", 48),
            asks(world, john, "never", "Hello,\n\ndid I tell you the name of my dog?\n\nJohn", 96),
            asks(world, maria, "hers", "Hello,\n\nwhich plan are we on?\n\nMaria", 120),
        ]
        now, before, never, hers = [await deliver(app, clock, one, replies) for one in questions]
        contexts = await rows(app, "SELECT data FROM events WHERE type = 'memory.loaded.v1' ORDER BY seq")
    seen = "\n".join(layer["text"] for layer in contexts[-len(questions)]["data"]["layers"])
    for resumed in (
        "John Miller, customer",
        "issue: invoice march (reported once, resolved",
        "on the Enterprise plan",
        "(closed)",
    ):
        assert resumed in seen, "the same agent knows who writes, what it was about, the plan, and how it ended last"
    assert now.startswith("Hi John,")
    assert "Good to hear from you again" in now
    assert "you are on the Enterprise plan" in now
    assert "you have 60 users" in now
    assert "is on the Team plan" in before
    assert "Enterprise" not in before
    assert "I have nothing noted of this" in never
    assert "you are on the Team plan" in hers
    assert "Enterprise" not in hers
