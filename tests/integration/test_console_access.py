"""Whoever uses the console by keyboard, by a screen reader, in the dark or on a telephone: axe on every page, and the keys."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from deploy.local import Endpoints
from services.model.port import Answer, Request, ToolCall
from services.operations.investigations.requests import investigate
from services.operations.memory import restores
from services.operations.threads.requests import mark
from services.operations.users.teams import add_team
from services.operations.webhooks.endpoints import Wanted, add_endpoint
from tests.support.chromium import PATIENCE_S, WHERE_INSTALLED, Window, chromium, link_for, served_here
from tests.support.console import a_user, never_opened
from tests.support.documents import shelve
from tests.support.remembering import ADA, day, fact
from tests.support.tending import Tended, tending

pytestmark = WHERE_INSTALLED
HOSTILE = "<img src=x onerror=alert(1)>"
BEFORE = ("/sign-in", "/sign-in/no-such-link")  # pages for whom nobody knows yet
WAYS = (("light", 1200), ("dark", 1200), ("light", 320))

TOO_WIDE = """
const wide = document.documentElement.clientWidth;
if (document.documentElement.scrollWidth <= wide) return [];
return [...document.querySelectorAll("main *, .top *")].filter((one) => one.getBoundingClientRect().right > wide + 1).slice(0, 3)
  .map((one) => one.outerHTML.slice(0, 200));
"""


@pytest.fixture
def window() -> Iterator[Window]:
    """A browser."""
    with chromium() as driver:
        yield Window(driver)


@pytest.fixture
async def app(stack: Endpoints, database: str, topic_prefix: str, tmp_path: Path) -> AsyncIterator[Tended]:
    """A deployment with drafts that wait, an escalated thread, something known and read, and names that mean harm."""
    canned = [{"name": f"Thanks {HOSTILE}", "text": "Thank you, {name|friend}."}]
    changes = {
        "send": {"approval": "review"},
        "investigate": {"enabled": True},
        "incidents": {"customers": 1},
        "canned_answers": canned,
        "outgoing_webhooks": {"private_hosts": True},
    }
    async with tending(stack, database, topic_prefix, tmp_path, **changes) as one:
        refusing = Wanted("http://127.0.0.1:9/hook", description=HOSTILE)  # where nobody listens
        await add_endpoint(one.app, refusing, by=HOSTILE)
        mail = await one.mail("We are on the Team plan.", on=0)
        await one.learn(mail, fact("plan", "Team", "We are on the Team plan."))
        one.clock.forward(day(1))
        await one.write(f"The CSV export stops. {HOSTILE}", subject=f"Export {HOSTILE}", sender=f'"{HOSTILE}" <{ADA}>')
        await one.write("Nobody can sign in. A person please!", subject="Sign-in", sender="bo@granite.example")
        async with one.at_work():
            yield one


async def pages_of(app: Tended) -> list[str]:
    """Every page, each with something to show."""
    threads = await app.rows("SELECT thread_id FROM threads ORDER BY opened_at")
    drafts = await app.rows("SELECT reply_id FROM deliveries WHERE state = 'draft'")
    mails = await app.rows("SELECT mail_id FROM mails")
    endpoint = (await app.rows("SELECT endpoint_id FROM webhook_endpoints"))[0]["endpoint_id"]
    (draft, mail, person) = drafts[0]["reply_id"], mails[0]["mail_id"], app.person()
    team = await add_team(app.app, HOSTILE, [(await a_user(app.app)).name], ["support"])
    restore = await restores.begin(app.app, day(0.5), by="Grace")
    await restores.go_on(app.app, asyncio.Event())
    asked = await investigate(app.app, threads[0]["thread_id"], HOSTILE, HOSTILE, timeout_s=PATIENCE_S)
    case = f"/investigations/{asked.investigation.investigation_id}"
    document = await shelve(app.app, f"Export {HOSTILE}.md", f"# Export {HOSTILE}\n\nIt has every row.")
    incident = (await app.rows("SELECT incident_id FROM incidents"))[0]["incident_id"]
    return [
        "/inbox?view=all",
        "/inbox?view=mentioned",
        f"/inbox?view=team&team={HOSTILE}",
        "/teams",
        f"/teams/{team.team_id}",
        "/inbox?q=export",
        "/inbox?q=nothingofthekind",
        *(f"/threads/{one['thread_id']}" for one in threads),
        f"/threads/{threads[-1]['thread_id']}/why",
        f"/threads/{threads[-1]['thread_id']}/prompt",
        f"/replies/{draft}/why",
        f"/replies/{draft}/what-if",
        "/drafts",
        f"/drafts/{draft}",
        f"/mails/{mail}",
        "/jump",
        "/jump?q=export",
        "/people",
        "/people?q=nobody",
        f"/people/{person}",
        f"/people/{person}/history?key=plan",
        f"/people/{person}/as-of?day=2026-01-05",
        f"/people/{person}/restore?day=2026-01-05",
        f"/people/{person}/data",
        f"/people/{person}/timeline",
        f"/people/{person}/connections",
        f"/people/{person}/connections?other=bo@granite.example",
        "/knowledge",
        "/knowledge?q=export",
        "/knowledge/unanswered",
        "/knowledge/try?q=export",
        f"/knowledge/{document}",
        "/settings/change/office_hours",
        "/settings/history",
        "/settings",
        "/restores",
        f"/restores/{restore.restore_id}",
        "/first-steps",
        "/quality",
        "/memory",
        "/incidents",
        f"/incidents/{incident}",
        "/outreach",
        "/investigations",
        case,
        f"{case}/diff",
        f"{case}/rounds/1",
        f"{case}/file?path=memory/facts.md",
        "/pipeline",
        f"/pipeline/replay?named={HOSTILE}",
        f"/pipeline/events?q={threads[0]['thread_id']}",
        "/deliveries",
        "/deliveries?state=suppressed",
        "/webhooks",
        f"/webhooks/{endpoint}",
        "/users",
        "/users/audit",
        "/kit",
        "/me",
        "/nowhere",
    ]


async def test_a_page_was_looked_at_by_nobody(app: Tended) -> None:
    """Every page that the console's routes have is in the lists that axe looks at: a new one cannot be forgotten."""
    assert never_opened(app.app, [*await pages_of(app), *BEFORE]) == set()
    assert {"/me", "/incidents/{incident_id}"} < never_opened(app.app, ["/incidents", *BEFORE])


async def test_axe_finds_nothing_on_any_page_in_either_theme_or_narrow(app: Tended, window: Window) -> None:
    """No finding of any level, with everything that folds unfolded; no page is wider than a telephone, no target too small."""
    pages = await pages_of(app)

    def look(place: str) -> list[str]:
        found = []
        for page in pages:
            window.go(f"{place}/console{page}")
            window.driver.execute_script("document.querySelectorAll('main details').forEach((one) => one.open = true)")
            for theme, width in WAYS:
                window.look(theme=theme, width=width)
                found += [f"{page} {theme} {width}: {one}" for one in window.barriers()]
                found += [f"{page} {theme} {width}: too wide: {one}" for one in window.driver.execute_script(TOO_WIDE)]
                found += [f"{page} {theme} {width}: too small: {one}" for one in window.too_small()]
        return found

    async with served_here(app.app) as place:
        await asyncio.to_thread(window.sign_in, await link_for(app.app, place))
        found = await asyncio.to_thread(look, place)
    assert found == []


async def test_axe_finds_nothing_on_the_pages_before_signing_in(app: Tended, window: Window) -> None:
    """The door, a link that invites, and one that was used."""

    def look(*addresses: str) -> list[str]:
        found = []
        for theme, width in WAYS:
            window.look(theme=theme, width=width)
            for address in addresses:
                window.driver.get(address)
                found += [f"{address} {theme} {width}: {one}" for one in window.barriers()]
        return found

    async with served_here(app.app) as place:
        assert await asyncio.to_thread(look, *(f"{place}/console{one}" for one in BEFORE)) == []


async def test_every_single_key_does_what_the_list_of_keys_says(app: Tended, window: Window) -> None:
    """By keys alone: rows, choosing, resolving, assigning, the list itself; switched off, none does anything."""
    from selenium.webdriver.common.keys import Keys

    def row() -> str:
        return str(window.driver.switch_to.active_element.text)

    def in_the_inbox() -> None:
        window.until(lambda _: window.has("a.row"))
        window.type("j")
        first = row()
        window.type("j")
        assert row() != first
        window.type("k")
        assert row() == first
        window.type("x")
        assert window.has(".choose input:checked")
        window.type("x")
        assert not window.has(".choose input:checked")
        window.type("a")
        assert window.focused() == "bulk-assignee"
        assert window.has(".choose input:checked"), "an act is about the row that has the focus"
        window.driver.execute_script("document.querySelector('a.row').focus()")
        window.type("e")
        assert window.focused() == "resolve"
        window.driver.execute_script("document.activeElement.blur()")
        window.type("/")
        assert window.focused() == "q"
        window.type("jk?")
        assert window.find("#q").get_attribute("value").endswith("jk?"), "what is typed into a field is no key"

    def the_list_of_keys() -> None:
        window.driver.execute_script("document.activeElement.blur()")
        window.type("?")
        assert window.find("#help").is_displayed()
        window.find("#keys-on").click()
        window.type(Keys.ESCAPE)
        window.until(lambda _: not window.find("#help").is_displayed())
        window.driver.execute_script("document.activeElement.blur()")
        window.type("?")
        assert not window.find("#help").is_displayed(), "keys were switched off"
        window.driver.execute_script("localStorage.setItem('keys', 'on')")

    async with served_here(app.app) as place:
        await asyncio.to_thread(window.sign_in, await link_for(app.app, place))
        await asyncio.to_thread(in_the_inbox)
        await asyncio.to_thread(the_list_of_keys)


async def test_a_chosen_key_does_what_the_one_before_did(app: Tended, window: Window) -> None:
    """A key that was chosen works, the one that it replaces does nothing, and the list says so; names and keys in any script."""

    def choose(place: str) -> list[str]:
        window.go(f"{place}/console/me")
        for act, key in (("next", "ž"), ("previous", "")):
            field = window.find(f"#key-{act}")
            field.clear()
            field.send_keys(key)
        window.find("[action$='/me/keys'] button:not([name])").click()
        window.until(lambda _: "These are your keys" in window.text("main"))
        window.go(f"{place}/console/inbox?view=all")
        window.until(lambda _: window.has("a.row"))
        window.type("j", "k")
        assert not window.driver.execute_script("return document.activeElement.matches('a.row')")
        window.press("ž")
        assert window.driver.execute_script("return document.activeElement.matches('a.row')")
        window.driver.execute_script("document.activeElement.blur()")
        window.type("?")
        assert "ž\nnext row\nnone\nprevious row" in window.text("#help .keys")
        return window.said()

    async with served_here(app.app) as place:
        await asyncio.to_thread(window.sign_in, await link_for(app.app, place, "Žofie Ångström 李"))
        assert await asyncio.to_thread(choose, place) == []


async def test_ctrl_k_jumps_from_any_page_by_a_few_letters(app: Tended, window: Window) -> None:
    """From within a field too: letters, arrows, Enter; names that mean harm run nothing, and axe finds nothing."""
    from selenium.webdriver.common.keys import Keys

    def jump(letters: str, *keys: str) -> None:
        window.type(Keys.CONTROL + "k" + Keys.NULL)
        window.until(lambda _: window.focused() == "jump-q")
        window.type(letters)
        window.until(lambda _: "export" in window.text("#jump-hits").casefold())
        window.type(*keys)

    def anywhere(place: str) -> list[str]:
        window.go(f"{place}/console/pipeline/events")
        window.find("#q").send_keys("half a word")
        jump("exp")
        assert HOSTILE in window.text("#jump-hits")
        found = window.barriers()
        window.type(Keys.ARROW_DOWN)
        assert window.focused() == ""
        window.type(Keys.ARROW_UP)
        assert window.focused() == "jump-q"
        window.type(Keys.ESCAPE)
        window.until(lambda _: not window.find("#jump").is_displayed())
        assert window.focused() == "q", "closed, the focus is back where it was"
        jump("exp", Keys.ENTER)
        window.until(lambda driver: "/threads/" in driver.current_url)
        assert HOSTILE in window.text("h1")
        return [*found, *window.said()]

    async with served_here(app.app) as place:
        await asyncio.to_thread(window.sign_in, await link_for(app.app, place))
        assert await asyncio.to_thread(anywhere, place) == []


async def test_an_at_in_a_note_suggests_whom_to_ask(app: Tended, window: Window) -> None:
    """By keys alone, announced, never over what is no name; names that mean harm run nothing, and axe finds nothing."""
    from selenium.webdriver.common.keys import Keys

    (thread,) = await app.rows("SELECT thread_id FROM threads WHERE subject = 'Sign-in'")
    for name in ("Nadia Lovelace", "Nathan", HOSTILE, "Olga Nabokov"):
        await a_user(app.app, name, "agent")

    def shown() -> list[str]:
        return [one.text for one in window.driver.find_elements("css selector", "#note-names:not([hidden]) li")]

    def written() -> str:
        return str(window.find("#note").get_attribute("value"))

    def chosen() -> str:
        return window.text(f"#{window.find('#note').get_attribute('aria-activedescendant')}")

    def write(place: str) -> list[str]:
        window.go(f"{place}/console/threads/{thread['thread_id']}")
        window.find("#note").send_keys("Please look, @na")
        window.until(lambda _: shown() == ["Nadia Lovelace", "Nathan", "Olga Nabokov"])
        assert "Colleagues" in window.find("#announce").get_attribute("textContent")
        assert chosen() == "Nadia Lovelace"
        found = []
        for theme, width in WAYS:
            window.look(theme=theme, width=width)
            found += [*window.barriers(), *window.driver.execute_script(TOO_WIDE)]
        window.type(Keys.ARROW_DOWN)
        assert chosen() == "Nathan"
        window.type(Keys.ARROW_UP, Keys.ARROW_UP)
        assert chosen() == "Olga Nabokov"
        window.type(Keys.ENTER)
        assert (written(), shown(), window.focused()) == ("Please look, @Olga Nabokov ", [], "note")
        window.type("or @nadia lo", Keys.TAB)
        assert written() == "Please look, @Olga Nabokov or @Nadia Lovelace "
        window.type("or @na", Keys.ESCAPE)
        assert shown() == []
        window.type(Keys.ENTER, "a@na", Keys.ENTER, "@<img")
        assert shown() == [HOSTILE]
        window.find("#note-names li").click()
        assert written().endswith(f"or @na\na@na\n@{HOSTILE} ")
        window.find("[action$='/notes'] button").click()
        window.until(lambda _: "asks Olga Nabokov, Nadia Lovelace" in window.text("#notes"))
        assert not window.find("#note").get_attribute("value")
        window.find("#note").send_keys("@nath")
        window.until(lambda _: shown() == ["Nathan"])
        return found + window.said()

    async with served_here(app.app) as place:
        await asyncio.to_thread(window.sign_in, await link_for(app.app, place))
        assert await asyncio.to_thread(write, place) == []
    (note,) = await app.rows("SELECT mentions FROM thread_notes")
    assert note["mentions"] == ["Olga Nabokov", "Nadia Lovelace", HOSTILE]


async def test_two_people_in_one_thread_see_each_other_write(app: Tended, window: Window) -> None:
    """As one types, the other is told who does; who only looks is not announced."""
    (thread,) = await app.rows("SELECT thread_id FROM threads WHERE subject = 'Sign-in'")

    def both(place: str, ann: str, grace: str) -> None:
        with chromium() as driver:
            other = Window(driver)
            other.sign_in(ann)
            window.sign_in(grace)
            for one in (window, other):
                one.go(f"{place}/console/threads/{thread['thread_id']}")
                one.driver.execute_script("document.getElementById('write').open = true")
            assert not window.find("#writing").is_displayed()
            other.find("#reply-text").send_keys("We are on it.")
            window.until(lambda _: "Ann is writing" in window.text("#writing"))
            assert not other.find("#writing").is_displayed()

    async with served_here(app.app) as place:
        links = [await link_for(app.app, place, name) for name in ("Ann", "Grace")]
        await asyncio.to_thread(both, place, *links)


async def test_why_a_form_was_refused_was_not_said(app: Tended, window: Window) -> None:
    """What stands first on the page is not why: of a team whose name is taken, the reason is said, and the name stays."""

    def refuse(place: str) -> None:
        window.go(f"{place}/console/teams")
        window.find("#team-name").send_keys("Grace")
        window.find("form.stack button.primary").click()
        window.until(lambda _: window.has("#problem"))
        assert "This name is taken" in window.text("#problem")
        assert window.find("#team-name").get_attribute("value") == "Grace"

    async with served_here(app.app) as place:
        await asyncio.to_thread(window.sign_in, await link_for(app.app, place))
        await asyncio.to_thread(refuse, place)


async def test_a_canned_answer_lost_the_files_that_were_chosen(app: Tended, window: Window, tmp_path: Path) -> None:
    """Added to an answer it keeps words and files: the answer that is sent has both."""
    (thread,) = await app.rows("SELECT thread_id FROM threads WHERE subject = 'Sign-in'")
    file = tmp_path / "plan.txt"
    file.write_text("Step one.")

    def write(place: str) -> Any:
        window.go(f"{place}/console/threads/{thread['thread_id']}")
        window.driver.execute_script("document.getElementById('write').open = true")
        window.find("#reply-files").send_keys(str(file))
        window.find("#reply-text").send_keys("Hello.")
        window.find("[formaction$='/compose']").click()
        window.until(lambda _: "Thank you" in window.find("#reply-text").get_attribute("value"))
        assert window.find("#reply-text").get_attribute("value").startswith("Hello.")
        window.find("#reply-form .primary").click()
        window.until(lambda _: "on its way" in window.text("#main"))

    async with served_here(app.app) as place:
        await asyncio.to_thread(window.sign_in, await link_for(app.app, place))
        await asyncio.to_thread(write, place)
    (event,) = await app.rows("SELECT data FROM events WHERE type = 'thread.reply_accepted.v1'")
    assert [one["filename"] for one in event["data"]["files"]] == ["plan.txt"]


async def test_what_was_typed_was_lost_when_what_is_newer_was_shown(app: Tended, window: Window) -> None:
    """A page that is shown again, or that another form of it answers with, keeps the words of an answer in it."""
    (thread,) = await app.rows("SELECT thread_id FROM threads WHERE subject = 'Sign-in'")

    def begin(place: str) -> None:
        window.go(f"{place}/console/threads/{thread['thread_id']}")
        window.driver.execute_script("document.getElementById('write').open = true")
        window.find("#reply-text").send_keys("Hello.")

    def look() -> list[str]:
        window.until(lambda _: window.find("#newer").is_displayed())
        found = window.barriers()
        window.find("#newer a").click()
        window.until(lambda _: "by telephone" in window.text("#notes"))
        assert window.find("#reply-text").get_attribute("value") == "Hello."
        window.find("#note").send_keys("Bo is in a hurry.")
        window.driver.execute_script("document.querySelector('[action$=\"/notes\"] button').click()")
        window.until(lambda _: "in a hurry" in window.text("#notes article:last-of-type"))
        assert window.find("#note").get_attribute("value") == ""
        assert window.find("#reply-text").get_attribute("value") == "Hello."
        return found

    async with served_here(app.app) as place:
        await asyncio.to_thread(window.sign_in, await link_for(app.app, place))
        await asyncio.to_thread(begin, place)
        await mark(app.app, thread["thread_id"], timeout_s=PATIENCE_S, note="Settled by telephone.", by="Ann")
        assert await asyncio.to_thread(look) == []


class Held:
    """A model that answers nothing until it is let go; then it drafts."""

    name = "held"

    def __init__(self) -> None:
        self.let_go = asyncio.Event()

    async def ask(self, request: Request) -> Answer:
        """A draft, once it is let go."""
        if request.purpose != "reply":
            return Answer("Not now.", (), "refusal", self.name)
        await self.let_go.wait()
        said = {"text": f"We look into it. {HOSTILE}", "state": "awaiting_reply"}
        return Answer("", (ToolCall("1", "reply", said),), "tool_use", self.name)

    async def close(self) -> None:
        """Nothing is open."""


async def test_words_typed_while_the_agent_writes_stay(
    stack: Endpoints, database: str, topic_prefix: str, tmp_path: Path, window: Window
) -> None:
    """The draft appears by itself below what was typed meanwhile, harms nothing, and joins it when its button says so."""
    model = Held()

    def begin(place: str, thread_id: UUID) -> None:
        window.go(f"{place}/console/threads/{thread_id}")
        window.until(lambda _: window.find("#reply-text").is_displayed())
        window.find("#reply-text").send_keys("Hello.")
        window.find("#ask-draft").click()
        window.until(lambda _: window.has("#suggestion[data-state=writing]"))
        window.find("#reply-text").send_keys(" More.")

    def finish() -> list[str]:
        window.until(lambda _: window.has("#suggestion[data-state=ready]"))
        assert window.find("#reply-text").get_attribute("value") == "Hello. More."
        assert HOSTILE in window.text("#suggestion")
        assert "What the agent would answer" in window.find("#announce").get_attribute("textContent")
        found = []
        for theme, width in WAYS:
            window.look(theme=theme, width=width)
            found += [*window.barriers(), *window.driver.execute_script(TOO_WIDE)]
        window.find("#take-below").click()
        window.until(lambda _: "We look" in window.find("#reply-text").get_attribute("value"))
        assert window.find("#reply-text").get_attribute("value") == f"Hello. More.\n\nWe look into it. {HOSTILE}"
        assert not window.has("#suggestion")
        return found + window.said()

    async with tending(stack, database, topic_prefix, tmp_path, model_object=model) as app:
        thread_id = await app.write("human\n\nThe export stops.")
        async with app.at_work(), served_here(app.app) as place:
            await asyncio.to_thread(window.sign_in, await link_for(app.app, place, role="agent"))
            await asyncio.to_thread(begin, place, thread_id)
            model.let_go.set()
            assert await asyncio.to_thread(finish) == []
