"""All routes of the console."""

from __future__ import annotations

from fastapi import APIRouter

from services.core.app import App
from services.core.web import RequestRefused
from services.operations.trials import Trials
from services.web.console.answer import answer_acts
from services.web.console.bulk import bulk_acts
from services.web.console.connections import connection_pages
from services.web.console.drafts import draft_pages
from services.web.console.figures import figures_page
from services.web.console.first_steps import first_steps_page
from services.web.console.inbox import inbox_pages
from services.web.console.inbox_test import inbox_test
from services.web.console.incidents import incident_pages, outreach_page
from services.web.console.investigations import investigation_pages
from services.web.console.jump import jump_page
from services.web.console.kit import kit_page
from services.web.console.knowledge import knowledge_pages
from services.web.console.language import translated
from services.web.console.live import live_stream
from services.web.console.mails import delivery_pages, mail_pages
from services.web.console.me import my_page
from services.web.console.memory import memory_acts
from services.web.console.openid import account_acts, openid_pages
from services.web.console.past import past_page, restoring_page
from services.web.console.people import people_pages
from services.web.console.personal_data import personal_data_pages
from services.web.console.pipeline import pipeline_pages
from services.web.console.quality import quality_page
from services.web.console.reasons import reason_pages
from services.web.console.replay import replay_pages
from services.web.console.restores import restore_pages
from services.web.console.settings import settings_forms, settings_pages
from services.web.console.sign_in import leaving, open_pages
from services.web.console.site import Site
from services.web.console.snooze import snooze_acts
from services.web.console.static_files import static_files
from services.web.console.teams import team_page, team_pages
from services.web.console.thread import thread_pages
from services.web.console.thumbs import thumb_acts
from services.web.console.users import user_pages
from services.web.console.webhooks import webhook_pages
from services.web.console.what_if import what_if_page

PARTS = (
    openid_pages,
    open_pages,
    static_files,
    leaving,
    first_steps_page,
    inbox_pages,
    bulk_acts,
    snooze_acts,
    jump_page,
    thread_pages,
    answer_acts,
    draft_pages,
    thumb_acts,
    mail_pages,
    reason_pages,
    what_if_page,
    people_pages,
    memory_acts,
    past_page,
    restoring_page,
    connection_pages,
    personal_data_pages,
    knowledge_pages,
    quality_page,
    figures_page,
    incident_pages,
    outreach_page,
    investigation_pages,
    pipeline_pages,
    replay_pages,
    delivery_pages,
    settings_pages,
    restore_pages,
    settings_forms,
    inbox_test,
    user_pages,
    team_pages,
    team_page,
    webhook_pages,
    kit_page,
    my_page,
    account_acts,
    live_stream,
)


def pages(app: App, trials: Trials | None = None) -> APIRouter:
    """Every page; an address below `/console` that is none answers with a page, too."""
    site, router = Site(app, trials), APIRouter()
    for part in PARTS:
        router.routes.extend(part(site).routes)
    last = site.router()

    @last.get("/{path:path}")
    async def nowhere(path: str) -> None:
        raise RequestRefused(404, "page_unknown", translated("There is no such page."))

    router.routes.extend(last.routes)
    return router
