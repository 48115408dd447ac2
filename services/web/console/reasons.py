"""Why a reply says what it says: what the model was given and read, what shaped it, what it decided, what it took."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any
from uuid import UUID

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse

from services.core.web import RequestRefused
from services.operations.threads.cost import Stage, cost_of
from services.operations.threads.explanations import Told, explained
from services.operations.threads.inbox import lines_of
from services.operations.threads.prompts import prompt_of
from services.web.console.language import Message, translated
from services.web.console.site import Site
from services.web.threads import told

RULES = ("behaviours", "guidance")  # layers whose entries are rules: for all mails of the inbox, and for this one
STAGES: Mapping[Stage, Message] = MappingProxyType(
    {
        "received": Message("received"),
        "understood": Message("understood"),
        "taken_up": Message("taken up"),
        "remembered": Message("remembered"),
        "drafted": Message("drafted"),
        "held": Message("shown to a person"),
        "approved": Message("approved"),
        "deferred": Message("put off"),
        "left": Message("gone out"),
        "unknown": Message("sent, or not: unknown"),
        "failed": Message("given up"),
        "discarded": Message("discarded"),
    }
)
LONGEST_PROMPT = 120_000  # characters on the page; the API has all of it


def reason_pages(site: Site) -> APIRouter:
    """Of a thread's newest turn, of one turn, or of a reply."""
    router = site.router()

    @router.get("/threads/{thread_id}/why")
    async def of_thread(request: Request, thread_id: UUID, turn: UUID | None = None) -> HTMLResponse:
        return await _why(site, request, await _told(site, thread_id=thread_id, turn_id=turn))

    @router.get("/replies/{reply_id}/why")
    async def of_reply(request: Request, reply_id: UUID) -> HTMLResponse:
        return await _why(site, request, await _told(site, reply_id=reply_id))

    @router.get("/threads/{thread_id}/prompt")
    async def prompt_of_thread(request: Request, thread_id: UUID, turn: UUID | None = None) -> HTMLResponse:
        return await _prompt(site, request, await _told(site, thread_id=thread_id, turn_id=turn))

    return router


async def _why(site: Site, request: Request, found: Told) -> HTMLResponse:
    app, why = site.app, explained(found)
    async with app.database.reading() as conn:
        (line,) = (await lines_of(conn, app.settings.workspace, [why.thread_id])).values()
        cost = await cost_of(conn, app.settings.workspace, app.settings.model, why)
    chosen = sorted(why.settings.items())
    items = [item for one in why.layers for item in one.items]
    about: dict[str, Any] = {
        "why": why,
        "line": line,
        "hops": cost.hops,
        "STAGES": STAGES,
        "money": {one.reply_id: one for one in cost.money},
        "model": app.settings.model.model,
        "named": [(name, one) for name, one in chosen if one.source != "default"],
        "defaults": [(name, one) for name, one in chosen if one.source == "default"],
        "titles": {str(item["id"]): item.get("title") for item in items if "id" in item},
        "facts": {str(item["id"]): item.get("text") for item in items if "id" in item and "key" in item},
        "rules": [(one.name, item) for one in why.layers if one.name in RULES for item in one.items if "rule" in item],
    }
    return site.page(request, "why.html", **about)


async def _prompt(site: Site, request: Request, found: Told) -> HTMLResponse:
    app, prompt = site.app, await prompt_of(site.app, found)
    async with app.database.reading() as conn:
        (line,) = (await lines_of(conn, app.settings.workspace, [prompt.thread_id])).values()
    room, shown = LONGEST_PROMPT, []
    for one in prompt.passages:
        shown.append((one, one.text[: max(room, 0)]))
        room -= len(one.text)
    return site.page(request, "prompt.html", prompt=prompt, line=line, shown=shown, longer=room < 0)


async def _told(site: Site, **of: Any) -> Told:
    """The stored context. Raises `RequestRefused`, in the reader's words where there is none."""
    try:
        return await told(site.app, **of)
    except RequestRefused as error:
        if error.code != "context_unknown":
            raise
        said = translated("The agent has not answered in this thread yet, or the people in it were erased.")
        raise RequestRefused(404, error.code, f"{error}. {said}") from None
