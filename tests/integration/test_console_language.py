"""The console in other languages: by the browser, by what a user chose, and with nothing of ours left in English."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from email import message_from_bytes
from email.policy import default
from html import unescape
from pathlib import Path
from urllib.parse import quote

import httpx
import pytest

from deploy.local import Endpoints
from services.core.settings.changeable import changeable
from services.operations import users
from services.web.console.language import speak, translated
from tests.catalogues import extracted
from tests.support.beginning import after
from tests.support.console import browser, form, signed_in, text_of
from tests.support.remembering import ADA
from tests.support.tending import Tended, tending

PAGES = (
    "/inbox?view=all",
    "/inbox?q=nothing",
    "/drafts",
    "/people",
    "/knowledge",
    "/knowledge?q=export",
    "/quality",
    "/memory",
    "/incidents",
    "/outreach",
    "/pipeline",
    "/pipeline/events",
    "/deliveries",
    "/deliveries?state=unknown",
    "/settings",
    "/settings/history",
    "/settings/change/send",
    "/users",
    "/users/audit",
    "/webhooks",
    "/restores",
    "/jump?q=a",
    "/me",
    "/nowhere",
)


async def asked(one: Tended) -> None:
    """Ada asks something."""
    await one.write("The CSV export stops after 500 rows. We are on the Team plan.", sender=f"Ada Miller <{ADA}>")


@pytest.fixture
async def app(stack: Endpoints, template_database: str, topic_prefix: str, tmp_path: Path) -> AsyncIterator[Tended]:
    """A deployment with a mail whose reply waits for a person."""
    async with after(
        asked, tending, stack, template_database, topic_prefix, tmp_path, send={"approval": "review"}
    ) as one:
        yield one
    speak("en")


async def test_who_is_not_signed_in_reads_the_language_of_their_browser(app: Tended) -> None:
    """The page that asks for a password says its language, too."""
    await users.add_user(app.app, "Grace", "admin", by="", joined=True)
    async with browser(app.app) as client:
        english = await client.get("/console/sign-in")
        french = await client.get("/console/sign-in", headers={"accept-language": "fr-CA,fr;q=0.9,en;q=0.5"})
    assert '<html lang="en">' in english.text
    assert "Mail address" in text_of(english)
    assert '<html lang="fr">' in french.text
    assert "Adresse e-mail" in text_of(french)


async def test_a_user_chooses_a_language_and_takes_it_back(app: Tended) -> None:
    """It goes before that of the browser, on every page and refusal, until it is the browser's again."""
    async with signed_in(app.app) as client:
        client.headers["accept-language"] = "es"
        page = await client.get("/console/me")
        assert '<html lang="es">' in page.text
        chosen = await form(page, "/me/language").send(client, language="de")
        assert "Von jetzt an ist die Konsole in dieser Sprache." in text_of(chosen)
        assert '<html lang="de">' in (await client.get("/console/inbox")).text
        assert "Diese Seite gibt es nicht." in text_of(await client.get("/console/nowhere"))
        page = await client.get("/console/me")
        assert form(page, "/me/language").fields["language"] == "de"
        assert '<html lang="es">' in (await form(page, "/me/language").send(client, language="tlh")).text


async def test_a_user_who_was_removed_leaves_no_language(app: Tended) -> None:
    """Of somebody who was removed the name stays, and nothing else."""
    user = await users.add_user(app.app, "Lin", "agent", by="", joined=True)
    await users.add_user(app.app, "Grace", "admin", by="", joined=True)
    await users.set_language(app.app, user.user_id, "fr")
    await users.remove_user(app.app, user.user_id)
    assert await app.rows("SELECT language FROM users WHERE name = 'Lin'") == [{"language": ""}]


async def test_a_setting_was_called_by_its_name_in_the_code(app: Tended) -> None:
    """Each setting that a form has is called in words, in the reader's language; its own name is in the file alone."""
    forms: dict[str, set[str]] = {}
    for one in changeable(app.app.settings).values():
        forms.setdefault(one.section, set()).add(one.name.removeprefix(f"{one.section}.").replace("_", " "))
    async with signed_in(app.app) as client:
        client.headers["accept-language"] = "de"
        for section, names in forms.items():
            page = await client.get(f"/console/settings/change/{quote(section, safe='')}")
            labels = re.findall(r"<strong>([^<]+)</strong></label>", page.text)
            assert len(labels) == len(names)
            assert names.isdisjoint(labels), (section, labels)
        assert (
            "Niedrig: erste Antwort binnen (Stunden)"
            in (await client.get("/console/settings/change/service_levels")).text
        )


async def test_an_invitation_was_in_english_alone(app: Tended, stack: Endpoints) -> None:
    """It is in the language in which its admin has the console."""
    address = f"bob.{app.workspace}@harborline.example"
    async with signed_in(app.app) as client:
        client.headers["accept-language"] = "de"
        await form(await client.get("/console/users"), "/users").send(client, name="Bob", email=address, role="viewer")
    mails = [message_from_bytes(path.read_bytes(), policy=default) for path in stack.outbox.glob("*/*")]
    (mail,) = [one for one in mails if one["To"] == address]
    text = mail.get_body(("plain",))
    assert mail["Subject"] == "Ihre Einladung zu Correspondent"
    assert text is not None
    assert "Guten Tag Bob,\n\nGrace lädt Sie" in text.get_content().replace("\r\n", "\n")


@pytest.mark.parametrize("language", ["de", "es", "fr"])
async def test_no_page_says_a_text_of_ours_in_english(app: Tended, language: str) -> None:
    """What a page of another language shows is never a text of the catalogue that is said otherwise there."""
    (mail,) = await app.rows("SELECT mail_id, thread_id FROM mails")
    places = [*PAGES, f"/threads/{mail['thread_id']}", f"/mails/{mail['mail_id']}", f"/people/{app.person()}"]
    places += [f"/people/{app.person()}/{page}" for page in ("connections", "data", "as-of?day=2020-01-01")]
    for (draft,) in [tuple(row.values()) for row in await app.rows("SELECT reply_id FROM deliveries")]:
        places += [f"/drafts/{draft}", f"/replies/{draft}/why"]
    async with signed_in(app.app) as client:
        client.headers["accept-language"] = language
        english = _said_otherwise(language)
        left = {}
        for place in places:
            page = await client.get(f"/console{place}")
            assert page.status_code < 500, (place, text_of(page))
            assert f'<html lang="{language}">' in page.text, place
            left[place] = _texts(page) & english
    assert {place: said for place, said in left.items() if said} == {}


def _said_otherwise(language: str) -> set[str]:
    """English texts of several words that are something else in a language: one word alone may be a person's."""
    speak(language)
    ids = [one.id for one in extracted() if isinstance(one.id, str) and " " in one.id]
    found = {id for id in ids if translated(id) != id}
    speak("en")
    return found


def _texts(page: httpx.Response) -> set[str]:
    """What stands between tags, and in attributes that people read."""
    between = re.findall(r">([^<>]+)<", page.text)
    read = re.findall(r'\b(?:title|aria-label|placeholder|data-name)="([^"]+)"', page.text)
    return {" ".join(unescape(one).split()) for one in (*between, *read)}
