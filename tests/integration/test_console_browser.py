"""The console in a real browser: Debian's Chromium opens the inbox, approves a draft, and complains of nothing."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from deploy.local import Endpoints
from services.operations.threads.requests import mark
from tests.support.chromium import PATIENCE_S, WHERE_INSTALLED, Window, chromium, link_for, served_here
from tests.support.remembering import ADA
from tests.support.tending import Tended, tending

pytestmark = WHERE_INSTALLED
HOSTILE = "<img src=x onerror=alert(1)>"


@pytest.fixture
def window() -> Iterator[Window]:
    """A browser."""
    with chromium() as driver:
        yield Window(driver)


@pytest.fixture
async def app(stack: Endpoints, database: str, topic_prefix: str, tmp_path: Path) -> AsyncIterator[Tended]:
    """A deployment in which every reply waits for a person."""
    async with tending(stack, database, topic_prefix, tmp_path, send={"approval": "review"}) as one:
        await one.write(f"The CSV export stops. {HOSTILE}", subject=f"Export {HOSTILE}", sender=f'"{HOSTILE}" <{ADA}>')
        async with one.at_work():
            yield one


async def test_a_draft_is_approved_from_the_screen(app: Tended, window: Window) -> None:
    """By keys alone: signed in, found in the inbox, edited, sent; a colleague's note is announced, and nothing is blocked."""
    from selenium.webdriver.common.keys import Keys

    def open_the_thread() -> None:
        window.until(lambda _: window.has("a.row"))
        window.type("j", Keys.ENTER)
        window.until(lambda _: window.has("#approve"))
        assert HOSTILE in window.text("h1")
        assert "UTC" not in window.text("time")

    def see_what_is_newer() -> None:
        window.until(lambda _: window.find("#newer").is_displayed())
        assert "by telephone" not in window.text("#notes")
        window.type("r")
        window.until(lambda _: "by telephone" in window.text("#notes"))

    def approve() -> None:
        window.type("e")
        window.driver.switch_to.active_element.send_keys(Keys.CONTROL, "a")
        window.type("We are on it.")
        window.driver.execute_script("document.activeElement.blur()")
        window.type("a", Keys.ENTER)
        window.until(lambda _: "Approved." in window.text("#main"))

    async with served_here(app.app) as place:
        await asyncio.to_thread(window.sign_in, await link_for(app.app, place))
        await asyncio.to_thread(open_the_thread)
        (row,) = await app.rows("SELECT thread_id FROM threads")
        await mark(app.app, row["thread_id"], timeout_s=PATIENCE_S, note="Settled by telephone.", by="Ann")
        await asyncio.to_thread(see_what_is_newer)
        await asyncio.to_thread(approve)
        said = await asyncio.to_thread(window.said)
    (event,) = await app.rows("SELECT data FROM events WHERE type = 'draft.decided.v1'")
    assert (event["data"]["text"], event["data"]["by"]) == ("We are on it.", "Grace")
    assert said == []


async def test_a_console_that_was_restarted_is_live_again_and_costs_no_word(app: Tended, window: Window) -> None:
    """While it is away the page says since when; back on its port, it goes on, with the session and what was typed."""

    def begin() -> None:
        window.until(lambda _: window.has("a.row"))
        window.driver.execute_script("document.querySelector('a.row').click()")
        window.until(lambda _: window.has("#note"))
        window.until_live()
        window.find("#note").send_keys("Half a thought")

    def miss() -> None:
        window.until(lambda _: "not live since" in window.text("#live"))

    def go_on() -> None:
        window.until_live()
        assert window.find("#note").get_attribute("value") == "Half a thought"
        window.find("[action$='/notes'] button").click()
        window.until(lambda _: "Half a thought" in window.text("#notes article:last-of-type"))

    async with served_here(app.app) as place:
        await asyncio.to_thread(window.sign_in, await link_for(app.app, place))
        await asyncio.to_thread(begin)
    await asyncio.to_thread(miss)
    async with served_here(app.app, int(place.rpartition(":")[2])):
        await asyncio.to_thread(go_on)
