"""Who a person is and what leads to others: addresses that are theirs, merged and taken apart again, and the graph."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import HTMLResponse

from schemas.events.merging import ParticipantMergeRequested
from services.core.web import RequestRefused
from services.operations.memory.facts import current
from services.operations.memory.graph import Edge, graph_of
from services.operations.memory.people import Person, same_person
from services.operations.threads.inbox import of_person
from services.web.bodies import OtherSelf
from services.web.console.forms import checked
from services.web.console.language import translated
from services.web.console.site import Site, done, form_of, viewer
from services.web.facts import outcome
from services.web.named import person

DRAWN = 12  # things, and people, of the picture; the tables below have all of them
STEP = 28  # of the picture, in pixels
THREADS = 50  # counted


@dataclass(frozen=True, slots=True)
class Side:
    """One of two who may be merged: how much is known of them, and what under which key."""

    person: Person
    facts: int
    threads: int
    values: dict[str, str]


@dataclass(frozen=True, slots=True)
class Preview:
    """Two people before they are merged; `both` are the keys of which each has another value."""

    here: Side
    there: Side
    both: list[str]


@dataclass(frozen=True, slots=True)
class Line:
    """A line of the picture, from a thing to the one who shares it, by their places from the top."""

    thing: int
    other: int


@dataclass(frozen=True, slots=True)
class Drawing:
    """The picture: things of the person from top to bottom, and others who share one of them."""

    things: list[Edge]
    others: list[tuple[UUID, str]]
    lines: list[Line]

    @property
    def high(self) -> int:
        """Its height in pixels."""
        return STEP * max(2, len(self.things), len(self.others)) + STEP


def connection_pages(site: Site) -> APIRouter:
    """The page with its preview, merging, and taking apart."""
    router, app = site.router(), site.app

    @router.get("/people/{who}/connections")
    async def connections(
        request: Request, who: UUID, other: Annotated[str, Query(max_length=320)] = ""
    ) -> HTMLResponse:
        one = await person(app, str(who))
        preview = await _preview(site, one, other.strip()) if other.strip() else None
        async with app.database.reading() as conn:
            same = await same_person(conn, app.settings.workspace, one.participant_id)
            graph = await graph_of(conn, app.settings.workspace, one, now=app.now())
        about: dict[str, Any] = {"person": one, "same": same, "graph": graph, "other": other.strip(), "step": STEP}
        return site.page(request, "connections.html", preview=preview, drawing=drawn(graph.own, graph.others), **about)

    @router.post("/people/{who}/merge")
    async def merge(request: Request, who: UUID) -> Response:
        return await _decided(site, request, who, "merge")

    @router.post("/people/{who}/unmerge")
    async def unmerge(request: Request, who: UUID) -> Response:
        return await _decided(site, request, who, "unmerge")

    return router


async def _decided(site: Site, request: Request, who: UUID, op: str) -> Response:
    """Ask for it, and look at the page again. Raises `RequestRefused` where it was not granted."""
    form = form_of(request)
    body = checked(OtherSelf, into=form.get("into", ""), reason=form.get("reason", ""), by=viewer(request))
    one, other = await person(site.app, str(who)), await person(site.app, body.into)
    _same_space(one, other)
    ids = {"participant_id": one.participant_id, "into": other.participant_id}
    asked, said = Response(), {"op": op, "by": body.by, "reason": body.reason}
    await outcome(site.app, ParticipantMergeRequested.model_validate({**ids, **said}), asked)
    what = "pending" if asked.status_code == 202 else f"{op}d"
    return done(f"/people/{one.participant_id}/connections", what)


def drawn(own: Sequence[Edge], others: Sequence[Edge]) -> Drawing:
    """The first things of a person, those first that lead to somebody, and the first people whom they lead to."""
    shared = {(edge.predicate, edge.object.casefold()) for edge in others}
    things = sorted(own, key=lambda edge: (edge.predicate, edge.object.casefold()) not in shared)[:DRAWN]
    places = {(edge.predicate, edge.object.casefold()): at for at, edge in enumerate(things)}
    people: dict[UUID, str] = {}
    for edge in others:
        if len(people) < DRAWN or edge.participant_id in people:
            people.setdefault(edge.participant_id, edge.subject)
    rows = {id: at for at, id in enumerate(people)}
    found = [
        Line(places[key], rows[edge.participant_id])
        for edge in others
        if (key := (edge.predicate, edge.object.casefold())) in places and edge.participant_id in rows
    ]
    return Drawing(things, list(people.items()), list(dict.fromkeys(found)))


async def _preview(site: Site, one: Person, typed: str) -> Preview:
    """What a merge would put together. Raises `RequestRefused` where there is nobody, or nothing to merge."""
    other = await person(site.app, typed)
    _same_space(one, other)
    here, there = await _side(site, one), await _side(site, other)
    both = [key for key in here.values if there.values.get(key, here.values[key]) != here.values[key]]
    return Preview(here, there, both)


async def _side(site: Site, one: Person) -> Side:
    app, workspace = site.app, site.app.settings.workspace
    async with app.database.reading() as conn:
        facts = await current(conn, workspace, one.participant_id, app.now())
        threads = await of_person(conn, workspace, one.participant_id, limit=THREADS)
    return Side(one, len(facts), len(threads), {fact.key: fact.value for fact in facts})


def _same_space(one: Person, other: Person) -> None:
    if one.participant_id == other.participant_id:
        said = translated("That is the same address: name another one of this person's.")
        raise RequestRefused(409, "refused", said)
    if one.space != other.space:
        said = translated("The two are in different spaces of memory, and no space tells another.")
        raise RequestRefused(409, "refused", said)
