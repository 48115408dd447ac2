"""POST /inbound/FORMAT?inbox=NAME: limit, verify, parse, accept; 2xx only when the mail's event is on the log.

POST /inbound/oauth/token gives access tokens to providers that use them.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Request, Response
from pydantic import BaseModel

from schemas.events.mail import Peer
from services.core.app import App
from services.core.db import fetch_one
from services.core.settings import InboxSettings, SettingsWrong
from services.core.storable import is_storable, storable
from services.core.web import RequestRefused, body_within, too_large
from services.mail.tokens import token_of_message_id
from services.receive_email.accept import SQL, accept
from services.receive_email.fingerprint import fingerprint, message_id_of
from services.receive_email.webhooks import FORMATS
from services.receive_email.webhooks.oauth import Token, grant
from services.receive_email.webhooks.request import (
    Call,
    Format,
    HttpsOutside,
    Inbound,
    Outside,
    malformed,
    not_configured,
)

BODY_DEADLINE_S = 120
TOKEN_REQUEST_BYTES = 8 * 1024
DATED = [one.name for one in FORMATS.values() if one.dated]

Inbox = Annotated[str, Query(max_length=200)]
Direction = Annotated[Literal["received", "sent"], Query()]


class Answer(BaseModel):
    """What became of the call: a mail `accepted`, a `duplicate`, a reply of `ours`, a subscription `confirmed`."""

    status: str
    mail_id: str | None = None


def routes(app: App, outside: Outside | None = None) -> APIRouter:
    """The webhooks of all formats, on one path each."""
    router, network = APIRouter(tags=["inbound mail"]), outside or HttpsOutside()

    @router.post("/inbound/oauth/token")
    async def token(request: Request, response: Response) -> Token:
        """Give a provider the access token that it posts mail with."""
        response.headers["cache-control"] = "no-store"
        if not app.settings.web.webhooks.sendgrid_client_secret.get_secret_value():
            raise not_configured("web.webhooks.sendgrid_client_secret")
        return grant(await read_call(app, request, TOKEN_REQUEST_BYTES, network))

    @router.post("/inbound/{format_name}")
    @router.post("/inbound/{format_name}/{path}")
    async def inbound(
        request: Request, format_name: str, path: str = "", inbox: Inbox = "", direction: Direction = "received"
    ) -> Answer:
        """Bring one mail to one inbox; with `direction=sent` one that a colleague sent from it."""
        shape = FORMATS.get(format_name)
        if shape is None or (path and not shape.has_path):
            raise RequestRefused(404, "format_unknown", f"there is no such webhook; known: {', '.join(FORMATS)}")
        shape.admit(unread_call(app, request, network, path))
        limit = int(app.settings.web.max_body_bytes * shape.overhead)
        call = await read_call(app, request, limit, network, path)
        return await receive(app, shape, call, inbox, from_sent=direction == "sent")

    return router


async def read_call(app: App, request: Request, limit: int, outside: Outside, path: str = "") -> Call:
    """The call with its body, as long as that stays within the limit in bytes. Raises `RequestRefused`."""
    body = await body_within(request, limit, BODY_DEADLINE_S)
    return replace(unread_call(app, request, outside, path), body=body)


def unread_call(app: App, request: Request, outside: Outside, path: str = "") -> Call:
    """The call without its body, of which no byte is read."""
    headers = {name.lower(): value for name, value in request.headers.items()}
    return Call(headers=headers, body=b"", now=app.now(), web=app.settings.web, outside=outside, path=path)


async def receive(app: App, shape: Format, call: Call, inbox_name: str, *, from_sent: bool = False) -> Answer:
    """Let the mail of a call in, once. Raises `RequestRefused`, or what keeps us from storing it."""
    found = await shape.open(call)
    if found is None:
        return Answer(status="confirmed")
    if len(found.raw) > app.settings.web.max_body_bytes:
        raise too_large(app.settings.web.max_body_bytes)
    if not is_storable(found.key + found.request_id):
        raise malformed("the call's id holds a NUL character or half of a surrogate pair, which cannot be stored")
    inbox = _inbox(app, inbox_name)
    if from_sent and token_of_message_id(message_id_of(found.raw)):
        return Answer(status="ours")
    await _claim(app, shape, found, inbox)
    source_key = f"{shape.name}:{found.key}"
    peer = Peer(**{name: storable(value) for name, value in found.peer})
    given: dict[str, Any] = {"source_key": source_key, "peer": peer, "from_sent": from_sent}
    accepted = await accept(app, inbox, found.raw, source="webhook", **given)
    return Answer(status="accepted" if accepted.new else "duplicate", mail_id=str(accepted.mail_id))


async def _claim(app: App, shape: Format, found: Inbound, inbox: InboxSettings) -> None:
    """Refuse a request whose id was used before for another mail or inbox; for the same, it is a retry."""
    binding = f"{inbox.name}:{fingerprint(found.raw)}"
    args = {
        "workspace": app.settings.workspace,
        "format": shape.name,
        "request_id": found.request_id,
        "binding": binding,
        "now": app.now(),
        "dated": DATED,
    }
    async with app.database.reading() as conn:
        claimed = await fetch_one(conn, SQL.claim_request, args)
    assert claimed is not None
    if claimed["binding"] != binding:
        raise RequestRefused(409, "replayed", "this signed request has been used before, for another mail or inbox")


def _inbox(app: App, name: str) -> InboxSettings:
    try:
        inbox = app.settings.inbox(name)
    except SettingsWrong:
        raise RequestRefused(404, "inbox_unknown", "name one of our inboxes, as in ?inbox=support") from None
    if inbox.paused:
        raise RequestRefused(503, "paused", "this inbox is paused; send the same request again later")
    return inbox
