"""The console in Debian's Chromium, as somebody sees it who has a screen and a keyboard."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

import pytest

from services.core.app import App
from services.core.settings import WebSettings
from services.core.web import listen, make_app, serve
from services.operations.sign_in import make_link
from services.operations.users import Role
from services.web.routes import served
from tests.support.console import NAME, a_user

CHROMIUM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
PATIENCE_S = 60
SWITCHES = ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu", "--hide-scrollbars")
WHERE_INSTALLED = [
    pytest.mark.skipif(not (CHROMIUM and DRIVER), reason="needs Debian's chromium and chromium-driver"),
    pytest.mark.slow,
]
ACCESSIBLE = """
const done = arguments[arguments.length - 1];
axe.run(document, {resultTypes: ["violations"]}).then(
  (found) => done(found.violations.map((one) => [one.id, one.impact, one.nodes.map((node) => node.html).join(" | ")].join(": "))),
  (error) => done([String(error)]));
"""

TOO_SMALL = """
const seen = [...document.querySelectorAll("a[href], button, input, select, textarea, summary")]
  .map((one) => (one.matches("[type=checkbox], [type=radio]") && one.closest("label")) || one)
  .filter((one) => one.checkVisibility({visibilityProperty: true}) && one.getBoundingClientRect().width > 1);
const places = seen.map((one) => ({one, box: one.getBoundingClientRect()})).map(({one, box}) => ({
  one, box, x: box.x + box.width / 2, y: box.y + box.height / 2, small: box.width < 24 || box.height < 24}));
const near = (a, b) => b.small
  ? Math.hypot(a.x - b.x, a.y - b.y) < 24
  : Math.hypot(a.x - Math.min(Math.max(a.x, b.box.left), b.box.right), a.y - Math.min(Math.max(a.y, b.box.top), b.box.bottom)) < 12;
const inText = ({one}) => getComputedStyle(one).display === "inline" &&
  one.parentElement.textContent.trim() !== one.textContent.trim();
const apart = (a, b) => a.one === b.one || a.one.contains(b.one) || b.one.contains(a.one);
return places.filter((a) => a.small && !inText(a) && places.some((b) => !apart(a, b) && near(a, b)))
  .map(({one, box}) => `${Math.round(box.width)} x ${Math.round(box.height)}: ${one.outerHTML.slice(0, 160)}`);
"""


@contextmanager
def chromium() -> Iterator[Any]:
    """A browser without a window of its own on the screen, which keeps what its console says."""
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM or ""
    for one in (*SWITCHES, "--window-size=1200,900"):
        options.add_argument(one)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(DRIVER))
    try:
        yield driver
    finally:
        driver.quit()


@asynccontextmanager
async def served_here(app: App, port: int = 0) -> AsyncIterator[str]:
    """The console on a port of this machine, a free one where it is 0: its address."""
    listening, stop = listen(WebSettings(port=port)), asyncio.Event()
    place = f"http://127.0.0.1:{listening.getsockname()[1]}"
    task = asyncio.create_task(serve(make_app([served(app)], stopping=stop), listening, stop))
    try:
        yield place
    finally:
        stop.set()
        async with asyncio.timeout(15):  # an open stream does not hold the server up
            await task


async def link_for(app: App, place: str, name: str = NAME, role: Role = "admin") -> str:
    """The address that signs somebody in."""
    return f"{place}/console/sign-in/{await make_link(app, await a_user(app, name, role))}"


@dataclass(frozen=True)
class Window:
    """What somebody does in a browser. Its methods wait for the browser: call them in a thread of their own."""

    driver: Any

    def sign_in(self, link: str) -> None:
        """Open a link that signs in."""
        self.driver.get(link)
        self.until(lambda driver: driver.current_url.endswith("/inbox"))
        self.until_live()

    def until_live(self) -> None:
        """Wait until the page hears of changes, and so its modules run."""
        self.until(lambda _: "live ·" in self.text("#live"))

    def go(self, address: str) -> None:
        """Open a page."""
        self.driver.get(address)
        self.until_live()

    def until(self, holds: Callable[[Any], Any]) -> Any:
        """Wait until it holds."""
        from selenium.common.exceptions import NoSuchElementException, StaleElementReferenceException
        from selenium.webdriver.support.wait import WebDriverWait

        ignored = (StaleElementReferenceException, NoSuchElementException)
        return WebDriverWait(self.driver, PATIENCE_S, poll_frequency=0.2, ignored_exceptions=ignored).until(holds)

    def type(self, *keys: str) -> None:
        """Type into whatever has the focus."""
        for key in keys:
            self.driver.switch_to.active_element.send_keys(key)

    def press(self, key: str) -> None:
        """Press a key of some keyboard, which need not be an American one: `type` knows only that."""
        for kind in ("keyDown", "keyUp"):
            said = {"type": kind, "key": key, "text": key if kind == "keyDown" else ""}
            self.driver.execute_cdp_cmd("Input.dispatchKeyEvent", said)

    def find(self, selector: str) -> Any:
        """The one element."""
        return self.driver.find_element("css selector", selector)

    def has(self, selector: str) -> bool:
        """Whether there is one."""
        return bool(self.driver.find_elements("css selector", selector))

    def text(self, selector: str) -> str:
        """What an element shows."""
        return str(self.find(selector).text)

    def focused(self) -> str:
        """The id of what has the focus."""
        return str(self.driver.switch_to.active_element.get_attribute("id"))

    def look(self, *, theme: str, width: int) -> None:
        """Look at the page that is open, and at those that are opened next, in a theme and a width, without transitions.

        A colour that is on its way from one theme to the next has a contrast of neither.
        """
        features = {"prefers-color-scheme": theme, "prefers-reduced-motion": "reduce"}
        media = [{"name": name, "value": value} for name, value in features.items()]
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": media})
        size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)

    def barriers(self) -> list[str]:
        """What axe finds on the page, of any level: rule, impact, elements."""
        if not self.driver.execute_script("return 'axe' in window"):
            self.driver.execute_script((files("axe_core_python") / "axe.min.js").read_text("utf-8"))
        found: list[str] = self.driver.execute_async_script(ACCESSIBLE)
        return found

    def too_small(self) -> list[str]:
        """What is hard to hit: WCAG 2.2, 2.5.8, 24 pixels each way or as much room around it; links in text are excepted."""
        found: list[str] = self.driver.execute_script(TOO_SMALL)
        return found

    def said(self) -> list[Any]:
        """What the browser's console says: refused scripts and styles, errors."""
        said: list[Any] = self.driver.get_log("browser")
        return said
