"""Teams: whose queue holds what, on pages and over HTTP alike; names that nobody else has; notes that ask all of a team."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from uuid import UUID

import httpx
import pytest

from deploy.local import Endpoints
from services.core.web import make_app
from services.operations import users
from services.operations.threads import inbox
from services.operations.users import UserRefused, teams
from services.operations.users.audit import entries
from services.operations.users.teams import TeamRefused, add_team
from services.web.routes import routes
from tests.support.beginning import after
from tests.support.console import a_user, form, signed_in, text_of
from tests.support.tending import Tended, tending

TOKEN = "a token for tests"
HOSTILE = "<img src=x onerror=alert(1)>"
INBOXES = [
    {"name": "support", "address": "support@harborline.example"},
    {"name": "billing", "address": "billing@harborline.example"},
]
CHANGES = {"send": {"approval": "review"}, "web": {"api_token": TOKEN}, "inboxes": INBOXES}


async def three(one: Tended) -> None:
    """A thread of support, then two of billing; a draft waits in each."""
    await one.write("The export stops.", subject="Export")
    await one.write("My invoice is late.", subject="Invoice", inbox=1)
    await one.write("I want a refund.", subject="Refund", inbox=1)


@pytest.fixture
async def app(stack: Endpoints, template_database: str, topic_prefix: str, tmp_path: Path) -> AsyncIterator[Tended]:
    """A deployment with two inboxes and three threads, two agents, and a team of billing."""
    async with after(three, tending, stack, template_database, topic_prefix, tmp_path, **CHANGES) as one:
        for name in ("Ann", "Bo"):
            await a_user(one.app, name, "agent")
        await add_team(one.app, "Billing", ["Ann", "Bo"], ["billing"])
        async with one.at_work():
            yield one


def api(app: Tended, token: str = TOKEN) -> httpx.AsyncClient:
    transport = httpx.ASGITransport(make_app([routes(app.app)]), raise_app_exceptions=False)
    headers = {"authorization": f"Bearer {token}"}
    return httpx.AsyncClient(transport=transport, base_url="http://deployment", headers=headers)


async def queue(app: Tended, team: str = "Billing") -> list[str]:
    """The subjects of a team's queue, a thread a page."""
    found, after_this = [], ""
    whose = await teams.team_named(app.app, team)
    while True:
        async with app.app.database.reading() as conn:
            page = await inbox.inbox(conn, app.workspace, "team", team=whose, limit=1, after=after_this)
        found += [one.subject for one in page]
        if not (after_this := page.next):
            return found


async def assign(app: Tended, subject: str, assignee: str, **more: object) -> UUID:
    (row,) = await app.rows("SELECT thread_id FROM threads WHERE subject = %(subject)s", subject=subject)
    async with api(app) as client:
        said = {"assignee": assignee, "by": "Ann"} | more
        answer = await client.put(f"/api/threads/{row['thread_id']}/assignee", json=said)
        assert answer.status_code == 200, answer.text
    found: UUID = row["thread_id"]
    return found


async def test_a_queue_is_what_the_team_has_and_what_nobody_has_of_its_inboxes(app: Tended) -> None:
    """In the order of the last change; what a member took, what is put off or done, and other inboxes' mail is not in it."""
    assert await queue(app) == ["Refund", "Invoice"]
    export = await assign(app, "Export", "Billing")
    assert await queue(app) == ["Export", "Refund", "Invoice"]
    await assign(app, "Refund", "Bo", take_over=True)
    assert await queue(app) == ["Export", "Invoice"]
    async with app.app.database.transaction() as conn:
        await conn.execute("UPDATE threads SET snoozed_until = now() WHERE subject = 'Invoice'")
    assert await queue(app) == ["Export"]
    async with api(app) as client:
        listed = (await client.get("/api/inbox", params={"view": "team", "team": "billing"})).json()
        unknown = await client.get("/api/inbox", params={"view": "team", "team": "Sales"})
        step = {"to": "resolved", "by": "Ann"}
        assert (await client.post(f"/api/threads/{export}/steps", json=step)).status_code == 200
    assert [one["thread_id"] for one in listed] == [str(export)]
    assert (unknown.status_code, unknown.json()["error"]) == (404, "team_unknown")
    assert await queue(app) == []


async def test_members_have_the_queue_as_a_view_and_anybody_assigns_to_the_team(app: Tended) -> None:
    """Who is in no team has no such view, reads it from the page of teams, and gives it a thread."""
    async with signed_in(app.app, "Ann") as ann, signed_in(app.app, "Cleo", role="agent") as cleo:
        first = await ann.get("/console/inbox")
        assert "view=team&amp;team=Billing" in first.text
        page = text_of(await ann.get("/console/inbox?view=team&team=Billing"))
        assert ("Refund" in page, "Export" in page) == (True, False)
        assert "view=team" not in (await cleo.get("/console/inbox")).text
        assert "view=team&amp;team=Billing" in (await cleo.get("/console/teams")).text
        (row,) = await app.rows("SELECT thread_id FROM threads WHERE subject = 'Export'")
        place = f"/console/threads/{row['thread_id']}"
        answer = await form(await cleo.get(place), "/assign").send(cleo, assignee="Billing")
        assert "The thread was assigned." in text_of(answer)
        assert "Billing (team)" in text_of(answer)
        assert "Export" in text_of(await ann.get("/console/inbox?view=team&team=Billing"))
        assert (await ann.get("/console/inbox?view=team&team=Nobodys")).status_code == 404
        listed = await ann.get("/console/inbox?view=team&team=Billing")
        chosen = {f"thread {row['thread_id']}": "1"}
        after_it = await form(listed, "/inbox/threads").send(ann, act="assign", assignee="Ann", **chosen)
        assert (after_it.url.params["view"], after_it.url.params["team"]) == ("team", "Billing")
        assert "Export" not in text_of(after_it)


async def test_a_note_that_names_a_team_asks_each_member(app: Tended) -> None:
    """But for whoever writes it; the event holds names of people alone, so that alerts and views know nothing of teams."""
    async with signed_in(app.app, "Ann") as ann, signed_in(app.app, "Bo") as bo:
        (row,) = await app.rows("SELECT thread_id FROM threads WHERE subject = 'Export'")
        page = await ann.get(f"/console/threads/{row['thread_id']}")
        assert "Billing" in page.text
        await form(page, "/notes").send(ann, text="@billing please look")
        assert "Export" in text_of(await bo.get("/console/inbox?view=mentioned"))
        assert "Export" not in text_of(await ann.get("/console/inbox?view=mentioned"))
    (note,) = await app.rows("SELECT mentions FROM thread_notes")
    assert note["mentions"] == ["Bo"]


async def test_a_name_is_a_persons_or_a_teams(app: Tended) -> None:
    """Whatever case it is typed in, and also once the person has left: else one would have the other's threads."""
    with pytest.raises(UserRefused, match="names a team"):
        await users.add_user(app.app, "BILLING", "agent", by="")
    bo = await users.user_named(app.app, "Bo")
    await users.remove_user(app.app, bo.user_id)
    for taken in ("ann", "Bo", "Billing", "\u202e", ""):
        with pytest.raises(TeamRefused):
            await add_team(app.app, taken, [], [])
    assert [one.members for one in await teams.list_teams(app.app)] == [["Ann"]]


async def test_an_admin_makes_changes_and_removes_a_team_on_its_page(app: Tended) -> None:
    """Under any name, which runs nothing; one that open threads are assigned to stays."""
    async with signed_in(app.app) as client:
        page = await client.get("/console/teams")
        made = await form(page, "/console/teams").send(
            client, **{"name": HOSTILE, "member Ann": "1", "inbox support": "1"}
        )
        assert "The team is there." in text_of(made)
        assert HOSTILE not in made.text
        again = await form(page, "/console/teams").send(client, name=HOSTILE.upper())
        assert (again.status_code, "This name is taken" in text_of(again)) == (422, True)
        team = await teams.team_named(app.app, HOSTILE)
        assert (team.members, team.inboxes) == (["Ann"], ["support"])
        await assign(app, "Export", HOSTILE)
        place = await client.get(f"/console/teams/{team.team_id}")
        assert HOSTILE not in place.text
        refused = await form(place, "/remove").send(client)
        assert (refused.status_code, "It has open threads" in text_of(refused)) == (409, True)
        changed = form(place, f"/teams/{team.team_id}")
        assert changed.fields == changed.fields | {"member Ann": "1", "inbox support": "1"}
        wrong = await client.post(changed.action, data=changed.fields | {"member Nobody": "1"})
        assert (wrong.status_code, "Somebody of this team was removed" in text_of(wrong)) == (422, True)
        await client.post(changed.action, data={"form_token": changed.fields["form_token"], "member Bo": "1"})
        await assign(app, "Export", "")
        assert (await teams.team_of(app.app, team.team_id)).members == ["Bo"]
        assert "The team was removed." in text_of(await form(place, "/remove").send(client))
        assert (await form(place, "/remove").send(client)).status_code == 404
    assert [one.name for one in await teams.list_teams(app.app)] == ["Billing"]


async def test_programs_change_teams_and_the_record_says_so(app: Tended) -> None:
    """Making, changing, removing; what cannot be so is refused in words, and a user's token needs the role."""
    async with api(app) as client:
        made = await client.post("/api/teams", json={"name": "Sales", "members": ["Ann"], "by": "Cleo"})
        place = f"/api/teams/{made.json()['team_id']}"
        assert (await client.put(place, json={"members": ["Bo"], "inboxes": ["support"]})).json()["members"] == ["Bo"]
        refused = [
            await client.post("/api/teams", json={"name": "sales", "members": []}),
            await client.put(place, json={"members": ["Nobody"]}),
            await client.put(place, json={"members": [], "inboxes": ["none"]}),
        ]
        assert [one.status_code for one in refused] == [409, 422, 422]
        assert [one["name"] for one in (await client.get("/api/teams")).json()] == ["Billing", "Sales"]
        people = (await client.get("/api/users")).json()
        assert [(one["name"], one["role"]) for one in people] == [("Ann", "agent"), ("Bo", "agent")]
        assert not {"password_hash", "totp_secret"} & people[0].keys()
        assert (await client.delete(place)).status_code == 204
        assert (await client.delete(place)).status_code == 404
    done = [(one.by, one.act, one.subject) for one in await entries(app.app, limit=10)]
    assert [one[:2] for one in done[:3]] == [("api", "teams remove"), ("api", "teams set"), ("Cleo", "teams add")]
    assert {one[2] for one in done[:3]} == {"Sales"}
