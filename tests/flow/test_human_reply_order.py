"""A colleague's reply and the customer's mail that it answers come by ways of their own: the order changes nothing."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from itertools import permutations

import pytest

from services.operations.idle import until_idle
from services.receive_email.accept import accept
from tests.flow.conftest import Town
from tests.flow.scenario import agent, reflection, replies_to, rows, verified
from tests.support.letters import letter
from tests.support.scripted_replies import reply_tool

Step = Callable[[], Awaitable[None]]


class Correspondence:
    """One customer, two mails of hers, and what a colleague wrote by hand."""

    def __init__(self, town: Town, name: str) -> None:
        self.town, self.name, self.address = town, name, f"{name}@acme.example"
        town.server.script(
            agent(
                lambda seen: reply_tool("reply", {"text": "By the agent.", "state": "awaiting_reply"}),
                lambda seen: reflection("So."),
            )
        )

    def question(self, number: int, in_reply_to: str = "") -> bytes:
        return verified(
            f"Question {number}?", sender=self.address, message_id=f"<{self.name}{number}@acme.example>",
            subject="My order", in_reply_to=in_reply_to,
        )  # fmt: skip

    async def customer(self, raw: bytes) -> None:
        await self.town.post(raw, settled=False)

    async def colleague(self, *answers: str, to: str = "") -> None:
        """A mail of the Sent folder whose References are these, the last of them answered."""
        own = self.town.app.settings.inboxes[0]
        raw = letter(
            "By hand.", sender=own.address, to=to or self.address, subject="Re: My order",
            message_id=f"<grace-{self.name}-{len(answers)}@laptop.local>",
            References=" ".join(f"<{one}>" for one in answers),
        )  # fmt: skip
        await accept(self.town.app, own, raw, source="imap", source_key=f"Sent:{raw!r}", from_sent=True)

    async def told(self) -> list[str]:
        """The roles in the customer's conversation, whatever the number of its threads."""
        query = """SELECT c.role FROM conversation c WHERE c.thread_id IN
            (SELECT thread_id FROM mails WHERE author_addr = %(address)s) ORDER BY c.at, c.version"""
        return [row["role"] for row in await rows(self.town.app, query, address=self.address)]

    async def outcomes(self) -> list[str]:
        query = """SELECT outcome FROM turns WHERE outcome <> 'superseded' AND thread_id IN
            (SELECT thread_id FROM mails WHERE author_addr = %(address)s) ORDER BY closed_at"""
        return [row["outcome"] for row in await rows(self.town.app, query, address=self.address)]

    async def until_read(self, count: int) -> None:
        """Wait until so many mails to do with the customer have been read."""
        query = """SELECT mail_id FROM mails
            WHERE author_addr = %(address)s OR message_id LIKE 'grace-' || %(name)s || '-%%'"""
        async with asyncio.timeout(120):
            while len(await rows(self.town.app, query, address=self.address, name=self.name)) < count:
                await asyncio.sleep(0.02)


@pytest.mark.parametrize("first", ["customer", "colleague"])
async def test_either_may_be_read_first(town: Town, first: str) -> None:
    """The turn ends as human_took_over, both stand in one thread, nothing of ours goes out."""
    mails = Correspondence(town, f"either-{first}")
    steps: list[Step] = [
        lambda: mails.customer(mails.question(1)),
        lambda: mails.colleague(f"{mails.name}1@acme.example"),
    ]
    for number, step in enumerate(steps if first == "customer" else reversed(steps), start=1):
        await step()
        await mails.until_read(number)
    await until_idle(town.app)
    assert sorted(await mails.told()) == ["customer", "human"]
    assert await mails.outcomes() == ["human_took_over"]
    assert replies_to(town.stack.outbox, mails.address, town.domain) == []
    (mail,) = await rows(
        town.app, "SELECT verdict FROM mails WHERE message_id LIKE %(one)s", one=f"grace-{mails.name}%"
    )
    assert mail["verdict"] == "colleague"


@pytest.mark.parametrize("order", list(permutations(range(3))))
async def test_any_order_of_two_mails_and_the_answer_to_both(town: Town, order: tuple[int, ...]) -> None:
    """A colleague who answers the second mail of a thread has read the first: neither is answered again."""
    mails = Correspondence(town, f"order{''.join(map(str, order))}")
    one, two = (f"{mails.name}{number}@acme.example" for number in (1, 2))
    steps: list[Step] = [
        lambda: mails.customer(mails.question(1)),
        lambda: mails.customer(mails.question(2, in_reply_to=f"<{one}>")),
        lambda: mails.colleague(one, two),
    ]
    for number, step in enumerate(order, start=1):
        await steps[step]()
        await mails.until_read(number)
    await until_idle(town.app)
    assert replies_to(town.stack.outbox, mails.address, town.domain) == []
    assert sorted(await mails.told()) == ["customer", "customer", "human"]
    assert set(await mails.outcomes()) == {"human_took_over"}
    waiting = (
        "SELECT c.mail_id FROM conversation c JOIN mails m USING (mail_id) WHERE c.pending AND m.author_addr = %(who)s"
    )
    assert await rows(town.app, waiting, who=mails.address) == []


async def test_what_was_passed_on_to_somebody_else_is_no_answer(town: Town) -> None:
    """A colleague's mail to an expert that names the customer's leaves her to the agent, also where it came first."""
    mails = Correspondence(town, "expert")
    await mails.colleague(f"{mails.name}1@acme.example", to="expert@elsewhere.example")
    await mails.until_read(1)
    await mails.customer(mails.question(1))
    await mails.until_read(2)
    await until_idle(town.app)
    assert await mails.told() == ["customer", "agent"]
    assert len(replies_to(town.stack.outbox, mails.address, town.domain)) == 1


async def test_a_stranger_cannot_close_a_turn_by_naming_it(town: Town) -> None:
    """Only what lay in our own Sent folder is a colleague's; a mail from outside that says so is a customer's."""
    mails = Correspondence(town, "outside")
    own = town.app.settings.inboxes[0].address
    forged = letter(
        "By hand.", sender=own, to=mails.address, message_id="<grace-outside-9@evil.example>",
        in_reply_to=f"<{mails.name}1@acme.example>",
    )  # fmt: skip
    await town.post(forged)
    await town.post(mails.question(1))
    assert await mails.told() == ["customer", "agent"]
