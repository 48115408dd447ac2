"""Two workspaces in one database: an id of the other one, in whatever place, is an id of nobody.

What is answered to it is what is answered to an id that was never given, nothing of the other workspace is in it, and
nothing there changes. Places are the application's own list of routes: one with a parameter that is not known fails.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import httpx
import pytest

from deploy.local import Endpoints
from services.operations import users
from services.operations.rebuild.projections import state_hash
from services.operations.users import teams
from services.operations.users.tokens import make_token, tokens_of
from tests.integration.test_route_guards import asked, client, served
from tests.support.console import form, signed_in
from tests.support.tending import Tended, tending

pytestmark = pytest.mark.timeout(300)
API = "a-token-that-may-do-everything"
EVENTFUL: dict[str, Any] = {
    "web": {"api_token": API},
    "send": {"approval": "review"},
    "incidents": {"customers": 1},
    "investigate": {"enabled": True},
    "outgoing_webhooks": {"private_hosts": True},
}
MALLORY, VERA = "mallory@here.example", "vera@there.example"
SECRET = "zanzibar"  # is in whatever is written there
ELSEWHERE = {  # parameters that name nothing of a workspace
    "act": "pin",
    "intent": "how_to",
    "inbox": "support",
    "name": "console.css",
    "version": "1",
    "number": "0",
    "section": "limits",
    "path": "nowhere",
    "token": "a-link",
    "format_name": "raw",
    "letter_id": str(UUID(int=7)),  # of the deployment's own topics, which are another one's elsewhere
}
BODIES: tuple[dict[str, Any], ...] = (
    {},
    {"text": "x", "note": "x", "value": "x", "key": "plan", "to": "closed", "assignee": "Ann", "is_open": False},
)
Route = tuple[str, str]


@dataclass(frozen=True)
class Both:
    """The two, and what ids there are of the other one by the names of parameters."""

    here: Tended
    there: Tended
    ids: dict[str, str]
    own: dict[str, str]


@pytest.fixture
async def both(stack: Endpoints, database: str, topic_prefix: str, tmp_path: Path) -> AsyncIterator[Both]:
    """Each has lived, and nobody is at work in the other one any more."""
    async with AsyncExitStack() as open_now:
        apps = []
        for name in ("here", "there"):
            prefix, home = f"{topic_prefix.strip('.')}-{name}.", tmp_path / name
            apps.append(await open_now.enter_async_context(tending(stack, database, prefix, home, **EVENTFUL)))
        here, there = apps
        own, ids = await lived(here, MALLORY, "harbour"), await lived(there, VERA, SECRET)
        yield Both(here, there, ids, own)


async def lived(app: Tended, sender: str, word: str) -> dict[str, str]:
    """Something of every kind that has an id."""
    thread = await app.write(f"The export of {word} fails with an error. We are on the Team plan.", sender=sender)
    await app.write(f"Where is {word}?", sender=f"second.{sender}", subject=f"About {word}")
    one = app.person(sender)
    await app.ask("add", on=0.1, key="plan", value=f"Team {word}", kind="customer_info", addr=sender)
    user = await users.add_user(app.app, f"Una {word}", "agent", by="Ann", joined=True)
    await make_token(app.app, user, "a script", ["all"])
    team = await teams.add_team(app.app, f"Team {word}", [user.name], [])
    async with client(app.app, API) as api, app.at_work():

        async def done(method: str, path: str, **body: Any) -> Any:
            answer = await api.request(method, f"/api{path}", json=body)
            assert answer.status_code < 300, (path, answer.text)
            return answer.json()

        made = (await done("POST", "/webhooks", url="http://127.0.0.1:9/hook", description=word))["endpoint"]
        webhook = await done("POST", f"/webhooks/{made['endpoint_id']}/test")
        suggestion = await done("POST", f"/threads/{thread}/suggestions")
        case = await done("POST", f"/threads/{thread}/investigations", question=f"Why does {word} fail?")
        restore = await done("POST", "/restores", at=app.clock().isoformat())
        body = f"# About {word}\n\nAll about {word}.".encode()
        headers = {"content-type": "text/markdown"}
        put = await api.put("/api/documents", params={"origin": f"{word}.md"}, content=body, headers=headers)
        assert put.status_code < 300, put.text
    await app.settle()
    ids = {
        "thread_id": thread,
        "who": one,
        "into": app.person(f"second.{sender}"),
        "user_id": user.user_id,
        "team_id": team.team_id,
        "token_id": (await tokens_of(app.app, user))[0].token_id,
        "endpoint_id": made["endpoint_id"],
        "webhook_id": webhook["webhook_id"],
        "suggestion_id": suggestion["suggestion_id"],
        "investigation_id": case["investigation"]["investigation_id"],
        "restore_id": restore["restore_id"],
        "proposal_id": uuid4(),
        "document_id": put.json()["document_id"],
    }
    for name, table in (
        ("mail_id", "mails"),
        ("reply_id", "deliveries"),
        ("fact_id", "facts"),
        ("incident_id", "incidents"),
    ):
        rows = await app.rows(f"SELECT {name} AS id FROM {table} WHERE workspace = %(w)s ORDER BY 1", w=app.workspace)
        assert rows, name
        ids[name] = rows[0]["id"]
    return {name: str(one) for name, one in ids.items()} | ELSEWHERE


async def test_a_path_with_an_id_of_another_workspace_leads_to_nobody(both: Both) -> None:
    """Pages, forms and the API answer as to an id that was never given, and nothing of the other workspace changes."""
    before = await state(both.there)
    async with signed_in(both.here.app, "Ann") as admin, client(both.here.app, API) as api, both.here.at_work():
        token = form(await admin.get("/console/inbox"), "/sign-out").fields["form_token"]
        admin.follow_redirects = False
        tried = 0
        for method, path in asked(served(both.here.app)):
            if "{" not in path or not path.startswith(("/api/", "/console/")):
                continue
            for body in BODIES if method != "GET" else BODIES[:1]:
                sent: dict[str, Any] = {"json": body} if path.startswith("/api/") else {}
                if path.startswith("/console/") and method == "POST":
                    sent = {"data": {**{name: str(one) for name, one in body.items()}, "form_token": token}}
                for filled, never in places(path, both):
                    asker = api if path.startswith("/api/") else admin
                    answers = [await asker.request(method, one, **sent) for one in (filled, never)]
                    assert told(answers[0], both) == told(answers[1], both), (method, filled)
                    assert "pending" not in f"{answers[0].text}{answers[0].headers}", (method, filled)
                    assert_nothing_of(both, answers[0], filled)
                    tried += 1
    assert tried > 200
    assert await state(both.there) == before


def places(path: str, both: Both) -> list[tuple[str, str]]:
    """The path with ids of the other workspace, and with its last one after own ones; each beside one with ids of nobody."""
    names = re.findall(r"\{(\w+)(?::path)?\}", path)
    assert set(names) <= both.ids.keys(), f"{path}: say in this test what its parameters name"
    foreign = [name for name in names if name not in ELSEWHERE]
    found = []
    for kept in ([], foreign[:-1]) if len(foreign) > 1 else ([],):
        taken = {name: (both.own if name in kept else both.ids)[name] for name in names}
        nobody = {name: taken[name] if name in kept or name in ELSEWHERE else str(uuid4()) for name in names}
        found.append(tuple(re.sub(r"\{(\w+)(?::path)?\}", lambda m, by=by: by[m[1]], path) for by in (taken, nobody)))
    return found


def told(answer: httpx.Response, both: Both) -> tuple[int, str, str]:
    """Status, place and words, ids and numbers apart."""
    apart = [
        re.sub(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|\d+", "_", one)
        for one in (answer.text, answer.headers.get("location", ""))
    ]
    return answer.status_code, apart[1], apart[0]


def assert_nothing_of(both: Both, answer: httpx.Response, where: str) -> None:
    assert SECRET not in answer.text.casefold(), where
    assert VERA not in answer.text, where


async def state(app: Tended) -> Any:
    """All that is kept there."""
    async with app.app.database.transaction(app.workspace) as conn:
        (row,) = await rows(conn, "SELECT count(*) AS n, max(seq) AS newest FROM events")
        return row, await state_hash(conn)


async def rows(conn: Any, statement: str) -> Any:
    return await (await conn.execute(statement)).fetchall()


async def test_a_field_with_an_id_of_another_workspace_does_nothing_there(both: Both) -> None:
    """Wherever a form, a body or an address names a thing beside its path."""
    before, ids, own = await state(both.there), both.ids, both.own
    thread, who = own["thread_id"], own["who"]
    api_calls: list[tuple[str, str, dict[str, Any]]] = [
        ("POST", f"/participants/{who}/facts", {"key": "size", "value": "9", "parents": [ids["fact_id"]]}),
        ("POST", f"/participants/{who}/merge", {"into": ids["who"]}),
        ("POST", f"/participants/{who}/merge", {"into": VERA}),
        (
            "POST",
            f"/threads/{thread}/replies",
            {"id": "one", "text": "x", "thread_version": 1, "mail_id": ids["mail_id"]},
        ),
        ("POST", "/articles", {"thread_id": ids["thread_id"], "reply_id": ids["reply_id"]}),
        ("POST", "/articles", {"thread_id": thread, "reply_id": ids["reply_id"]}),
        ("GET", f"/investigations?thread={ids['thread_id']}", {}),
        *(("GET", f"/events?q={ids[name]}", {}) for name in ("thread_id", "who", "mail_id", "reply_id")),
        ("GET", f"/events?q={VERA}", {}),
        *(("GET", f"{path}?q={SECRET}", {}) for path in ("/facts/search", "/said/search", "/documents/search")),
        ("GET", f"/participants?q={SECRET}", {}),
        ("GET", f"/inbox?q={SECRET}", {}),
    ]
    chosen = f"thread {ids['thread_id']}"
    forms = [
        ("/inbox/threads", {"act": "resolve", chosen: "on"}),
        ("/inbox/threads", {"act": "assign", "assignee": "Ann", chosen: "on"}),
        ("/inbox/threads", {"act": "snooze", "until": "7d", chosen: "on"}),
        (f"/people/{who}/merge", {"into": ids["who"]}),
        (f"/people/{who}/merge", {"into": VERA}),
        ("/knowledge/unanswered/propose", {"thread_id": ids["thread_id"], "reply_id": ids["reply_id"]}),
        (f"/threads/{thread}/reply", {"suggestion": ids["suggestion_id"], "text": "x", "thread_version": "1"}),
    ]
    async with signed_in(both.here.app, "Ann") as admin, client(both.here.app, API) as api, both.here.at_work():
        token = form(await admin.get("/console/inbox"), "/sign-out").fields["form_token"]
        for method, path, body in api_calls:
            answer = await api.request(method, f"/api{path}", json=body or None)
            assert SECRET not in answer.text.casefold().replace(path, ""), path
            assert method == "GET" or answer.status_code >= 400 or path == "/articles", (path, answer.text)
        for path, fields in forms:
            answer = await admin.post(f"/console{path}", data={**fields, "form_token": token})
            assert SECRET not in answer.text.casefold(), path
    assert await state(both.there) == before


async def test_no_list_or_search_holds_a_word_of_another_workspace(both: Both) -> None:
    """Every page and list without a parameter, searched for the other one's words where it searches."""
    async with signed_in(both.here.app, "Ann") as admin, client(both.here.app, API) as api:
        for method, path in asked(served(both.here.app)):
            if method != "GET" or "{" in path or path == "/console/live":
                continue
            asker = api if path.startswith("/api/") else admin
            for query in ({}, {"q": "export fails"}, {"view": "all"}):
                answer = await asker.get(path, params=query)
                assert_nothing_of(both, answer, path)
