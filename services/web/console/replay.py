"""Replays on the page: what today's code would do with what happened, and what a redrive would do before it is done."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Query, Request
from fastapi.responses import HTMLResponse

from services.core.app import App
from services.core.errors import Permanent, Temporary
from services.core.web import RequestRefused
from services.operations.memory.people import NobodyFound, find_person
from services.operations.replay.case import read_case
from services.operations.replay.difference import Difference
from services.operations.replay.model import LIVE, RECORDED, Asking
from services.operations.replay.redrive import CannotTry
from services.operations.replay.requests import MOST, NothingNamed, ReplayBusy, TookTooLong, Tried
from services.operations.replay.selection import CHAINS, STARTS, Selection
from services.operations.replay.tried import TriedCase
from services.web.console.diffs import Kind, words_between
from services.web.console.forms import Form
from services.web.console.language import Message, translated
from services.web.console.site import Site, files_of, form_of
from services.web.dead_letters import letter_named

TOPICS = tuple(dict.fromkeys(STARTS[name][0].TOPIC for chain in CHAINS for name in chain))
BEGINNINGS = ("", *TOPICS)
KINDS: Mapping[str, str] = {
    "thread": Message("a thread"),
    "person": Message("a person"),
    "event": Message("an event"),
}
LONGEST = 6000  # characters of one field that are shown, of each side
BUSY = Message("Somebody replays at the moment. Ask again in a minute.")
LATE = Message("It took more than a minute, and was given up.")
NOTHING = Message("Say of what: an event, a thread, a person, or days.")


@dataclass(frozen=True, slots=True)
class Shown:
    """A difference with its words as runs; `cut`: the field is longer than what is shown."""

    one: Difference
    runs: list[tuple[Kind, str]]
    cut: bool


def replay_pages(site: Site) -> APIRouter:
    """The form with what came of it, and that of a dead letter."""
    router, app, replays = site.router(reads="admin", acts="admin"), site.app, site.trials.replays

    @router.get("/pipeline/replay")
    async def form(
        request: Request, of: str = "thread", named: Annotated[str, Query(max_length=320)] = ""
    ) -> HTMLResponse:
        return shown(request, {"of": of, "named": named})

    @router.post("/pipeline/replay")
    async def ask(request: Request) -> HTMLResponse:
        sent, files = form_of(request), files_of(request)
        try:
            asking = Asking(LIVE if sent.get("model") else RECORDED)
            if files:
                tried = await replays.saved(read_case(files[0].content, files[0].filename), asking)
            else:
                tried = await replays.past(await _selection(app, sent), asking)
        except (Permanent, Temporary) as error:
            return shown(request, sent, status=_status(error), wrong=_words(error))
        return shown(request, sent, tried=tried)

    @router.post("/dead-letters/{letter_id}/replay")
    async def of_letter(request: Request, letter_id: str) -> HTMLResponse:
        letter = await letter_named(app, letter_id)
        asking = Asking(LIVE if form_of(request).get("model") else RECORDED)
        case, wrong, status = None, "", 200
        try:
            case = await replays.redriven(letter, asking)
        except (Permanent, Temporary) as error:
            wrong, status = _words(error), _status(error)
        about: dict[str, Any] = {"letter": letter, "case": case, "differences": differences_of, "wrong": wrong}
        return site.page(request, "replay_letter.html", status, **about)

    def shown(
        request: Request, typed: Form, *, status: int = 200, wrong: str = "", tried: Tried | None = None
    ) -> HTMLResponse:
        about: dict[str, Any] = {"typed": typed, "tried": tried, "wrong": wrong, "differences": differences_of}
        about |= {"kinds": KINDS, "topics": BEGINNINGS, "processors": tuple(STARTS), "most": MOST}
        return site.page(request, "replay.html", status, **about)

    return router


async def _selection(app: App, form: Form) -> Selection:
    """What the form names. Raises `NothingNamed`, `NotReplayable`, `RequestRefused`, `NobodyFound`."""
    said, of = form.get("named", "").strip(), form.get("of", "")
    chosen: dict[str, Any] = {"since": _day(form.get("since", "")), "before": _day(form.get("before", ""))}
    if said and of == "person":
        async with app.database.reading() as conn:
            chosen["participant"] = (await find_person(conn, app.settings.workspace, said)).participant_id
    elif said:
        chosen["event" if of == "event" else "thread"] = _id(said)
    topic = form.get("topic", "")
    return Selection(form.get("until") or "generate_reply", topic=topic if topic in TOPICS else "", **chosen)


def _day(typed: str) -> datetime | None:
    """The begin of a day, UTC."""
    if not typed.strip():
        return None
    try:
        return datetime.combine(date.fromisoformat(typed.strip()), time(), UTC)
    except ValueError:
        raise RequestRefused(422, "invalid", translated("“%(day)s” is no day.", day=typed[:40])) from None


def _id(typed: str) -> UUID:
    try:
        return UUID(typed)
    except ValueError:
        said = translated("“%(id)s” is no id of an event or a thread.", id=typed[:60])
        raise RequestRefused(422, "invalid", said) from None


def differences_of(case: TriedCase) -> Iterator[Shown]:
    """What differs in a case, field by field, as words that a page shows."""
    for one in case.differences:
        before, after = one.before[:LONGEST], one.after[:LONGEST]
        yield Shown(one, _runs(before, after), max(len(one.before), len(one.after)) > LONGEST)


def _runs(before: str, after: str) -> list[tuple[Kind, str]]:
    """Runs of words, or one text after the other where they have less than half in common."""
    runs = words_between(before, after)
    alike = sum(len(text) for kind, text in runs if kind == "same")
    if alike > max(len(before), len(after)) / 2:
        return runs
    whole: list[tuple[Kind, str]] = [("out", before), ("in", after)]
    return [one for one in whole if one[1]]


def _words(error: Exception) -> str:
    known: dict[type[Exception], str] = {ReplayBusy: BUSY, TookTooLong: LATE, NothingNamed: NOTHING}
    if type(error) in known:
        return str(known[type(error)])
    if isinstance(error, RequestRefused):
        return str(error)
    return translated("It cannot be replayed: %(reason)s.", reason=str(error).rstrip("."))


def _status(error: Exception) -> int:
    if isinstance(error, Temporary):
        return 503
    return 409 if isinstance(error, CannotTry) else 404 if isinstance(error, NobodyFound) else 422
