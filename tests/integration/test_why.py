"""Why a reply says what it says, on a terminal and over HTTP."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import httpx
import pytest

from deploy.local import Endpoints
from services.cli.why.view import whole
from services.core.app import open_keys
from services.core.archive.archive import archive_of
from services.core.archive.places import ArchiveMissing
from services.core.clock import random_id
from services.core.db import fetch_all
from services.core.web import make_app
from services.operations.archive import move
from services.operations.rebuild.shadow_schema import connected
from services.operations.threads.explanations import explain_reply, explain_thread
from services.operations.threads.listing import whole_thread
from services.web.routes import routes
from tests.support.archiver import FOREVER
from tests.support.remembering import fact
from tests.support.tending import tending


async def test_a_reply_is_explained_from_the_log(
    stack: Endpoints, database: str, topic_prefix: str, tmp_path: Path
) -> None:
    """Layer by layer: what was included with its reason and score, what shaped the reply, what was decided; else 404."""
    said = {"web": {"api_token": "t"}, "send": {"approval": "review"}}
    async with tending(stack, database, topic_prefix, tmp_path, **said) as app:
        await app.write("We are on the Enterprise plan.")
        (mail,) = await app.rows("SELECT * FROM mails")
        await app.learn(mail, fact("plan", "Enterprise", "on the Enterprise plan"))
        thread_id = await app.write("Which plan are we on?", subject="Plan")
        (reply,) = await app.rows("SELECT reply_id FROM deliveries WHERE thread_id = %(id)s", id=thread_id)
        async with app.app.database.reading() as conn:
            found = await explain_reply(conn, app.workspace, reply["reply_id"])
        shown = "\n".join(line.plain for line in whole(found))
        for part in (
            "Layer persona",
            "the same for all mails of the inbox",
            "customer_info/plan: asked for, score",
            '"Which plan are we on?": sure by',
            "approval = review  (workspace)",
            f"Decided  {found.decisions[0].decision}",
        ):
            assert part in shown
        web_app = make_app([routes(app.app)])
        async with httpx.AsyncClient(
            transport=httpx.ASGITransport(web_app, raise_app_exceptions=False),
            base_url="http://deployment",
            headers={"authorization": "Bearer t"},
        ) as api:
            of_thread = await api.get(f"/api/threads/{thread_id}/context")
            of_reply = await api.get(f"/api/replies/{reply['reply_id']}/context")
            none = await api.get(f"/api/threads/{random_id()}/context")
    assert of_thread.json() == of_reply.json()
    assert [one["name"] for one in of_reply.json()["layers"]][-1] == "mail"
    assert (none.status_code, none.json()["error"]) == (404, "context_unknown")


async def test_archived_days_are_read_as_the_others_are(
    stack: Endpoints, database: str, topic_prefix: str, tmp_path: Path
) -> None:
    """With every event in files, why, what was learned and the API say the same; without the files, what is missing."""
    said = {"web": {"api_token": "t"}, "archive": {"url": str(tmp_path / "archive")}}
    async with tending(stack, database, topic_prefix, tmp_path, **said) as app:
        settings, archive = app.app.settings, archive_of(app.app.settings)
        thread_id = await app.write("We are on the Enterprise plan. Which plan are we on?")
        await app.wait(minutes=5)
        await app.write("And now?", subject="Re: Export", after="<m1@acme.example>")
        await app.wait(days=30)
        (first, _) = await app.rows("SELECT turn_id, reply_id FROM turns ORDER BY opened_at")

        async def read() -> tuple[Any, ...]:
            async with app.app.database.reading() as conn:
                newest = await explain_thread(conn, app.workspace, thread_id, archive=archive)
                reply = await explain_reply(conn, app.workspace, first["reply_id"], archive=archive)
                known = await whole_thread(conn, app.workspace, thread_id, archive=archive)
            return newest, reply, known.learned

        before = await read()
        assert len(before[2]) == 2
        assert before[1].turn_id == first["turn_id"] != before[0].turn_id
        async with open_keys(settings) as keys, connected(settings.database_url, keys) as conn:
            await conn.execute("UPDATE events SET published_at = time, stored_at = time")
            assert [one async for one in move(conn, archive, FOREVER)]
            left = await fetch_all(conn, "SELECT DISTINCT type FROM events")
        assert not {one["type"] for one in left} & {"memory.loaded.v1", "reply.drafted.v1", "turn.reflected.v1"}
        assert await read() == before
        for file in (tmp_path / "archive").iterdir():
            file.unlink()
        async with app.app.database.reading() as conn:
            with pytest.raises(ArchiveMissing):
                await explain_thread(conn, app.workspace, thread_id, archive=archive)
            assert (await whole_thread(conn, app.workspace, thread_id, archive=archive)).learned == ()
