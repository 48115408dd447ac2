"""Why a reply says what it says, on a terminal and over HTTP."""

from __future__ import annotations

from pathlib import Path

import httpx

from deploy.local import Endpoints
from services.console.routes import routes
from services.console.threads.explaining import explain_reply
from services.core.clock import random_id
from services.core.web import make_app
from services.tools.why import whole
from tests.support.remembering import fact
from tests.support.tending import tending


async def test_a_reply_is_explained_from_the_log(
    stack: Endpoints, database: str, topic_prefix: str, tmp_path: Path
) -> None:
    """Layer by layer: what was included with its reason and score, what shaped the reply, what was decided; else 404."""
    said = {"web": {"api_token": "t"}, "send": {"approval": "review"}}
    async with tending(stack, database, topic_prefix, tmp_path, **said) as house:
        await house.write("We are on the Enterprise plan.")
        (mail,) = await house.rows("SELECT * FROM mails")
        await house.learn(mail, fact("plan", "Enterprise", "on the Enterprise plan"))
        thread_id = await house.write("Which plan are we on?", subject="Plan")
        (reply,) = await house.rows("SELECT reply_id FROM deliveries WHERE thread_id = %(id)s", id=thread_id)
        async with house.house.database.reading() as conn:
            found = await explain_reply(conn, house.workspace, reply["reply_id"])
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
        app = make_app([routes(house.house)])
        async with httpx.AsyncClient(
            transport=httpx.ASGITransport(app, raise_app_exceptions=False),
            base_url="http://house",
            headers={"authorization": "Bearer t"},
        ) as api:
            of_thread = await api.get(f"/api/threads/{thread_id}/context")
            of_reply = await api.get(f"/api/replies/{reply['reply_id']}/context")
            none = await api.get(f"/api/threads/{random_id()}/context")
    assert of_thread.json() == of_reply.json()
    assert [one["name"] for one in of_reply.json()["layers"]][-1] == "mail"
    assert (none.status_code, none.json()["error"]) == (404, "context_unknown")
