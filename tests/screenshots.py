"""`make screenshots`: the README's pictures, taken by Debian's Chromium of the demo's deployment.

`python -m tests.screenshots --every FOLDER` takes every page light, dark and 320 pixels wide, for eyes to look at; with
`--language de` by a German browser.
"""

from __future__ import annotations

import argparse
import asyncio
import base64
import shutil
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from deploy.local import EmbeddedStack
from services.core.app import App, open_app
from services.core.settings import Settings
from services.demo.clock import SteppingClock
from services.demo.director import demo_settings
from services.demo.world import World, ZoneResolver, make_world
from services.operations.drafts.listing import waiting_drafts
from services.operations.idle import until_idle
from services.operations.investigations.listing import list_investigations
from services.operations.investigations.requests import investigate
from services.operations.memory.people import list_people
from services.operations.preparation import prepare
from services.operations.threads.inbox import inbox
from services.operations.users.teams import add_team
from services.operations.webhooks.endpoints import Wanted, add_endpoint
from services.operations.webhooks.listing import list_endpoints
from services.pipeline import NAMES
from services.process import working
from services.receive_email.accept import accept
from tests.support.alert_receiver import receiving
from tests.support.chromium import link_for, served_here
from tests.support.lived_in import live_through
from tests.support.stack import temporary_home

PICTURES = Path(__file__).parents[1] / "docs" / "pictures"
README = ("inbox", "draft", "person")  # the pages that the README shows
WIDE, NARROW = 1200, 320
TALLEST = 900  # of a picture of the README
PATIENCE_S = 600  # a busy machine takes its time
QUESTION = (
    "Subject: {subject}\r\nFrom: {author}\r\nTo: {inbox}\r\nMessage-ID: <{key}@screens.example>\r\n\r\n{text}\r\n"
)
NEWEST = (  # mails that come when replies wait for a person: subject, text
    ("Question before we upgrade", "What does the Enterprise plan cost a month?\r\nAnd can we pay by invoice?"),
    ("Cannot sign in any more", "Since this morning nobody here can sign in. This is urgent, please call us!"),
)


@asynccontextmanager
async def lived(home: Path) -> AsyncIterator[App]:
    """The demo's deployment after its world's last mail; replies to the newest mails wait for a person."""
    world = make_world(0)
    with EmbeddedStack(home) as endpoints:
        settings = demo_settings(world, endpoints, home)
        await prepare(settings)
        clock = SteppingClock(world.mails[0].received_at)
        async with _running(settings, world, clock) as app:
            await live_through(world, app, clock)
        waits = settings.model_copy(
            update={
                "send": settings.send.model_copy(update={"approval": "review"}),
                "investigate": settings.investigate.model_copy(update={"enabled": True}),
                "outgoing_webhooks": settings.outgoing_webhooks.model_copy(update={"private_hosts": True}),
            }
        )
        async with receiving() as hook, _running(waits, world, clock) as app:
            clock.present()
            hook.answer, hook.content = "200 OK", b'{"ticket": 4711}'
            await add_endpoint(app, Wanted(hook.url, description="Ticket desk"), by="Grace")
            stopped = Wanted("http://127.0.0.1:9/orders", ("thread.opened", "reply.sent"), "Warehouse", with_text=True)
            await add_endpoint(app, stopped, by="Grace")  # nobody listens there
            await add_team(app, "Billing", [], [settings.inboxes[0].name])
            await _write_the_newest(world, app)
            await _investigate(app)
            yield app


@asynccontextmanager
async def _running(settings: Settings, world: World, clock: SteppingClock) -> AsyncIterator[App]:
    async with open_app(settings, resolver=ZoneResolver(world.dns_zone), now=clock) as app, working(app, NAMES):
        yield app


async def _write_the_newest(world: World, app: App) -> None:
    box = app.settings.inboxes[0]
    for number, (subject, text) in enumerate(NEWEST):
        one = world.people[number]
        author = f"{one.name} <{one.address}>"
        raw = QUESTION.format(subject=subject, author=author, inbox=box.address, key=f"n{number}", text=text)
        await accept(app, box, raw.encode(), source="file", source_key=f"newest {number}", vouched_by="the demo")
    await until_idle(app, timeout_s=PATIENCE_S)


async def _investigate(app: App) -> None:
    """The agent works on a thread that is resolved."""
    async with app.database.reading() as conn:
        (known, *_) = await inbox(conn, app.settings.workspace, "resolved", limit=1)
    await investigate(app, known.thread_id, "What did they ask before, and what did we say?", "Grace", timeout_s=60)
    await until_idle(app, timeout_s=PATIENCE_S)


async def pages_of(app: App) -> Mapping[str, str]:
    """The page that each picture is of, by the picture's name."""
    workspace = app.settings.workspace
    async with app.database.reading() as conn:
        (draft, *_) = await waiting_drafts(conn, workspace, limit=1)
        people = await list_people(conn, workspace, limit=50)
        (sent, *_) = await inbox(conn, workspace, "resolved", limit=1)
        (case, *_) = await list_investigations(conn, workspace, limit=1)
    investigation = f"/investigations/{case.investigation_id}"
    desk, stopped = await list_endpoints(app)
    known = next(one.participant_id for one in people if one.addr == make_world(0).people[0].address)
    return {
        "inbox": "/inbox",
        "inbox-all": "/inbox?view=all",
        "inbox-search": "/inbox?q=invoice",
        "inbox-empty": "/inbox?q=nothingofthekind",
        "thread": f"/threads/{draft.thread_id}",
        "thread-answered": f"/threads/{sent.thread_id}",
        "draft": f"/drafts/{draft.reply_id}",
        "drafts": "/drafts",
        "why": f"/replies/{draft.reply_id}/why",
        "what-if": f"/replies/{draft.reply_id}/what-if",
        "prompt": f"/threads/{draft.thread_id}/prompt",
        "people": "/people",
        "person": f"/people/{known}",
        "timeline": f"/people/{known}/timeline",
        "person-data": f"/people/{known}/data",
        "knowledge": "/knowledge",
        "settings-change": "/settings/change/inboxes%5Bsupport%5D",
        "settings-history": "/settings/history",
        "unanswered": "/knowledge/unanswered",
        "knowledge-try": "/knowledge/try",
        "knowledge-search": "/knowledge?q=What+does+the+Enterprise+plan+cost%3F",
        "first-steps": "/first-steps",
        "quality": "/quality",
        "memory": "/memory",
        "incidents": "/incidents",
        "outreach": "/outreach",
        "investigations": "/investigations",
        "investigation": investigation,
        "investigation-round": f"{investigation}/rounds/1",
        "investigation-file": f"{investigation}/file?path=profile/user.yaml",
        "inbox-snoozed": "/inbox?view=snoozed",
        "jump": "/jump?q=in",
        "people-search": "/people?q=nobodyofthename",
        "settings": "/settings",
        "events": f"/pipeline/events?q={sent.thread_id}",
        "pipeline": "/pipeline?now=1",
        "deliveries": "/deliveries",
        "webhooks": "/webhooks",
        "webhook": f"/webhooks/{desk.endpoint_id}",
        "webhook-failing": f"/webhooks/{stopped.endpoint_id}",
        "teams": "/teams",
        "inbox-team": "/inbox?view=team&team=Billing",
        "replay": f"/pipeline/replay?of=thread&named={sent.thread_id}",
        "kit": "/kit",
        "users": "/users",
        "audit": "/users/audit",
        "me": "/me",
        "problem": "/nowhere",
    }


class Camera:
    """A Chromium without a window whose user reads a language, signed in to the console at `place`."""

    def __init__(self, place: str, link: str, language: str) -> None:
        from selenium import webdriver
        from selenium.webdriver.chrome.service import Service

        options = webdriver.ChromeOptions()
        options.binary_location = shutil.which("chromium") or ""
        for one in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu", "--hide-scrollbars"):
            options.add_argument(one)
        options.add_experimental_option("prefs", {"intl.accept_languages": language})
        self.driver = webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver")))
        self._place = place
        self.driver.get(link)
        self._until("return location.pathname.endsWith('/inbox')")

    def take(self, page: str, *, width: int, theme: str, tallest: int | None = None) -> bytes:
        """The page as PNG, from its top; `tallest` cuts it off."""
        self._command("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": theme}])
        self._look(width, TALLEST)
        self.driver.get(f"{self._place}/console{page}")
        self._until(
            "return document.readyState === 'complete' && document.getElementById('live').classList.contains('on')"
        )
        height = int(self.driver.execute_script("return document.documentElement.scrollHeight"))
        self._look(width, min(height, tallest or height))
        picture: str = self._command("Page.captureScreenshot", format="png")["data"]
        return base64.b64decode(picture)

    def close(self) -> None:
        """End the browser."""
        self.driver.quit()

    def _look(self, width: int, height: int) -> None:
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self._command("Emulation.setDeviceMetricsOverride", **size)

    def _command(self, name: str, **given: Any) -> Any:
        return self.driver.execute_cdp_cmd(name, given)

    def _until(self, holds: str) -> None:
        from selenium.webdriver.support.wait import WebDriverWait

        WebDriverWait(self.driver, 60).until(lambda driver: driver.execute_script(holds))


def take_every(camera: Camera, pages: Mapping[str, str], folder: Path) -> None:
    """Every page three times: light, dark, narrow."""
    for name, page in pages.items():
        for way, width, theme in (("light", WIDE, "light"), ("dark", WIDE, "dark"), ("narrow", NARROW, "light")):
            (folder / f"{name}-{way}.png").write_bytes(camera.take(page, width=width, theme=theme))


def take_for_readme(camera: Camera, pages: Mapping[str, str], folder: Path) -> None:
    """What the README shows."""
    for name in README:
        picture = camera.take(pages[name], width=WIDE, theme="light", tallest=TALLEST)
        (folder / f"console-{name}.png").write_bytes(picture)


async def main(every: Path | None, language: str) -> None:
    """Live through the demo's world, then take the pictures."""
    with temporary_home() as home:
        async with lived(home) as app, served_here(app) as place:
            link = await link_for(app, place)
            camera = await asyncio.to_thread(Camera, place, link, language)
            try:
                take, folder = (take_every, every) if every else (take_for_readme, PICTURES)
                folder.mkdir(parents=True, exist_ok=True)
                await asyncio.to_thread(take, camera, await pages_of(app), folder)
            finally:
                camera.close()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m tests.screenshots", description=__doc__)
    parser.add_argument("--every", type=Path, metavar="FOLDER", help="every page, light, dark and narrow, into FOLDER")
    parser.add_argument("--language", default="en", help="what the browser asks for (default: en)")
    if not (shutil.which("chromium") and shutil.which("chromedriver")):
        sys.exit("The pictures are taken by Debian's Chromium: apt-get install chromium chromium-driver")
    given = parser.parse_args()
    asyncio.run(main(given.every, given.language))
