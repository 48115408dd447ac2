"""What came to pass with a person, by months: theirs alone, page by page, on the page and over the API."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from deploy.local import Endpoints
from services.core.clock import random_id
from services.core.web import make_app
from services.operations.memory.timeline import timeline
from services.web.routes import routes
from tests.support.console import signed_in, text_of
from tests.support.plans import bound_statements, plan_of, scans_of
from tests.support.remembering import ADA, fact
from tests.support.tending import Tended, tending

BO, EVE = "bo@granite.example", "eve@open.example"
HOSTILE = "<script>alert(1)</script>"
INBOXES = [
    {"name": "support", "address": "support@ourcompany.example", "vouched_by": "the test"},
    {"name": "open", "address": "open@ourcompany.example"},
]


@pytest.fixture
async def app(stack: Endpoints, database: str, topic_prefix: str, tmp_path: Path) -> AsyncIterator[Tended]:
    """Two people, one of whom changed plans after three months, and somebody who only claims to be her."""
    said = {"web": {"api_token": "t"}, "inboxes": INBOXES}
    async with tending(stack, database, topic_prefix, tmp_path, **said) as one:
        await one.write("We are on the Enterprise plan.", subject=f"Plan {HOSTILE}")
        (mail,) = await one.rows("SELECT * FROM mails")
        await one.learn(mail, fact("plan", "Enterprise", "on the Enterprise plan"))
        await one.write("We have 40 seats at Granite.", sender=BO, subject="Secret of Bo")
        await one.wait(days=95)
        await one.write("We are on the Team plan now.", subject="New plan")
        (newer,) = await one.rows("SELECT * FROM mails WHERE subject = 'New plan'")
        await one.learn(newer, fact("plan", "Team", "on the Team plan"))
        await one.write("I am Ada, believe me.", subject="Not Ada", inbox=1)
        yield one


def api(app: Tended) -> httpx.AsyncClient:
    """A client of the API."""
    transport = httpx.ASGITransport(make_app([routes(app.app)]), raise_app_exceptions=False)
    return httpx.AsyncClient(transport=transport, base_url="http://deployment", headers={"authorization": "Bearer t"})


async def test_what_is_theirs_is_told_by_months(app: Tended) -> None:
    """Facts that began and ended, mails, replies; nothing of somebody else, and nothing that nobody proves."""
    async with signed_in(app.app, role="viewer") as vic:
        page = await vic.get(f"/console/people/{app.person()}/timeline")
        person = await vic.get(f"/console/people/{app.person()}")
    said = text_of(page)
    assert page.text.count('id="month-') == 2
    assert said.index("New plan") < said.index("Plan <script>")
    assert "Fact ended" in said
    assert "Our reply" in said
    assert "Secret of Bo" not in said
    assert "Not Ada" not in said
    assert "<script>alert" not in page.text
    assert f"/people/{app.person()}/timeline" in person.text


async def test_pages_follow_each_other_and_miss_nothing(app: Tended) -> None:
    """Two at a time are the same as all at once, also where several came to pass at one moment."""
    async with api(app) as client:
        place = f"/api/participants/{ADA}/timeline"
        whole = (await client.get(place, params={"limit": 500})).json()
        walked: list[Any] = []
        answer = await client.get(place, params={"limit": 2})
        while True:
            walked += answer.json()
            if "next" not in answer.links:
                break
            answer = await client.get(answer.links["next"]["url"])
        refused = await client.get(place, params={"after": "WyJ4Il0"})
    assert walked == whole
    assert len(whole) > 6
    assert whole == sorted(whole, key=lambda one: (one["at"], one["what"], one["id"]), reverse=True)
    assert refused.status_code == 400


async def test_somebody_new_is_told_so(app: Tended) -> None:
    """Whoever nothing is proven of has an empty page with words, and whom nobody knows is no page."""
    (row,) = await app.rows("SELECT participant_id FROM participants WHERE addr = %(addr)s", addr=BO)
    async with app.app.database.reading() as conn:
        await conn.execute("DELETE FROM facts WHERE participant_id = %(id)s", {"id": row["participant_id"]})
        await conn.execute(
            "UPDATE mails SET trusted = false WHERE participant_id = %(id)s", {"id": row["participant_id"]}
        )
        await conn.execute("DELETE FROM participant_log WHERE participant_id = %(id)s", {"id": row["participant_id"]})
    async with signed_in(app.app) as grace:
        page = await grace.get(f"/console/people/{row['participant_id']}/timeline")
        nobody = await grace.get(f"/console/people/{random_id()}/timeline")
    assert "Nothing has come to pass with them yet" in text_of(page)
    assert nobody.status_code == 404


OTHERS = {  # rows of other people: what names a row of theirs, by table
    "mails": ("mail_id", "participant_id", "thread_id"),
    "threads": ("thread_id", "participant_id"),
    "deliveries": ("reply_id", "thread_id", "turn_id", "message_id"),
    "facts": ("fact_id", "participant_id"),
    "participant_log": ("participant_id",),
}
COLUMNS = """
SELECT column_name AS name FROM information_schema.columns
WHERE table_schema = 'public' AND table_name = %(table)s AND is_generated = 'NEVER' ORDER BY ordinal_position"""


async def test_no_table_is_read_whole(app: Tended) -> None:
    """Each sort of moment is found by an index, however many rows others have."""
    for table, ids in OTHERS.items():
        names = [row["name"] for row in await app.rows(COLUMNS, table=table)]
        given = [
            f"gen_random_uuid()::{'text' if name == 'message_id' else 'uuid'}" if name in ids else name
            for name in names
        ]
        rows = f"SELECT {', '.join(given)} FROM (SELECT * FROM {table} LIMIT 1) one, generate_series(1, 5000)"
        async with app.app.database.reading() as conn:
            await conn.execute(f"INSERT INTO {table} ({', '.join(names)}) {rows}")  # type: ignore[arg-type]
            await conn.execute(f"ANALYZE {table}")  # type: ignore[arg-type]
    with bound_statements() as sent:
        async with app.app.database.transaction(app.workspace) as conn:
            found = await timeline(conn, app.app, app.person(), limit=50)
    ((statement, args),) = [one for one in sent.items() if "fact_began" in one[0]]
    async with app.app.database.transaction(app.workspace) as conn:
        plan = await plan_of(conn, b"ANALYZE, ", statement, args)
    read = {one["Relation Name"]: one["Actual Rows"] + one.get("Rows Removed by Filter", 0) for one in scans_of(plan)}
    assert OTHERS.keys() <= read.keys()
    assert max(read.values()) < 100
    assert len(found) > 6
