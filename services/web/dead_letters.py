"""Dead letters and replays over HTTP: what was not handled, what a redrive would do, and what would differ today."""

from __future__ import annotations

from collections.abc import Awaitable
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Literal, TypeVar
from uuid import UUID

from fastapi import APIRouter, Path, Request, Response
from pydantic import AwareDatetime, BaseModel, ConfigDict, Field

from services.core.app import App
from services.core.errors import Permanent, Temporary
from services.core.paging import Page
from services.core.web import RequestRefused
from services.core.web_paging import After, Limit, linked
from services.operations import dead_letters
from services.operations.dead_letters import Choice, NoSuchDeadLetter
from services.operations.dead_letters.dead_letter import DeadLetter, State
from services.operations.replay.model import LIVE, RECORDED, Asking
from services.operations.replay.requests import NothingNamed, ReplayBusy, TookTooLong, Tried
from services.operations.replay.selection import NotReplayable, Selection
from services.operations.replay.tried import TriedCase
from services.operations.trials import Trials
from services.web.bodies import By, Reason
from services.web.caller import name_of_caller

T = TypeVar("T")
LetterId = Annotated[str, Path(max_length=36, description="an id, or its beginning")]


class Asked(BaseModel):
    """Whom a replay asks: `recorded` goes by what was answered then, `live` asks the model of the settings."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    model: Literal["recorded", "live"] = "recorded"

    @property
    def asking(self) -> Asking:
        """The same for a replay."""
        return Asking(LIVE if self.model == "live" else RECORDED)


class NewReplay(Asked):
    """What of the past is replayed: of an event, a thread, a person or a time, at least one; 20 cases at most."""

    event: UUID | None = Field(None, description="an event, or one of the same mail")
    thread: UUID | None = None
    participant: UUID | None = None
    since: AwareDatetime | None = None
    before: AwareDatetime | None = None
    topic: str = Field("", max_length=100, description="where it begins: every processor from there to `until`")
    until: str = Field("generate_reply", max_length=100, description="the processor where it ends")

    @property
    def selection(self) -> Selection:
        """The same for a replay. Raises `NotReplayable`."""
        named = {name: getattr(self, name) for name in ("event", "thread", "participant", "since", "before", "topic")}
        return Selection(self.until, **named)


class Discarded(BaseModel):
    """Why a dead letter is not handled."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    reason: Reason = Field(min_length=1)
    by: By = Field(default_factory=name_of_caller)


@dataclass(frozen=True, slots=True)
class DeadLetterLine:
    """What a processor could not handle; `event` is its type, "" where the record cannot be read."""

    id: UUID
    group: str
    event: str
    event_id: UUID | None
    thread: str
    error: str
    failed_at: datetime
    state: State
    why: str

    @classmethod
    def of(cls, one: DeadLetter) -> DeadLetterLine:
        """A dead letter without its record."""
        return cls(
            id=one.id,
            group=one.group,
            event=one.event.type if one.event else "",
            event_id=one.event_id,
            thread=one.thread,
            error=one.error,
            failed_at=one.failed_at,
            state=one.state,
            why=one.why,
        )


def add_dead_letters(router: APIRouter, app: App) -> None:
    """The list, and what is done with one."""

    @router.get("/dead-letters")
    async def listed(
        request: Request, response: Response, every: bool = False, limit: Limit = 50, after: After = ""
    ) -> list[DeadLetterLine]:
        """Dead letters that wait, or all, the newest first; a page may be short, and say where the next begins."""
        page = await dead_letters.page_of(app, Choice(), every=every, limit=limit, after=after)
        return linked(request, response, Page([DeadLetterLine.of(one) for one in page], page.next))

    @router.post("/dead-letters/{letter_id}/redrive")
    async def redrive(letter_id: LetterId) -> DeadLetterLine:
        """Have its own processor handle it again; 409 with the reason where it fails again."""
        one = await letter_named(app, letter_id)
        try:
            await dead_letters.redrive(app, one)
        except Exception as error:
            raise RequestRefused(409, "failed_again", f"{type(error).__name__}: {error}"[:460]) from None
        return DeadLetterLine.of(await letter_named(app, letter_id))

    @router.post("/dead-letters/{letter_id}/discard")
    async def discard(letter_id: LetterId, body: Discarded) -> DeadLetterLine:
        """Have it count as handled; the reason is kept with it."""
        await dead_letters.discard(app, await letter_named(app, letter_id), f"{body.reason} ({body.by})")
        return DeadLetterLine.of(await letter_named(app, letter_id))


def add_replays(router: APIRouter, app: App, trials: Trials) -> None:
    """What would differ, which is kept nowhere."""
    replays = trials.replays

    @router.post("/replays")
    async def replay(body: NewReplay) -> Tried:
        """Run today's code on what happened, in a sandbox, and say what differs. Nothing is changed or sent."""
        try:
            return await tried(replays.past(body.selection, body.asking))
        except NotReplayable as error:
            raise RequestRefused(422, "not_replayable", str(error)) from None

    @router.post("/dead-letters/{letter_id}/replay")
    async def of_letter(letter_id: LetterId, body: Asked) -> TriedCase:
        """What a redrive would record, or why it would fail again. Nothing is changed or sent."""
        return await tried(replays.redriven(await letter_named(app, letter_id), body.asking))


async def letter_named(app: App, letter_id: str) -> DeadLetter:
    """One dead letter. Raises `RequestRefused`."""
    try:
        (one,) = await dead_letters.named(app, [letter_id])
    except NoSuchDeadLetter as error:
        raise RequestRefused(404, "letter_unknown", str(error)) from None
    return one


async def tried(asked: Awaitable[T]) -> T:
    """What a replay found. Raises `RequestRefused`."""
    try:
        return await asked
    except NothingNamed as error:
        raise RequestRefused(422, "nothing_named", str(error)) from None
    except (ReplayBusy, TookTooLong) as error:
        raise RequestRefused(503, "replay_busy", str(error)) from None
    except (Permanent, Temporary) as error:
        raise RequestRefused(409, "cannot_replay", str(error)) from None
