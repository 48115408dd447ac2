"""The console in a real browser: Debian's Chromium opens the inbox, approves a draft, and complains of nothing."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from deploy.local import Endpoints
from services.core.settings import WebSettings
from services.core.web import listen, make_app, serve
from services.operations.sign_in import make_link
from services.web.served import served
from tests.support.console import a_user
from tests.support.remembering import ADA
from tests.support.tending import Tended, tending

CHROMIUM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
PATIENCE_S = 60
pytestmark = [
    pytest.mark.skipif(not (CHROMIUM and DRIVER), reason="needs Debian's chromium and chromium-driver"),
    pytest.mark.slow,
]
HOSTILE = "<img src=x onerror=alert(1)>"


@pytest.fixture
def chromium() -> Iterator[Any]:
    """A browser without a window, which keeps what its console says."""
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM or ""
    for one in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu", "--window-size=1200,900"):
        options.add_argument(one)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(DRIVER))
    yield driver
    driver.quit()


@asynccontextmanager
async def served_here(app: Tended) -> AsyncIterator[str]:
    """The console on a port of this machine."""
    listening, stop = listen(WebSettings(port=0)), asyncio.Event()
    place = f"http://127.0.0.1:{listening.getsockname()[1]}"
    task = asyncio.create_task(serve(make_app([served(app.app)], stopping=stop), listening, stop))
    try:
        yield place
    finally:
        stop.set()
        async with asyncio.timeout(15):  # an open stream does not hold the server up
            await task


@pytest.fixture
async def app(stack: Endpoints, database: str, topic_prefix: str, tmp_path: Path) -> AsyncIterator[Tended]:
    """A deployment in which every reply waits for a person."""
    async with tending(stack, database, topic_prefix, tmp_path, send={"approval": "review"}) as one:
        await one.write(f"The CSV export stops. {HOSTILE}", subject=f"Export {HOSTILE}", sender=f'"{HOSTILE}" <{ADA}>')
        async with one.at_work():
            yield one


async def test_a_draft_is_approved_from_the_screen(app: Tended, chromium: Any) -> None:
    """By keys alone: signed in, found in the inbox, edited, sent; a colleague's note is announced, and nothing is blocked."""
    from selenium.common.exceptions import StaleElementReferenceException
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys
    from selenium.webdriver.support.wait import WebDriverWait

    def until(holds: Callable[[Any], Any]) -> Any:
        patient = WebDriverWait(
            chromium, PATIENCE_S, poll_frequency=0.2, ignored_exceptions=(StaleElementReferenceException,)
        )
        return patient.until(holds)

    def typed(*keys: str) -> None:
        for key in keys:
            chromium.switch_to.active_element.send_keys(key)

    def sign_in(link: str) -> None:
        chromium.get(link)
        until(lambda driver: driver.current_url.endswith("/inbox"))

    def open_the_thread() -> None:
        until(lambda driver: "live ·" in driver.find_element(By.ID, "live").text)
        until(lambda driver: driver.find_elements(By.CSS_SELECTOR, "a.row"))
        typed("j", Keys.ENTER)
        until(lambda driver: driver.find_elements(By.ID, "approve"))
        assert HOSTILE in chromium.find_element(By.TAG_NAME, "h1").text
        assert "UTC" not in chromium.find_element(By.TAG_NAME, "time").text

    def see_what_is_newer() -> None:
        until(lambda driver: driver.find_element(By.ID, "newer").is_displayed())
        assert "by telephone" not in chromium.find_element(By.ID, "notes").text
        typed("r")
        until(lambda driver: "by telephone" in driver.find_element(By.ID, "notes").text)

    def approve() -> None:
        typed("e")
        chromium.switch_to.active_element.send_keys(Keys.CONTROL, "a")
        chromium.switch_to.active_element.send_keys("We are on it.")
        chromium.execute_script("document.activeElement.blur()")
        typed("a", Keys.ENTER)
        until(lambda driver: "Approved." in driver.find_element(By.ID, "main").text)

    async with served_here(app) as place:
        await asyncio.to_thread(sign_in, f"{place}/console/sign-in/{await make_link(app.app, await a_user(app.app))}")
        await asyncio.to_thread(open_the_thread)
        from services.operations.threads.requests import mark

        (row,) = await app.rows("SELECT thread_id FROM threads")
        await mark(app.app, row["thread_id"], timeout_s=PATIENCE_S, note="Settled by telephone.", by="Ann")
        await asyncio.to_thread(see_what_is_newer)
        await asyncio.to_thread(approve)
        said = await asyncio.to_thread(chromium.get_log, "browser")
    (event,) = await app.rows("SELECT data FROM events WHERE type = 'draft.decided.v1'")
    assert (event["data"]["text"], event["data"]["by"]) == ("We are on it.", "Grace")
    assert said == []
