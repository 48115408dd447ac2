"""An investigation in a browser: rounds appear by themselves, proposals are decided, axe finds nothing, nothing runs."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from deploy.local import Endpoints
from tests.support.chromium import WHERE_INSTALLED, Window, chromium, link_for, served_here
from tests.support.investigating import HOT, PAD, QUESTION, finish, investigating, mail_of, memory, otherwise
from tests.support.scripted_model import Behaviour, Seen, reply_tools

pytestmark = [*WHERE_INSTALLED, pytest.mark.timeout(300)]
HOSTILE = "<img src=x onerror=alert(1)>"
WAYS = (("light", 1200), ("dark", 1200), ("light", 320))


@pytest.fixture
def window() -> Iterator[Window]:
    """A browser."""
    with chromium() as driver:
        yield Window(driver)


async def test_rounds_appear_while_somebody_watches_and_what_it_proposes_is_decided(
    stack: Endpoints, database: str, topic_prefix: str, tmp_path: Path, window: Window
) -> None:
    """Each round comes below the last one without moving anything or taking the focus; its end is shown when asked for."""
    goes_on = [asyncio.Event() for _ in range(3)]

    async def script(request: Seen) -> Behaviour:
        if "finish" not in request.tools:
            return otherwise(request)
        await goes_on[request.round].wait()
        return rounds[request.round](request)

    def barriers() -> list[str]:
        found = []
        window.driver.execute_script("document.querySelectorAll('main details').forEach((one) => one.open = true)")
        for theme, width in WAYS:
            window.look(theme=theme, width=width)
            found += [f"{theme} {width}: {one}" for one in (*window.barriers(), *window.too_small())]
        window.look(theme="light", width=1200)
        return found

    def begin(place: str, thread: str) -> None:
        window.go(f"{place}/console/threads/{thread}")
        window.driver.execute_script("document.querySelector('#investigate details').open = true")
        window.find("#question").send_keys(f"{QUESTION} {HOSTILE}")
        window.find("#investigate form button").click()
        window.until(lambda driver: "/investigations/" in driver.current_url)
        window.until(lambda _: "0 of at most" in window.text("#cost"))

    def watch(number: int) -> None:
        window.driver.execute_script("document.querySelector('main .button').focus()")
        window.until(lambda _: window.has(f"#round-{number}"))
        window.until(lambda _: f"{number} of at most" in window.text("#cost"))
        assert f"Round {number}" in window.find("#announce").get_attribute("textContent")
        assert "See how far" in window.driver.switch_to.active_element.text
        assert not window.find("#newer").is_displayed()

    def decide() -> list[str]:
        window.until(lambda _: window.find("#newer").is_displayed())
        assert not window.has("#proposals"), "nothing moves before it is asked for"
        window.find("#newer a").click()
        window.until(lambda _: window.has("#proposals"))
        found = barriers()
        window.find("#proposals article:last-of-type .primary").click()
        window.until(lambda _: "accepted" in window.text("#proposals article:last-of-type h3"))
        assert HOSTILE in window.text("#proposals")
        window.find("#files a").click()
        window.until(lambda driver: "/file?" in driver.current_url)
        return [*found, *barriers(), *window.said()]

    async with investigating(stack, database, topic_prefix, tmp_path) as desk:
        thread = await desk.app.write(f"Our export runs nightly {HOSTILE}.", sender="Ada <ada@acme.example>")
        fact = {"op": "add", "kind": "customer_info", "key": "export", "value": f"nightly {HOSTILE}", "text": HOSTILE,
                "quote": "Our export runs nightly", "mail_id": str(await mail_of(desk, thread))}  # fmt: skip
        rounds = (
            lambda _: reply_tools(("list_files", {}), ("grep", {"words": HOSTILE})),
            lambda _: reply_tools(
                memory(command="create", path=PAD, file_text=f"- {HOSTILE}\n" * 40),
                memory(command="create", path=HOT, file_text=f"Ada {HOSTILE}"),
                memory(command="create", path="outputs/report.md", file_text=HOSTILE),
            ),
            finish(f"Found {HOSTILE}", fact),
        )
        desk.server.script(script)
        async with desk.app.at_work(), served_here(desk.app.app) as place:
            await asyncio.to_thread(window.sign_in, await link_for(desk.app.app, place, role="agent"))
            await asyncio.to_thread(begin, place, str(thread))
            for number in (1, 2):
                goes_on[number - 1].set()
                await asyncio.to_thread(watch, number)
            goes_on[2].set()
            assert await asyncio.to_thread(decide) == []
