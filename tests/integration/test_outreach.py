"""Mail that we begin, on the whole flow: drafts by rules, caps, who never gets one, unsubscribing, outcomes, restarts."""

from __future__ import annotations

import asyncio
import tomllib
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email import message_from_bytes
from functools import partial
from io import StringIO
from itertools import takewhile
from pathlib import Path
from textwrap import dedent
from typing import Any
from uuid import UUID, uuid4

import httpx
import pytest

from deploy.local import Endpoints
from schemas.events.answers import AssignmentRequested, ReplyRequested
from schemas.events.lifecycle import ParticipantStateRequested
from schemas.events.mail import EmailRead
from schemas.events.marks import ThreadMarksRequested
from schemas.events.memory import FactRequested
from schemas.events.merging import ParticipantMergeRequested
from schemas.events.replies import HUMAN_ANSWERED, LEFT_ALONE, NEWER_MAIL, DraftDecided, ReplyDrafted, ReplySent
from schemas.events.threads import ThreadTransitionRequested
from services import reach_out, send_email
from services.cli.outreach import table_of
from services.cli.terminal import Terminal
from services.core.bus.codec import encode
from services.core.bus.delivery import Delivery
from services.core.bus.envelope import Envelope
from services.core.bus.runner import Runner
from services.core.ids import participant_id
from services.core.mailbox import MailboxKey
from services.core.web import make_app
from services.mail.unsubscribe import make_unsubscribe_token
from services.operations.drafts.listing import HeldDraft, waiting_drafts
from services.operations.erase.run import erase
from services.operations.outreach import RuleLine, ask_for_rounds, by_person, outreach_by_rule
from services.operations.requests import ask
from services.pipeline import PROCESSORS
from services.web.routes import served
from tests.support.beginning import after
from tests.support.console import signed_in, text_of
from tests.support.erasing import differences, found
from tests.support.tending import Tended, tending

pytestmark = pytest.mark.timeout(300)
RENEWAL = {
    "name": "renewal",
    "text": "Hi {name},\n\nyour plan renews on {date}. Shall we talk about it?\n\nSupport",
    "fact": "renewal date",
    "within_days": 14,
    "silent_days": 30,
}
ADA, BO = "Ada <ada@one.example>", "Bo <bo@two.example>"
TOKEN = "a token for tests"
PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "reach-out.md"


@dataclass
class Desk:
    """A deployment whose replies leave by themselves, and whose days pass when a test says so."""

    app: Tended

    def who(self, address: str) -> UUID:
        return participant_id(self.app.workspace, MailboxKey(address.rpartition("<")[2].strip(">")))

    async def know(self, sender: str, renews: str, text: str = "Hello, how do I export?") -> UUID:
        """Somebody writes, and a colleague notes when their plan renews; their thread."""
        thread = await self.app.write(text, sender=sender)
        await self.app.wait(minutes=1)
        said = {"participant_id": self.who(sender), "op": "add", "key": "renewal date", "value": renews, "by": "grace"}
        await ask(self.app.app, FactRequested.model_validate({**said, "text": f"Their plan renews on {renews}."}))
        await self.app.settle()
        return thread

    async def days(self, number: float) -> None:
        """Days pass; threads are closed, and nobody goes through a round."""
        await self.app.wait(days=number)

    async def round(self) -> list[HeldDraft]:
        """The day's round, and what waits then."""
        await ask_for_rounds(self.app.app)
        await self.app.settle()
        return await self.waiting()

    async def waiting(self) -> list[HeldDraft]:
        async with self.app.app.database.reading() as conn:
            return list(await waiting_drafts(conn, self.app.workspace))

    async def decide(self, held: HeldDraft, *, approve: bool = True, text: str = "") -> None:
        """A person's word on a draft."""
        word = DraftDecided(
            reply_id=held.reply_id, thread_id=held.thread_id, approve=approve, text_sha256=held.text_sha256, text=text,
            by="grace",
        )  # fmt: skip
        await ask(self.app.app, word)
        await self.app.settle()

    async def mime(self, held: HeldDraft) -> Any:
        """The message that left."""
        rows = await self.app.rows("SELECT blob FROM deliveries WHERE reply_id = %(id)s", id=held.reply_id)
        return message_from_bytes(await self.app.app.blobs.get(rows[0]["blob"]))

    async def line(self) -> RuleLine:
        """What came of the one rule."""
        async with self.app.app.database.reading() as conn:
            [line] = await outreach_by_rule(conn, self.app.workspace)
        return line

    async def sent(self) -> HeldDraft:
        """Ada's renewal is near after a month of silence; the draft is approved and leaves."""
        await self.know(ADA, "2026-02-10")
        await self.days(32)
        [held] = await self.round()
        await self.decide(held)
        return held


@pytest.fixture
async def desk(
    request: pytest.FixtureRequest, stack: Endpoints, database: str, topic_prefix: str, tmp_path: Path
) -> AsyncIterator[Desk]:
    said = {"reach_out": {"rules": [RENEWAL]}, **getattr(request, "param", {})}
    async with tending(stack, database, topic_prefix, tmp_path, **said) as app:
        yield Desk(app)


@pytest.fixture
async def renewing(
    request: pytest.FixtureRequest, stack: Endpoints, template_database: str, topic_prefix: str, tmp_path: Path
) -> AsyncIterator[Desk]:
    """A deployment in which Ada's plan renews on 10 February."""
    said = {"reach_out": {"rules": [RENEWAL]}, **getattr(request, "param", {})}
    async with after(ada_renews, tending, stack, template_database, topic_prefix, tmp_path, **said) as app:
        yield Desk(app)


async def ada_renews(app: Tended) -> None:
    """Ada writes, and a colleague notes when her plan renews."""
    await Desk(app).know(ADA, "2026-02-10")


async def test_a_renewal_near_after_silence_is_a_draft_that_says_how_to_unsubscribe(renewing: Desk) -> None:
    """It waits under `auto`, in the customer's own closed thread, which it leaves closed; approved it leaves once."""
    [thread] = [row["thread_id"] for row in await renewing.app.rows("SELECT thread_id FROM threads")]
    step = {"to_state": "resolved", "trigger": "human", "by": "grace", "reason": "solved"}
    await ask(renewing.app.app, ThreadTransitionRequested.model_validate({"thread_id": thread, **step}))
    await renewing.app.settle()
    assert await renewing.round() == [], "they wrote just now"
    await renewing.days(32)
    assert (await renewing.app.thread(thread)).thread.state == "closed"
    [held] = await renewing.round()
    assert held.thread_id == thread
    assert held.text.startswith("Hi Ada,\n\nyour plan renews on 2026-02-10.")
    assert held.reason == "rule renewal: renewal date 2026-02-10, they wrote last on 2026-01-05"
    assert "You want no such mail from us? Write to support@" in held.shown
    assert (await renewing.line()).waiting == 1
    await renewing.decide(held)
    assert (await renewing.app.thread(thread)).thread.state == "closed"
    message = await renewing.mime(held)
    assert message["List-Unsubscribe"].startswith("<mailto:support@ourcompany.example?subject=unsubscribe%20")
    assert message["List-Unsubscribe-Post"] is None
    for part in message.walk():
        if not part.is_multipart():
            assert b"You want no such mail from us?" in part.get_payload(decode=True)
    line = await renewing.line()
    assert (line.proposed, line.sent, line.waiting) == (1, 1, 0)
    assert await renewing.round() == [], "it is the same day"
    await renewing.days(1)
    assert await renewing.round() == [], "it is the same occasion"


@pytest.mark.parametrize("renewing", [{"reach_out": {}}], indirect=True)
async def test_off_by_default(renewing: Desk) -> None:
    """Without a rule no round is asked for."""
    await renewing.days(32)
    assert await renewing.round() == []
    assert await renewing.app.rows("SELECT id FROM events WHERE type = 'outreach.due.v1'") == []


@pytest.mark.parametrize("desk", [{"reach_out": {"rules": [RENEWAL], "per_day": 2}}], indirect=True)
async def test_caps_hold_after_days_of_downtime_and_nothing_outdated_is_followed_up(desk: Desk) -> None:
    """Five renewals while nobody was there: two drafts a day from then on, and those that lie too far back never."""
    for number, day in enumerate(("2026-02-02", "2026-02-10", "2026-02-10", "2026-02-11", "2026-02-12")):
        await desk.know(f"Customer <c{number}@company{number}.example>", day)
    await desk.days(35)  # the 9th of February, by which the first renewal is a week ago
    counts = []
    for _ in range(4):
        await desk.round()
        await desk.round()
        counts.append(len(await desk.waiting()))
        await desk.days(1)
    assert counts == [2, 4, 4, 4]
    rows = await desk.app.rows("SELECT reason FROM outreach ORDER BY reason")
    assert not any("2026-02-02" in row["reason"] for row in rows)


async def test_a_round_that_is_come_to_days_later_proposes_nothing(renewing: Desk) -> None:
    """The processor was away, and its event waited on the log: its day is over."""
    await renewing.days(32)
    await ask_for_rounds(renewing.app.app)
    renewing.app.clock.forward(renewing.app.clock() + timedelta(days=3))
    await renewing.app.settle()
    assert await renewing.waiting() == []
    assert len(await renewing.round()) == 1, "today's reason holds today"


async def test_restarts_and_repeats_propose_once(renewing: Desk) -> None:
    """Two keepers ask in the same moment, the processor is cut off, and every event comes twice."""
    await renewing.days(32)
    await asyncio.gather(*(ask_for_rounds(renewing.app.app) for _ in range(3)))
    [due] = await renewing.app.waiting(reach_out.PROCESSOR)
    one, other = (Runner(reach_out.PROCESSOR, renewing.app.app) for _ in range(2))
    cut = asyncio.create_task(one.process(due))
    await asyncio.sleep(0)
    cut.cancel()
    await asyncio.gather(cut, return_exceptions=True)
    await asyncio.gather(one.process(due), other.process(due))
    await renewing.app.settle()
    [held] = await renewing.waiting()
    await renewing.app.rows("DELETE FROM journal WHERE consumer = 'reach_out' RETURNING event_id")
    await renewing.app.settle()
    assert [one.reply_id for one in await renewing.waiting()] == [held.reply_id]
    await renewing.decide(held)
    before = await renewing.app.rows("SELECT * FROM outreach")
    await renewing.app.rows("DELETE FROM journal WHERE consumer = 'reach_out' RETURNING event_id")
    await renewing.app.settle()
    assert await renewing.app.rows("SELECT * FROM outreach") == before


async def test_never_to_whom_nothing_may_be_sent(desk: Desk) -> None:
    """Suppressed, at risk, lost, of high risk, with a person of ours, being answered, unsubscribed, written to lately: each is left out."""
    names = ("bounced", "risky", "left", "cross", "taken", "called", "drafted", "gone", "told", "fine")
    people = {name: f"{name} <{name}@{name}.example>" for name in names}
    threads = {name: await desk.know(sender, "2026-02-10") for name, sender in people.items()}
    await desk.days(32)
    await desk.app.rows(
        "INSERT INTO suppressions (workspace, addr, reason, mail_id, at) VALUES"
        " (%(w)s, 'bounced@bounced.example', 'hard', %(id)s, now()) RETURNING addr",
        w=desk.app.workspace, id=UUID(int=1),
    )  # fmt: skip
    states = [
        ("risky", "customer"),
        ("risky", "at_risk"),
        ("left", "customer"),
        ("left", "at_risk"),
        ("left", "churned"),
    ]
    for name, state in states:
        step = {"participant_id": desk.who(people[name]), "to_state": state, "by": "grace", "reason": "they said so"}
        await ask(desk.app.app, ParticipantStateRequested.model_validate(step))
    await desk.app.rows(
        "UPDATE participants SET risk = 'high' WHERE participant_id = %(id)s RETURNING 1", id=desk.who(people["cross"])
    )
    await desk.app.rows(
        "UPDATE deliveries SET sent_at = %(now)s WHERE thread_id = %(id)s RETURNING 1",
        now=desk.app.app.now(), id=threads["told"],
    )  # fmt: skip
    await desk.app.rows(
        "UPDATE threads SET state = 'escalated' WHERE thread_id = %(id)s RETURNING 1", id=threads["called"]
    )
    await desk.app.rows(
        "UPDATE threads SET open_turn = thread_id WHERE thread_id = %(id)s RETURNING 1", id=threads["drafted"]
    )
    await ask(desk.app.app, AssignmentRequested(thread_id=threads["taken"], assignee="bo", take_over=True, by="bo"))
    await desk.app.settle()
    async with desk.app.at_work():
        await by_person(desk.app.app, desk.who(people["gone"]), lifted=False, by="grace", timeout_s=60)
    assert [one.thread_id for one in await desk.round()] == [threads["fine"]]
    assert [row["thread_id"] for row in await desk.app.rows("SELECT thread_id FROM outreach")] == [threads["fine"]]


STUCK = {"name": "stuck", "goal_days": 10, "text": "Hi {name},\n\ncan we help with: {goal}?"}


def rules_of_the_page() -> list[dict[str, Any]]:
    """Those that docs/how-to/reach-out.md shows."""
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    block = takewhile(lambda line: not line or line.startswith("    "), lines[lines.index("    [reach_out]") :])
    rules: list[dict[str, Any]] = tomllib.loads(dedent("\n".join(block)))["reach_out"]["rules"]
    return rules


@pytest.mark.parametrize("desk", [{"reach_out": {"rules": [*rules_of_the_page(), STUCK]}}], indirect=True)
async def test_the_rules_of_the_page_hold_for_whom_they_say(desk: Desk) -> None:
    """Onboarding that is stuck, a promise for today, an open goal; not who has done it, came lately, is over or never proven."""
    names = ("ann", "done", "lately", "sam", "forged", "goal", "new goal", "promised", "over")
    people = {name: f"{name} <{name.replace(' ', '')}@{name.replace(' ', '')}.example>" for name in names}
    threads = {name: await desk.app.write("Hello there!", sender=sender) for name, sender in people.items()}
    await desk.app.wait(minutes=1)

    async def say(name: str, kind: Any, **said: Any) -> None:
        named = {"participant_id": desk.who(people[name])} if kind is not ThreadMarksRequested else {}
        await ask(desk.app.app, kind.model_validate({**named, "by": "grace", **said}))
        await desk.app.settle()

    async def stands(name: str) -> None:
        await say(name, ParticipantStateRequested, to_state="prospect", reason="they said so")

    async def knows(name: str, key: str, value: str, **said: Any) -> None:
        await say(name, FactRequested, op="add", key=key, value=value, text=f"Their {key} is {value}.", **said)

    for name in ("ann", "done", "forged"):
        await stands(name)
    await knows("done", "onboarding done", "yes")
    await knows("promised", "follow up date", "2026-01-25")
    await knows("over", "follow up date", "2026-01-25", valid_to="2026-01-20")
    await desk.app.rows("UPDATE mails SET trusted = false WHERE author_addr LIKE 'forged%%' RETURNING 1")
    await desk.days(8)  # their threads are resolved by now, which closes what goals they had
    await say("goal", ThreadMarksRequested, thread_id=threads["goal"], add_goals=["move their data"])
    await desk.days(8)
    await stands("lately")
    await say("new goal", ThreadMarksRequested, thread_id=threads["new goal"], add_goals=["move their data"])
    await desk.days(4)
    held = {one.recipient.partition("@")[0]: one for one in await desk.round()}
    assert {name: one.reason.split(":")[0] for name, one in held.items()} == {
        "ann": "rule onboarding", "promised": "rule follow-up", "goal": "rule stuck",
    }  # fmt: skip
    assert len(await desk.app.rows("SELECT outreach_id FROM outreach")) == len(held)
    assert "can we help with: move their data?" in held["goal"].text
    await desk.decide(held["ann"], approve=False)
    await knows("ann", "follow up date", "2026-01-26")
    await desk.days(1)
    assert "ann@ann.example" not in {one.recipient for one in await desk.round()}, "they got one lately"


async def test_a_mail_with_the_token_unsubscribes_whoever_sent_it_and_is_not_answered(desk: Desk) -> None:
    """Unproven or from another address; a token that is made up does nothing; and nothing is ever proposed again."""
    await desk.sent()
    [row] = await desk.app.rows("SELECT outreach_id FROM outreach")
    token = make_unsubscribe_token(desk.app.app.signing_keys, desk.app.workspace, row["outreach_id"])
    await desk.app.write("", sender="x@else.example", subject=f"unsubscribe {'a' * 42}")
    assert (await desk.line()).unsubscribed == 0
    await desk.app.write("Please stop.", sender="x@else.example", subject=f"Unsubscribe {token}")
    await desk.app.wait(minutes=5)
    verdicts = await desk.app.rows("SELECT verdict, filter FROM mails WHERE subject LIKE 'Unsubscribe %%'")
    assert verdicts == [{"verdict": "park", "filter": "unsubscribes"}]
    assert (await desk.line()).unsubscribed == 1
    await desk.app.write("", sender="x@else.example", subject=f"unsubscribe {token}")
    assert len(await desk.app.rows("SELECT how FROM unsubscribes")) == 1
    await desk.days(330)
    said = {"participant_id": desk.who(ADA), "op": "correct", "key": "renewal date", "value": "2027-01-10", "by": "g"}
    await ask(desk.app.app, FactRequested.model_validate({**said, "text": "Their plan renews on 2027-01-10."}))
    await desk.app.settle()
    assert await desk.round() == []


async def test_who_unsubscribes_while_a_draft_waits_does_not_get_it(renewing: Desk) -> None:
    """Approved it is discarded, before anything leaves."""
    await renewing.days(32)
    [held] = await renewing.round()
    async with renewing.app.at_work():
        await by_person(renewing.app.app, renewing.who(ADA), lifted=False, by="grace", timeout_s=60)
    await renewing.decide(held)
    rows = await renewing.app.rows("SELECT state, detail FROM deliveries WHERE reply_id = %(id)s", id=held.reply_id)
    assert rows == [{"state": "discarded", "detail": "they have unsubscribed from such mail"}]
    assert (await renewing.line()).not_sent == 1


async def _writes_elsewhere(desk: Desk) -> None:
    """Its reader writes in a thread of its own."""
    await desk.app.wait(minutes=5)
    await desk.app.write("I have one more question.", sender=ADA, subject="Another matter")


async def _is_at_risk(desk: Desk) -> None:
    """A person says that they are about to leave."""
    for state in ("customer", "at_risk"):
        step = {"participant_id": desk.who(ADA), "to_state": state, "by": "grace", "reason": "they said so"}
        await ask(desk.app.app, ParticipantStateRequested.model_validate(step))


@pytest.mark.parametrize(("happens", "why"), [(_writes_elsewhere, NEWER_MAIL), (_is_at_risk, LEFT_ALONE)])
async def test_a_draft_to_whom_none_would_be_begun_by_now_went_out(
    renewing: Desk, happens: Callable[[Desk], Awaitable[None]], why: str
) -> None:
    """What a round looks at is looked at once more before it leaves."""
    await renewing.days(32)
    [held] = await renewing.round()
    await happens(renewing)
    await renewing.app.settle()
    await renewing.decide(held)
    [row] = await renewing.app.rows("SELECT state, detail FROM deliveries WHERE reply_id = %(id)s", id=held.reply_id)
    assert row == {"state": "discarded", "detail": why}


async def test_who_answers_stop_unsubscribes_and_another_answer_does_not(renewing: Desk) -> None:
    """In words alone, also after a first answer."""
    await renewing.days(32)
    [held] = await renewing.round()
    await renewing.decide(held)
    for text, unsubscribed in (("Yes, let us talk. Where do I stop it?", 0), ("Hi,\n\nSTOP\n\nAda", 1)):
        await renewing.app.wait(days=1)
        await renewing.app.write(text, sender=ADA, subject="Re: Export")
        line = await renewing.line()
        assert (line.answered, line.unsubscribed) == (1, unsubscribed)


async def _writes(desk: Desk, held: HeldDraft) -> None:
    """Its reader writes again before anybody looks."""
    [mail] = await desk.app.rows("SELECT message_id FROM mails WHERE thread_id = %(id)s", id=held.thread_id)
    await desk.app.write("One more question.", sender=ADA, after=mail["message_id"])


async def _writes_before_it_is_approved(desk: Desk, held: HeldDraft) -> None:
    """The mail comes between a person's look and their word, which is about another state of the thread."""
    await _writes(desk, held)
    word = DraftDecided(
        reply_id=held.reply_id, thread_id=held.thread_id, approve=True, text_sha256=held.text_sha256,
        thread_version=held.thread_version, by="grace",
    )  # fmt: skip
    await ask(desk.app.app, word)


async def _taken(desk: Desk, held: HeldDraft) -> None:
    """A person takes the thread over."""
    await ask(desk.app.app, AssignmentRequested(thread_id=held.thread_id, assignee="bo", take_over=True, by="bo"))


async def _resolved(desk: Desk, held: HeldDraft) -> None:
    """A person calls the thread resolved."""
    step = {"to_state": "resolved", "trigger": "human", "by": "grace", "reason": "solved"}
    await ask(desk.app.app, ThreadTransitionRequested.model_validate({"thread_id": held.thread_id, **step}))


async def _answered(desk: Desk, held: HeldDraft) -> None:
    """A person writes to them themselves."""
    said = {"reply_id": uuid4(), "thread_id": held.thread_id, "thread_version": held.thread_version}
    await ask(desk.app.app, ReplyRequested.model_validate({**said, "text": "How are you?", "by": "grace"}))


@pytest.mark.parametrize(
    ("happens", "why"),
    [
        (_writes, "a newer mail came"),
        (_writes_before_it_is_approved, "a newer mail came"),
        (_taken, "bo took the thread over"),
        (_resolved, "a person resolved the thread"),
        (_answered, HUMAN_ANSWERED),
    ],
)
async def test_a_draft_that_was_overtaken_is_not_sent_and_waits_for_nobody(
    renewing: Desk, happens: Callable[[Desk, HeldDraft], Awaitable[None]], why: str
) -> None:
    """However its turn ends, the ledger and the rule's line say so; nothing of it is kept as under way."""
    await renewing.days(32)
    [held] = await renewing.round()
    await happens(renewing, held)
    await renewing.app.settle()
    [row] = await renewing.app.rows("SELECT state, detail FROM deliveries WHERE reply_id = %(id)s", id=held.reply_id)
    assert row == {"state": "discarded", "detail": why}
    line = await renewing.line()
    assert (line.waiting, line.not_sent, line.sent) == (0, 1, 0)


async def test_a_thread_rests_once_its_draft_was_overtaken(renewing: Desk) -> None:
    """Its texts are not kept for a draft that nobody may decide any more."""
    [thread] = [row["thread_id"] for row in await renewing.app.rows("SELECT thread_id FROM threads")]
    await renewing.days(32)
    [held] = await renewing.round()
    rests = "SELECT thread_rests(%(id)s) AS rests"
    assert await renewing.app.rows(rests, id=thread) == [{"rests": False}]
    await _resolved(renewing, held)
    await renewing.app.settle()
    assert await renewing.app.rows(rests, id=thread) == [{"rests": True}]


async def _gives_up(desk: Desk, event: Envelope) -> None:
    """send_email could not handle an event, however often it tried."""
    record = encode(event)
    lost = Delivery(record.topic, 0, 0, record.key, record.value, record.headers)
    await Runner(send_email.PROCESSOR, desk.app.app).give_up(lost, OSError("the disk is full"), 3)


async def test_the_end_of_a_turn_that_could_not_be_handled_is_redriven(renewing: Desk) -> None:
    """It fails no turn, since none is open: it is a dead letter, and handled again the draft is discarded."""
    await renewing.days(32)
    [held] = await renewing.round()
    await _taken(renewing, held)
    await renewing.app.settle([one for one in PROCESSORS if one.name != "send_email"])
    [closed] = await renewing.app.waiting(send_email.PROCESSOR)
    await _gives_up(renewing, closed)
    assert await renewing.app.rows("SELECT id FROM events WHERE type = 'turn.failed.v1'") == []
    assert (await renewing.line()).waiting == 1
    await renewing.app.settle()
    assert (await renewing.line()).waiting == 0


async def test_a_draft_that_could_not_be_held_failed_and_was_not_sent(renewing: Desk) -> None:
    """What send_email gives up before anybody was asked ends in the ledger, with a person alerted."""
    await renewing.days(32)
    await ask_for_rounds(renewing.app.app)
    await renewing.app.settle([one for one in PROCESSORS if one.name != "send_email"])
    [drafted] = [one for one in await renewing.app.waiting(send_email.PROCESSOR) if isinstance(one.data, ReplyDrafted)]
    await _gives_up(renewing, drafted)
    await renewing.app.settle()
    [row] = await renewing.app.rows(
        "SELECT state, detail FROM deliveries WHERE reply_id = %(id)s", id=drafted.data.reply_id
    )
    assert row == {"state": "failed", "detail": "OSError: the disk is full"}
    line = await renewing.line()
    assert (line.waiting, line.not_sent) == (0, 1)
    assert (await renewing.app.thread(drafted.data.thread_id)).thread.state == "escalated"


PUBLIC = {"reach_out": {"rules": [RENEWAL], "public_url": "https://mail.shop.example"}, "web": {"api_token": TOKEN}}


@pytest.mark.parametrize("desk", [PUBLIC], indirect=True)
async def test_one_click_unsubscribes_and_opening_the_link_does_not(desk: Desk) -> None:
    """RFC 8058: the link of the header, posted to without a sign-in; a link that is cut is a 404."""
    held = await desk.sent()
    message = await desk.mime(held)
    assert message["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click"
    link = message["List-Unsubscribe"].partition(">")[0].strip("<")
    assert link.startswith("https://mail.shop.example/unsubscribe/")
    assert link in held.shown
    transport = httpx.ASGITransport(app=make_app([served(desk.app.app)]))
    async with httpx.AsyncClient(transport=transport, base_url="https://mail.shop.example") as client:
        assert "<button>" in (await client.get(link)).text
        await desk.app.settle()
        assert (await desk.line()).unsubscribed == 0
        for _ in range(2):
            done = await client.post(link, content="List-Unsubscribe=One-Click")
            assert done.status_code == 200
        assert (await client.post(link[:-1])).status_code == 404
        await desk.app.settle()
        assert (await desk.line()).unsubscribed == 1
        [line] = (await client.get("/api/outreach", headers={"Authorization": f"Bearer {TOKEN}"})).json()
        assert (line["rule"], line["sent"], line["unsubscribed"]) == ("renewal", 1, 1)
        assert [(await client.post(link)).status_code for _ in range(10)][-1] == 429  # each time would be an event


WEEK = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
NIGHTS = {"office_hours": {"hours": dict.fromkeys(WEEK, "09:00-17:00")}}


@pytest.mark.parametrize("renewing", [NIGHTS], indirect=True)
async def test_quiet_hours_ask_for_no_round_and_hold_what_is_approved(renewing: Desk) -> None:
    """Approved at night it leaves when the office opens."""
    await renewing.days(32)
    night = renewing.app.clock().replace(hour=22)
    renewing.app.clock.forward(night)
    assert await renewing.round() == []
    await renewing.app.wait(hours=11, minutes=30)
    [held] = await renewing.round()
    await renewing.app.wait(hours=12)
    await renewing.decide(held)
    rows = "SELECT state, detail FROM deliveries WHERE reply_id = %(id)s"
    [waits] = await renewing.app.rows(rows, id=held.reply_id)
    assert waits["state"] == "approved"
    assert "the office is closed" in waits["detail"]
    await renewing.app.wait(hours=12)
    [left] = await renewing.app.rows(rows, id=held.reply_id)
    assert left["state"] == "sent"


TODAY = {**RENEWAL, "within_days": 0, "silent_days": 1}
IN_AUCKLAND = {"office_hours": {**NIGHTS["office_hours"], "time_zone": "Pacific/Auckland"}}


@pytest.mark.parametrize("renewing", [{"reach_out": {"rules": [TODAY]}, **IN_AUCKLAND}], indirect=True)
async def test_a_promise_for_today_was_kept_tomorrow_where_the_morning_is_yesterday_in_utc(renewing: Desk) -> None:
    """10 February in Auckland: its office opens at 20:00 UTC of the 9th."""
    renewing.app.clock.forward(datetime(2026, 2, 8, 20, 30, tzinfo=UTC))
    assert await renewing.round() == [], "it is the 9th there"
    renewing.app.clock.forward(datetime(2026, 2, 9, 20, 30, tzinfo=UTC))
    assert [held.reason.split(",")[0] for held in await renewing.round()] == ["rule renewal: renewal date 2026-02-10"]
    renewing.app.clock.forward(datetime(2026, 2, 10, 2, 30, tzinfo=UTC))
    assert await ask_for_rounds(renewing.app.app) == 0, "it is the same day there"


async def test_what_came_of_it_is_counted_and_shown(renewing: Desk) -> None:
    """An answer in time counts once; a rejected draft was not sent; the table is the one of the page."""
    await renewing.know(BO, "2026-02-11")
    await renewing.days(32)
    ada, bo = sorted(await renewing.round(), key=lambda one: one.recipient)
    await renewing.decide(ada)
    await renewing.decide(bo, approve=False)
    await renewing.days(2)
    for _ in range(2):
        await renewing.app.write("Yes, let us talk.", sender=ADA, subject="Re: Export")
        await renewing.app.wait(minutes=1)
    line = await renewing.line()
    assert (line.proposed, line.sent, line.answered, line.not_sent, line.waiting) == (2, 1, 1, 1, 0)
    terminal = Terminal(width=120, file=StringIO())
    terminal.print(table_of([line]))
    printed = [" ".join(row.split()) for row in terminal.file.getvalue().splitlines()]  # type: ignore[attr-defined]
    page = PAGE.read_text(encoding="utf-8")
    shown = [" ".join(row.split()) for row in page.splitlines()]
    assert [row for row in printed if row not in shown] == []


async def test_a_mail_weeks_later_is_no_answer_and_who_is_merged_is_subscribed_again_as_a_whole(desk: Desk) -> None:
    """`answered_days` after ours; and what was said for one address of a person is taken back by another."""
    await desk.sent()
    await desk.days(15)
    await desk.app.write("By the way, hello.", sender=ADA, subject="Hello")
    assert (await desk.line()).answered == 0
    await desk.app.write("Hello!", sender=BO)
    async with desk.app.at_work():
        await by_person(desk.app.app, desk.who(BO), lifted=False, by="grace", timeout_s=60)
    merge = {"participant_id": desk.who(BO), "into": desk.who(ADA), "op": "merge", "by": "grace"}
    await ask(desk.app.app, ParticipantMergeRequested.model_validate(merge))
    await desk.app.settle()
    async with desk.app.at_work():
        await by_person(desk.app.app, desk.who(ADA), lifted=True, by="grace", timeout_s=60)
    assert await desk.app.rows("SELECT participant_id FROM unsubscribes") == []


BOXES: list[dict[str, Any]] = [
    {"name": "support", "address": "support@ourcompany.example", "vouched_by": "the test"},
    {"name": "open", "address": "open@ourcompany.example", "unproven": "review"},
]


@pytest.mark.parametrize("renewing", [{"inboxes": BOXES}], indirect=True)
async def test_an_answer_counts_in_whichever_order_it_is_learned_of_and_a_forged_one_never(renewing: Desk) -> None:
    """A mail in their name that nothing proves is none; theirs may be read before it is noted that ours has left."""
    others = [one for one in PROCESSORS if one is not reach_out.PROCESSOR]
    await renewing.know(BO, "2026-02-11")
    await renewing.days(32)
    waiting = await renewing.round()
    renewing.app.settle = partial(renewing.app.settle, others)  # type: ignore[method-assign]
    for held in waiting:
        await renewing.decide(held)
    await renewing.app.write("Yes, call me.", sender=BO, subject="Re: Export", inbox=1)
    await renewing.app.write("Yes, let us talk.", sender=ADA, subject="Re: Export")
    to_ada, to_bo, forged, answer, *_ = await renewing.app.waiting(reach_out.PROCESSOR)
    kinds = [one.type for one in (to_ada, to_bo, forged, answer)]
    assert kinds == [ReplySent.TYPE, ReplySent.TYPE, EmailRead.TYPE, EmailRead.TYPE]
    for event in (answer, to_ada, to_bo, forged):
        await Runner(reach_out.PROCESSOR, renewing.app.app).process(event)
    states = await renewing.app.rows("SELECT participant_id, state FROM outreach")
    assert {row["participant_id"]: row["state"] for row in states} == {
        renewing.who(ADA): "answered", renewing.who(BO): "sent",
    }  # fmt: skip


async def test_an_erased_customer_leaves_no_trace_and_rows_follow_from_events(desk: Desk, stack: Endpoints) -> None:
    """The others' rows stay; a fold of the history gives the same tables before and after."""
    await desk.know(BO, "2026-02-11")
    await desk.know(ADA, "2026-02-10")
    await desk.days(32)
    await desk.round()
    app = desk.app.app
    assert await differences(app, stack) == set()
    await erase(app, await found(app, "ada@one.example"), by="grace")
    rows = await desk.app.rows("SELECT participant_id FROM outreach")
    assert [row["participant_id"] for row in rows] == [desk.who(BO)]
    assert await differences(app, stack) == set()


async def test_the_console_shows_what_came_of_each_rule(desk: Desk) -> None:
    """Before anything was proposed it says what the rule does; then the same figures as the command."""
    async with signed_in(desk.app.app, role="viewer") as vic:
        assert "Nothing was proposed yet" in text_of(await vic.get("/console/outreach"))
        await desk.know(ADA, "2026-02-10")
        await desk.days(32)
        assert len(await desk.round()) == 1
    async with signed_in(desk.app.app, role="viewer") as vic:
        page = await vic.get("/console/outreach")
    assert "renewal support 1 1 0 0 0 0 0" in text_of(page)


@pytest.mark.parametrize("desk", [{"reach_out": {"rules": []}}], indirect=True)
async def test_the_page_says_how_a_rule_is_made(desk: Desk) -> None:
    """Without a rule there is nothing to show but where rules are written."""
    async with signed_in(desk.app.app, role="viewer") as vic:
        assert "[[reach_out.rules]]" in text_of(await vic.get("/console/outreach"))
