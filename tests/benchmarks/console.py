"""The console over 100,000 threads (`--quick`: 5,000): how long each page takes the server, and how large it is.

Threads are rows copied by SQL, as answered mails leave them, two mails each and without their events; every fiftieth needs
a person. A page is asked for as a browser without JavaScript does, in this process: milliseconds are of reading and
rendering together, and of this machine. What the broker answers for *Pipeline* follows its page, and has no target. First paint is Debian's Chromium's, where that is installed.
"""

from __future__ import annotations

import asyncio
import json
import shutil
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import httpx

import schemas
from deploy.local import EmbeddedStack
from services.core.app import App, open_app
from services.core.db import fetch_all, queries
from services.operations.preparation import prepare
from services.operations.threads.inbox import inbox
from tests.benchmarks.measured import Measured, at_most
from tests.benchmarks.recall_support import Options, run
from tests.screenshots import Camera
from tests.support.app import settings_for
from tests.support.chromium import link_for, served_here
from tests.support.console import never_opened, signed_in
from tests.support.history import SQL as ROWS
from tests.support.history import UNTIL
from tests.support.stack import temporary_home

SQL = queries(__file__, "console.sql")
THREADS, QUICK_THREADS = 100_000, 5_000
TIMES, QUICK_TIMES = 30, 10
MOST_MS, MOST_KB, MOST_PAINT_MS = 150.0, 300.0, 1000.0
EXAMPLES = {
    name: Path(schemas.__file__).parent / "examples" / f"{event}.v1.json"
    for name, event in (("held", "reply.held"), ("loaded", "memory.loaded"), ("drafted", "reply.drafted"))
}
PARTS = ("people", "threads", "mails", "turns", "conversation", "deliveries", "deadlines")
OWN_PARTS = (
    *("waiting", "drafts", "open_turns", "escalated", "versions", "held", "told", "passages"),
    *(
        "investigations",
        "restores",
        "endpoints",
        "webhooks",
        "users",
        "teams",
        "audit",
        "settings",
        "analyse",
        "written",
    ),
)
NOT_HELD = frozenset(  # pages of what this filling does not make, or that read one row of it alone
    {
        *("/incidents/{incident_id}", "/knowledge/{document_id}"),
        *("/people/{who}/history", "/people/{who}/data", "/mails/{mail_id}"),
        *("/investigations/{investigation_id}/rounds/{number}", "/investigations/{investigation_id}/file"),
        *("/sign-in", "/sign-in/{token}", "/{path:path}"),
    }
)
PAINTED = "return performance.getEntriesByType('paint').find((one) => one.name === 'first-contentful-paint')?.startTime"


async def fill(app: App, threads: int) -> None:
    """So many threads, and what waits in some of them."""
    args: dict[str, Any] = {
        "workspace": app.settings.workspace,
        "done": 0,
        "mails": 2 * threads,
        "until": UNTIL,
        "threads": threads,
    }
    for name in ("held", "loaded", "drafted"):
        args[name] = json.dumps(json.loads(EXAMPLES[name].read_text(encoding="utf-8"))["data"])
    async with app.database.reading() as conn:
        for part in PARTS:
            await conn.execute(getattr(ROWS, part), args)
        for own in OWN_PARTS:
            await conn.execute(getattr(SQL, own), args)


async def pages_of(app: App) -> Mapping[str, str]:
    """Each page that grows with what is held, by what it is called in the table."""
    async with app.database.reading() as conn:
        needed = await inbox(conn, app.settings.workspace, "needs_me", limit=50)
        every = await inbox(conn, app.settings.workspace, "all", limit=50)
        (draft,) = await fetch_all(conn, SQL.a_draft, {})
        (one,) = await fetch_all(conn, SQL.one_of_each, {})
    thread, person = every[0].thread_id, every[0].participant_id
    views = ("needs_me", "mine", "mentioned", "team&team=Billing", "agent", "customer", "snoozed", "resolved", "all")
    pages = {
        **{f"inbox, {view.partition('&')[0]}": f"/inbox?view={view}" for view in views},
        "inbox, needs_me, second page": f"/inbox?after={needed.next}",
        "inbox, all, one tag": "/inbox?view=all&tag=invoices",
        "inbox, all, urgent": "/inbox?view=all&priority=urgent",
        "inbox, all, a tag that no thread has": "/inbox?view=all&tag=nothing",
        "search, a rare word": "/inbox?q=zebra",
        "search, a word of every message": "/inbox?q=export",
        "search, an address": "/inbox?q=person77@example.org",
        "jump, a rare word": "/jump?q=zeb",
        "jump, a beginning of every subject": "/jump?q=quest",
        "thread": f"/threads/{thread}",
        "person": f"/people/{person}",
        "person, as of a day": f"/people/{person}/as-of?day=2026-01-05",
        "person, brought back": f"/people/{person}/restore?day=2026-01-05",
        "person, connections": f"/people/{person}/connections",
        "person, timeline": f"/people/{person}/timeline",
        "why, of a thread": f"/threads/{draft['thread_id']}/why",
        "why": f"/replies/{draft['reply_id']}/why",
        "prompt": f"/threads/{draft['thread_id']}/prompt",
        "what if": f"/replies/{draft['reply_id']}/what-if",
        "first steps": "/first-steps",
        "people": "/people",
        "people, by name": "/people?q=person+77",
        "drafts": "/drafts",
        "draft": f"/drafts/{draft['reply_id']}",
        "deliveries": "/deliveries",
        "quality": "/quality",
        "memory": "/memory",
        "incidents": "/incidents",
        "outreach": "/outreach",
        "knowledge": "/knowledge",
        "knowledge, unanswered": "/knowledge/unanswered",
        "knowledge, try": "/knowledge/try",
        "investigations": "/investigations",
        "investigation": f"/investigations/{one['investigation']}",
        "investigation, diff": f"/investigations/{one['investigation']}/diff",
        "restores": "/restores",
        "restore": f"/restores/{one['restore']}",
        "webhooks": "/webhooks",
        "webhook": f"/webhooks/{one['endpoint']}",
        "settings": "/settings",
        "settings, a form": "/settings/change/limits",
        "settings, history": "/settings/history",
        "kit": "/kit",
        "users": "/users",
        "teams": "/teams",
        "team": f"/teams/{one['team']}",
        "audit": "/users/audit",
        "me": "/me",
        "events, of a thread": f"/pipeline/events?q={thread}",
        "pipeline": "/pipeline",
        "replay": "/pipeline/replay",
    }
    left = never_opened(app, pages.values()) - NOT_HELD
    assert not left, f"pages that nobody times: {sorted(left)}"
    return pages


async def timed(client: httpx.AsyncClient, page: str, times: int) -> tuple[float, float]:
    """The 95th percentile in milliseconds, and the page's size in kilobytes."""
    took, size = [], 0
    for _ in range(times):
        begun = time.perf_counter()
        answer = await client.get(f"/console{page}")
        took.append(1000 * (time.perf_counter() - begun))
        assert answer.status_code == 200, (page, answer.status_code, answer.text[:500])
        size = len(answer.content)
    return sorted(took)[int(0.95 * (len(took) - 1))], size / 1000


async def first_paint(app: App) -> float:
    """Of the inbox in a browser, milliseconds from the click on."""
    async with served_here(app) as place:
        camera = await asyncio.to_thread(Camera, place, await link_for(app, place), "en")
        try:
            await asyncio.to_thread(camera.take, "/inbox", width=1200, theme="light")
            return float(await asyncio.to_thread(camera.driver.execute_script, PAINTED))
        finally:
            camera.close()


async def measure(*, threads: int, times: int) -> Sequence[Measured]:
    """A line for each page, and the largest of them."""
    lines: list[Measured] = []
    with temporary_home() as home, EmbeddedStack(home) as endpoints:
        settings = settings_for(endpoints, endpoints.database, "bench.", home / "deployment")
        await prepare(settings)
        async with open_app(settings) as app:
            await fill(app, threads)
            largest = 0.0
            async with signed_in(app) as client:
                for name, page in (await pages_of(app)).items():
                    ms, kb = await timed(client, page, times)
                    lines.append(at_most(f"{name}, p95", ms, "ms", MOST_MS, times, {"kB": kb}))
                    largest = max(largest, kb)
                ms, _ = await timed(client, "/pipeline?now=1", times)
                lines.append(Measured("pipeline, with what the broker answers, p95", ms, "ms", n=times))
            lines.append(at_most("the largest page", largest, "kB", MOST_KB, len(lines)))
            if shutil.which("chromium") and shutil.which("chromedriver"):
                lines.append(at_most("first paint of the inbox", await first_paint(app), "ms", MOST_PAINT_MS, 1))
    return lines


def benchmark(options: Options) -> Sequence[Measured]:
    """The size that is asked for."""
    threads, times = (QUICK_THREADS, QUICK_TIMES) if options.quick else (THREADS, TIMES)
    return asyncio.run(measure(threads=threads, times=times))


if __name__ == "__main__":
    sys.exit(run("console", benchmark))
