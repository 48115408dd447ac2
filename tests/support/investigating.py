"""A deployment in which hard cases are investigated: a scripted model that does what a test says, round by round."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any
from uuid import UUID

from deploy.local import Endpoints
from schemas.events.investigations import InvestigationOpened, InvestigationRequested, ProposalDecisionRequested
from services import investigate as processor
from services.core.bus.envelope import Envelope
from services.core.bus.event_row import EventRow
from services.core.bus.runner import Runner
from services.core.clock import random_id
from services.core.db import fetch_all
from services.operations.investigations.listing import WholeInvestigation, whole_investigation
from services.operations.requests import ask
from tests.support.beginning import after
from tests.support.scripted_model import Behaviour, ScriptedModel, Seen, reply_tool, reply_tools
from tests.support.tending import Tended, tending

ADA, BO = "Ada <ada@acme.example>", "Bo <bo@two.example>"
TOKEN = "a token for tests"
QUESTION = "Why does the export keep failing?"
PAD, HOT = "memory/scratchpad.md", "memory/hot_context.md"

Round = Callable[[Seen], Behaviour]


def finish(note: str = "It fails at night.", *facts: dict[str, Any]) -> Round:
    """The model ends it."""
    return lambda _: reply_tool("finish", {"note": note, "facts": list(facts)})


def memory(**given: Any) -> tuple[str, dict[str, Any]]:
    """A call of the tool that views and edits."""
    return "memory", given


def write(path: str, text: str) -> Round:
    """The model writes a file."""
    return lambda _: reply_tools(memory(command="create", path=path, file_text=text))


def otherwise(request: Seen) -> Behaviour:
    """What the model does where nobody investigates: it answers, and learns nothing."""
    if "reflect" in request.tools:
        return reply_tool("reflect", {"summary": "They wrote.", "brief": ""})
    return reply_tool("reply", {"text": "We look into it.", "state": "awaiting_reply"})


@dataclass
class Desk:
    """A deployment with a scripted model."""

    app: Tended
    server: ScriptedModel

    def rounds(self, *rounds: Round) -> None:
        """What the model does in each round of an investigation; the last one again and again."""

        def script(request: Seen) -> Behaviour:
            if "finish" not in request.tools:
                return otherwise(request)
            return rounds[min(request.round, len(rounds) - 1)](request)

        self.server.script(script)

    @property
    def asked(self) -> list[Seen]:
        """The rounds that the model was asked for."""
        return [one for one in self.server.requests if "finish" in one.tools]

    async def request(self, thread: UUID, question: str = QUESTION, who: str = ADA) -> UUID:
        """A person asks for an investigation, and nobody has handled that yet."""
        asked = InvestigationRequested(
            investigation_id=random_id(), participant_id=self.who(who), thread_id=thread, question=question, by="grace"
        )
        await ask(self.app.app, asked)
        return asked.investigation_id

    async def investigate(self, thread: UUID, question: str = QUESTION, who: str = ADA) -> WholeInvestigation:
        """A person asks for an investigation, which goes on to its end."""
        id = await self.request(thread, question, who)
        await self.app.settle()
        return await self.whole(id)

    async def whole(self, id: UUID) -> WholeInvestigation:
        async with self.app.app.database.reading() as conn:
            whole = await whole_investigation(conn, self.app.workspace, id)
        assert whole is not None
        return whole

    def who(self, address: str = ADA) -> UUID:
        return self.app.person(address.rpartition("<")[2].strip(">"))

    async def decide(self, whole: WholeInvestigation, place: int, *, accept: bool) -> str:
        """A person decides a proposal; its state."""
        one = whole.investigation
        ids = {"investigation_id": one.investigation_id, "participant_id": one.participant_id}
        proposal = whole.proposals[place].proposal_id
        await ask(self.app.app, ProposalDecisionRequested(**ids, proposal_id=proposal, accept=accept, by="grace"))
        await self.app.settle()
        return (await self.whole(one.investigation_id)).proposals[place].state

    async def events(self, kind: str) -> list[Envelope]:
        async with self.app.app.database.reading() as conn:
            rows = await fetch_all(conn, "SELECT * FROM events WHERE type = %(kind)s ORDER BY seq", {"kind": kind})
        return [EventRow.of(**row).envelope() for row in rows]

    async def opened(self) -> dict[str, str]:
        """The newest folder, as it was found."""
        data = (await self.events(InvestigationOpened.TYPE))[-1].data
        assert isinstance(data, InvestigationOpened)
        return {one.path: one.text or "" for one in data.files}

    async def kept(self) -> dict[str, str]:
        rows = await self.app.rows("SELECT path, text FROM investigation_files ORDER BY path")
        return {row["path"]: row["text"] for row in rows}

    async def notes(self, thread: UUID) -> list[str]:
        return [one.text for one in (await self.app.thread(thread)).notes]

    async def step(self, kind: str) -> None:
        """`investigate` handles the newest event of a type, and nobody anything else."""
        await Runner(processor.PROCESSOR, self.app.app).process((await self.events(kind))[-1])


async def mail_of(desk: Desk, thread: UUID) -> UUID:
    rows = await desk.app.rows("SELECT mail_id FROM mails WHERE thread_id = %(id)s ORDER BY received_at", id=thread)
    found: UUID = rows[0]["mail_id"]
    return found


@asynccontextmanager
async def investigating(
    stack: Endpoints,
    database: str,
    topic_prefix: str,
    home: Path,
    *,
    begin: Callable[[Tended], Awaitable[Any]] | None = None,
    **changes: Any,
) -> AsyncIterator[Desk]:
    """The deployment; `changes` are those of `[investigate]`. `begin` is handled once for all that name it."""
    opening = partial(after, begin, tending) if begin else tending
    async with ScriptedModel() as server:
        said = {
            "model": {"provider": "anthropic", "api_key": "k", "base_url": server.base_url, "max_retries": 0},
            "web": {"api_token": TOKEN},
            "investigate": {"enabled": True, **changes},
        }
        server.script(otherwise)
        async with opening(stack, database, topic_prefix, home, **said) as app:
            yield Desk(app, server)
