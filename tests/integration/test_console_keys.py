"""Single keys that each user of the console chooses: kept, listed, refused in words where two acts would have one."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest
from lxml import html

from deploy.local import Endpoints
from services.core.app import App, open_app
from services.operations import users
from services.operations.users.keys import DEFAULTS, KeyRefused, keys_of, set_keys
from services.web.console.keys import ACTS
from tests.support.app import settings_for
from tests.support.console import a_user, form, signed_in, text_of


@pytest.fixture
async def app(stack: Endpoints, database: str, topic_prefix: str, tmp_path: Path) -> AsyncIterator[App]:
    async with open_app(settings_for(stack, database, topic_prefix, tmp_path)) as one:
        yield one


def of_browser(page: httpx.Response) -> dict[str, str]:
    """What each key does, as a page tells the browser."""
    (body,) = html.fromstring(page.text).xpath("//body")
    found: dict[str, str] = json.loads(body.get("data-keys"))
    return found


def listed(page: httpx.Response) -> dict[str, str]:
    """The list of keys: what each act is called, with its key."""
    lines = html.fromstring(page.text).xpath("//dialog[@id='help']//dl/div")
    return {one.find("dd").text_content().strip(): one.find("dt").text_content().strip() for one in lines}


async def test_keys_are_chosen_kept_and_given_back(app: App) -> None:
    """The list of keys and the browser go by what the user chose, another's by their own; the first ones come back."""
    async with signed_in(app, "Vic", role="viewer") as vic, signed_in(app) as grace:
        page = await vic.get("/console/me")
        assert of_browser(page) == {key: act for act, key in DEFAULTS.items()}
        changed = {"key next": "n", "key note": "j", "key write": ""}
        kept = await form(page, "/me/keys").send(vic, **changed)
        assert "These are your keys from now on" in text_of(kept)
        assert form(kept, "/me/keys").fields["key next"] == "n"
        later = await vic.get("/console/inbox")
        assert of_browser(later) == {
            key: act for act, key in {**DEFAULTS, "next": "n", "note": "j", "write": ""}.items() if key
        }
        assert listed(later)[str(ACTS["next"])] == "n"
        assert listed(later)[str(ACTS["write"])] == "none"
        assert of_browser(await grace.get("/console/inbox"))["j"] == "next"
        back = await form(await vic.get("/console/me"), "/me/keys").send(vic, reset="1")
        assert of_browser(back) == {key: act for act, key in DEFAULTS.items()}


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"key next": "k"}, "“k” cannot do both: “next row” and “previous row”"),
        ({"key next": "jj"}, "“jj” is no single key, for “next row”"),
        ({"key help": "\u200b"}, "is no single key, for “this list”"),
        ({"key help": "<script>alert(1)</script>"}, "“<script>alert(1)</sc” is no single key"),
        ({"key help": "\x7f"}, "is no single key"),
    ],
)
async def test_what_is_no_key_or_two_acts_have_is_refused_in_words(
    app: App, changed: dict[str, str], said: str
) -> None:
    """Nothing is stored, and what was typed stays in its field."""
    async with signed_in(app) as grace:
        page = await grace.get("/console/me")
        refused = await form(page, "/me/keys").send(grace, **changed)
        assert (refused.status_code, said in text_of(refused)) == (422, True), text_of(refused)
        assert "<script>alert" not in refused.text
        (name, typed), *_ = changed.items()
        assert form(refused, "/me/keys").fields[name] == typed
        assert of_browser(await grace.get("/console/inbox"))["j"] == "next"
        assert (await grace.post("/console/me/keys", data={"key next": "m"})).status_code == 403


async def test_a_chosen_key_wins_over_a_default_of_another_act(app: App) -> None:
    """An act that a later release brings, or one that a row names and no release has any more, breaks no page."""
    user = await a_user(app)
    async with app.database.reading() as conn:
        await conn.execute('UPDATE users SET keys = \'{"next": "r", "fly": "f"}\'')
    found = keys_of(await users.user_of(app, user.user_id))
    assert (found["next"], found["newer"]) == ("r", "")
    assert "fly" not in found
    assert len([key for key in found.values() if key]) == len({key for key in found.values() if key})


async def test_who_was_removed_has_no_keys(app: App) -> None:
    """They go with the other choices."""
    await a_user(app)
    other = await a_user(app, "Bob", "agent")
    await set_keys(app, other, {**DEFAULTS, "next": "m"})
    with pytest.raises(KeyRefused):
        await set_keys(app, other, {**DEFAULTS, "next": "k"})
    await users.remove_user(app, other.user_id)
    async with app.database.reading() as conn:
        found = await (await conn.execute("SELECT keys FROM users WHERE name = 'Bob'")).fetchall()
    assert [row["keys"] if isinstance(row, dict) else row[0] for row in found] == [{}]
