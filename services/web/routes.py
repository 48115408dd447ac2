"""`/api`: participants and what is known of them, threads, drafts, documents; and what a person asks of each."""

from __future__ import annotations

from functools import partial
from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request, Response
from fastapi.responses import RedirectResponse
from starlette.routing import Route

from services.core.app import App
from services.core.guarded_route import API_BODY_BYTES, guarded
from services.core.web_paging import After, Limit, linked
from services.operations.memory.people import Person, list_people
from services.operations.trials import Trials
from services.web import answers, drafts, facts, knowledge, threads
from services.web.assistants.endpoint import PATH, Endpoint
from services.web.briefs import add_brief
from services.web.console.routes import pages
from services.web.console.site import ROOT
from services.web.dead_letters import add_dead_letters, add_replays
from services.web.deployment import add_deployment
from services.web.drafts import add_outreach, add_patterns, add_quality, add_thumbs
from services.web.incidents import add_incidents
from services.web.investigations import add_investigations
from services.web.memory import add_graph, add_periods, add_said, add_statistics
from services.web.named import Who, person
from services.web.people import add_lifecycle, add_merges, add_profile, add_timeline
from services.web.ratings import rating_pages
from services.web.refusals import REFUSALS
from services.web.restores import add_restores, add_restoring
from services.web.settings import add_inbox_test, add_settings
from services.web.teams import add_teams
from services.web.threads import add_explanations
from services.web.token import BEARER, Roles, bearer_of
from services.web.unsubscribe import unsubscribing
from services.web.users import add_users
from services.web.webhooks import add_webhooks
from services.web.what_if import add_what_if


def routes(app: App, trials: Trials | None = None) -> APIRouter:
    """The API's routes, all behind a bearer token whose scopes name their area; `trials` as the console counts them."""
    checks, trials = bearer_of(app), trials or Trials(app)
    api, asked = APIRouter(), [Depends(BEARER)]
    everybody, admins, admins_act = Roles(), Roles("admin", "admin"), Roles("viewer", "admin")
    parts = (
        (
            "memory",
            everybody,
            API_BODY_BYTES,
            (
                _add_people,
                add_profile,
                add_lifecycle,
                add_timeline,
                facts.add_reads,
                facts.add_requests,
                add_said,
                add_brief,
                add_graph,
                add_merges,
                add_periods,
                add_statistics,
            ),
        ),
        ("memory", admins, API_BODY_BYTES, (add_restoring,)),
        (
            "threads",
            everybody,
            API_BODY_BYTES,
            (
                threads.add_reads,
                threads.add_requests,
                add_explanations,
                add_investigations,
                answers.add_own_replies,
                answers.add_suggestions,
            ),
        ),
        ("threads", everybody, answers.most_bytes(app), (answers.add_reply,)),
        (
            "drafts",
            everybody,
            API_BODY_BYTES,
            (
                drafts.add_reads,
                drafts.add_rejection,
                add_quality,
                add_thumbs,
                partial(add_what_if, trials=trials),
                add_incidents,
                add_outreach,
            ),
        ),
        ("drafts", admins_act, API_BODY_BYTES, (add_patterns,)),
        ("drafts", everybody, drafts.most_bytes(app), (drafts.add_approval,)),
        ("operations", everybody, API_BODY_BYTES, (add_deployment,)),
        ("operations", admins, API_BODY_BYTES, (add_restores, partial(add_replays, trials=trials))),
        ("operations", admins_act, API_BODY_BYTES, (add_dead_letters,)),
        ("settings", admins, API_BODY_BYTES, (add_settings, add_users, partial(add_inbox_test, trials=trials))),
        ("settings", admins_act, API_BODY_BYTES, (add_teams,)),
        ("webhooks", admins, API_BODY_BYTES, (add_webhooks,)),
        (
            "knowledge",
            everybody,
            API_BODY_BYTES,
            (
                knowledge.add_questions,
                partial(knowledge.add_trials, trials=trials),
                knowledge.add_documents,
                knowledge.add_articles,
            ),
        ),
    )
    for tag, roles, most, adders in parts:
        router = APIRouter(
            prefix="/api",
            tags=[tag],
            dependencies=asked,
            responses=REFUSALS,
            route_class=guarded(checks(tag, roles), most),
        )
        for add in adders:
            add(router, app)
        api.routes.extend(router.routes)
    return api


def _add_people(router: APIRouter, app: App) -> None:
    @router.get("/participants")
    async def participants(
        request: Request,
        response: Response,
        q: Annotated[str, Query(max_length=200, description="words of a name or an address, or their beginnings")] = "",
        limit: Limit = 50,
        after: After = "",
    ) -> list[Person]:
        """Who has written to us, the latest first."""
        async with app.database.reading() as conn:
            named = q.strip() or None
            page = await list_people(conn, app.settings.workspace, named=named, limit=limit, after=after)
        return linked(request, response, page)

    @router.get("/participants/{who}")
    async def participant(who: Who) -> Person:
        """One participant, by address or id."""
        return await person(app, who)


# What the edge answers: the API under `/api`, its tools for assistants at `/mcp`, and the console under `/console`.
#
# `/` leads to the console.


def served(app: App) -> APIRouter:
    """All routes."""
    every, trials = APIRouter(), Trials(app)
    every.routes.extend(routes(app, trials).routes)
    every.routes.append(Route(PATH, Endpoint(app), methods=["GET", "POST", "DELETE"]))
    every.routes.extend(unsubscribing(app).routes)
    every.routes.extend(rating_pages(app).routes)
    if app.settings.web.console:
        every.routes.extend(pages(app, trials).routes)
        every.add_api_route("/", _first, include_in_schema=False)
    return every


async def _first() -> RedirectResponse:
    return RedirectResponse(ROOT, 303)
