"""Drafts that wait for a person: approved once, bound to what the person saw, discarded by a newer mail."""

from __future__ import annotations

import hashlib
import os
from uuid import UUID

from deploy.local import Endpoints
from schemas.events.replies import DraftDecided
from services.core.bus.envelope import first
from services.core.bus.runner import enter
from services.core.clock import random_id
from services.core.house import House
from services.receive_email.accept import accept
from services.tools.settle import settle
from tests.flow.scenario import agent, reflection, replies_to, rows
from tests.support.house import running_house, settings_for
from tests.support.letters import letter
from tests.support.scripted_model import ScriptedModel
from tests.support.scripted_replies import reply_tool

TEXT = "Hi, here is your answer."


async def decide(house: House, draft: dict[str, object], *, approve: bool, text: str = TEXT) -> None:
    """A person's decision, as the console sends it."""
    decided = DraftDecided(
        reply_id=UUID(str(draft["reply_id"])),
        thread_id=UUID(str(draft["thread_id"])),
        approve=approve,
        text_sha256=hashlib.sha256(text.encode()).hexdigest(),
        by="a tester",
    )
    await enter(
        house, first(decided, id=random_id(), source="console", time=house.now(), workspace=house.settings.workspace)
    )
    await settle(house)


async def test_a_held_draft_goes_out_only_by_a_persons_word(
    stack: Endpoints, database: str, topic_prefix: str, tmp_path: object
) -> None:
    """Approving sends once, however often it is said; approving another text, or after a newer mail, sends nothing."""
    domain = f"held{os.getpid()}.example"
    async with ScriptedModel() as server:
        server.script(
            agent(
                lambda seen: reply_tool("reply", {"text": TEXT, "state": "awaiting_reply"}),
                lambda seen: reflection("S."),
            )
        )
        settings = settings_for(
            stack, database, topic_prefix, tmp_path,  # type: ignore[arg-type]
            send={"approval": "review"},
            model={"provider": "anthropic", "api_key": "k", "base_url": server.base_url},
            inboxes=[{"name": "support", "address": f"support@{domain}", "vouched_by": "the test"}],
        )  # fmt: skip
        async with running_house(settings) as house:

            async def post(name: str, number: int = 1) -> dict[str, object]:
                earlier = f"<{name}{number - 1}@h.example>" if number > 1 else ""
                raw = letter(
                    "Hello?",
                    sender=f"{name} <{name}@h.example>",
                    message_id=f"<{name}{number}@h.example>",
                    in_reply_to=earlier,
                )
                await accept(house, settings.inboxes[0], raw, source="file", source_key=f"{name}{number}")
                await settle(house)
                found = await rows(
                    house,
                    "SELECT reply_id, thread_id, state FROM deliveries WHERE recipient IS NULL ORDER BY created_at DESC LIMIT 1",
                )
                return found[0]

            ann = await post("ann")
            assert replies_to(stack.outbox, "ann@h.example", domain) == []
            await decide(house, ann, approve=True, text="another text")
            assert replies_to(stack.outbox, "ann@h.example", domain) == []
            await decide(house, ann, approve=True)
            await decide(house, ann, approve=True)
            (sent,) = replies_to(stack.outbox, "ann@h.example", domain)
            assert sent["Auto-Submitted"] is None

            bob = await post("bob")
            await post("bob", 2)
            await decide(house, bob, approve=True)
            assert replies_to(stack.outbox, "bob@h.example", domain) == []

            cid = await post("cid")
            await decide(house, cid, approve=False)
            outcomes = await rows(
                house, "SELECT outcome FROM turns WHERE thread_id = %(thread_id)s", thread_id=cid["thread_id"]
            )
            assert [row["outcome"] for row in outcomes] == ["rejected"]
