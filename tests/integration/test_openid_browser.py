"""Signing in by an account elsewhere in Debian's Chromium, whose rules about cookies of other sites no client of ours has."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from deploy.local import Endpoints
from services.core.settings import ConsoleSettings
from tests.support.chromium import WHERE_INSTALLED, Window, chromium, link_for, served_here
from tests.support.oidc_provider import OidcProvider
from tests.support.tending import Tended, tending

pytestmark = WHERE_INSTALLED
WAYS = (("light", 1200), ("dark", 1200), ("light", 320))
PICTURES = os.environ.get("PICTURES", "")  # a folder, to look at the pages


@pytest.fixture
def window() -> Iterator[Window]:
    """A browser."""
    with chromium() as driver:
        yield Window(driver)


@pytest.fixture
async def app(stack: Endpoints, database: str, topic_prefix: str, tmp_path: Path) -> AsyncIterator[Tended]:
    """A deployment whose users sign in at a provider, too, which is another site than it."""
    async with tending(stack, database, topic_prefix, tmp_path) as one, OidcProvider(one.clock) as provider:
        console = ConsoleSettings.model_validate(provider.settings()["console"])
        settings = one.app.settings.model_copy(update={"console": console})
        yield replace(one, app=replace(one.app, settings=settings))


async def test_an_account_is_linked_and_signs_in_from_another_site(app: Tended, window: Window) -> None:
    """The session holds from the first page on, though another site led there; nothing is refused by the pages' policy."""

    def link_it(place: str) -> None:
        window.go(f"{place}/console/me")
        window.find("form[action$='/me/oidc'] button").click()
        window.until(lambda driver: driver.current_url.endswith("/me?done=linked"))
        window.until_live()
        assert "From now on the account signs you in." in window.text("main")
        if PICTURES:
            shown("linked")
        window.driver.delete_all_cookies()

    def sign_in(place: str) -> None:
        window.driver.get(f"{place}/console/drafts")
        window.find("a[href*='/sign-in/oidc']").click()
        window.until(lambda driver: driver.current_url.endswith("/console/drafts"))
        window.until_live()

    def shown(name: str) -> list[str]:
        found = []
        for theme, width in WAYS:
            window.look(theme=theme, width=width)
            found += [f"{name} {theme} {width}: {one}" for one in (*window.barriers(), *window.too_small())]
            if PICTURES:
                window.driver.save_screenshot(f"{PICTURES}/{name}-{theme}-{width}.png")
        window.look(theme="light", width=1200)
        return found

    def look_at_the_doors(place: str) -> list[str]:
        window.driver.get(f"{place}/console/drafts")
        found = shown("door")
        window.driver.get(f"{place}/console/sign-in/oidc/callback?state=x")
        return found + shown("refused")

    async with served_here(app.app) as here:
        place = here.replace("127.0.0.1", "localhost")
        await asyncio.to_thread(window.sign_in, await link_for(app.app, place, "Grace", "agent"))
        await asyncio.to_thread(link_it, place)
        found = await asyncio.to_thread(look_at_the_doors, place)
        await asyncio.to_thread(sign_in, place)
    assert found == []
    assert [one for one in window.said() if "Content Security Policy" in str(one)] == []
