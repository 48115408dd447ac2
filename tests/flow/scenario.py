"""Parts of flow tests: a scripted agent, authenticated letters, the sink's mail, signed webhook calls."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import hmac
from collections.abc import Callable
from email import message_from_bytes, policy
from email.message import EmailMessage
from pathlib import Path
from typing import Any

import httpx

from services.core.app import App
from services.core.db import fetch_all
from services.operations.idle import until_idle
from tests.support.letters import letter
from tests.support.scripted_model import Seen
from tests.support.scripted_replies import Behaviour, reply_tool

AUTHSERV = "mx.ourcompany.example"
WEBHOOK_KEY = base64.b64encode(b"testtesttesttest").decode()


def verified(text: str, *, sender: str = "John Miller <john@acme.example>", **parts: Any) -> bytes:
    """A letter on which our own mail server found that DMARC passes."""
    domain = sender.rpartition("@")[2].rstrip(">")
    found = f"{AUTHSERV}; dmarc=pass header.from={domain}; dkim=pass header.d={domain}"
    return letter(text, sender=sender, Authentication_Results=found, **parts)


def reflection(summary: str, *facts: dict[str, Any], **rest: Any) -> Behaviour:
    """The model's answer after a turn."""
    given = {"summary": summary, "facts": list(facts), "brief": rest.pop("brief", "John of Acme."), **rest}
    return reply_tool("reflect", given)


def fact(key: str, value: str, quote: str, kind: str = "customer_info") -> dict[str, Any]:
    """An ADD of one fact."""
    text = f"The customer's {key} is {value}."
    return {"op": "ADD", "kind": kind, "key": key, "value": value, "text": text, "quote": quote, "importance": 7}


def agent(answer: Callable[[Seen], Behaviour], learn: Callable[[Seen], Behaviour]) -> Callable[[Seen], Behaviour]:
    """A script: one function answers mails, one reflects."""
    return lambda seen: learn(seen) if "reflect" in seen.tools else answer(seen)


def sent_mail(outbox: Path) -> list[EmailMessage]:
    """Everything that the SMTP server accepted, oldest first."""
    files = sorted((outbox / "new").iterdir(), key=lambda path: (path.stat().st_mtime_ns, path.name))
    return [message_from_bytes(file.read_bytes(), policy=policy.default) for file in files]


def replies_to(outbox: Path, address: str, domain: str) -> list[EmailMessage]:
    """The mails of one sending domain that went to one address."""
    mails = [mail for mail in sent_mail(outbox) if mail["X-Envelope-To"] == f"<{address}>"]
    return [mail for mail in mails if str(mail["Message-ID"]).rstrip(">").endswith(domain)]


async def until_mails(app: App, count: int, *, timeout_s: float = 60) -> None:
    """Wait until so many mails have been read and the deployment is at rest."""
    async with asyncio.timeout(timeout_s):
        while len(await rows(app, "SELECT mail_id FROM mails")) < count:
            await asyncio.sleep(0.1)
    await until_idle(app, timeout_s=timeout_s)


async def rows(app: App, query: str, **args: Any) -> list[dict[str, Any]]:
    """The rows of a query."""
    async with app.database.reading() as conn:
        return await fetch_all(conn, query, args)


async def post_signed(
    base_url: str, raw: bytes, *, inbox: str, webhook_id: str, at: int, **params: str
) -> httpx.Response:
    """POST /inbound/raw as a Standard Webhooks sender does."""
    async with httpx.AsyncClient(base_url=base_url) as client:
        return await client.post(
            "/inbound/raw",
            params={"inbox": inbox, **params},
            content=raw,
            headers=signed_headers(raw, webhook_id, at),
        )


def signed_headers(raw: bytes, webhook_id: str, at: int) -> dict[str, str]:
    """The headers of such a call; `at` is in Unix seconds."""
    signed = f"{webhook_id}.{at}.".encode() + raw
    digest = hmac.new(base64.b64decode(WEBHOOK_KEY), signed, hashlib.sha256).digest()
    return {
        "content-type": "message/rfc822",
        "webhook-id": webhook_id,
        "webhook-timestamp": str(at),
        "webhook-signature": f"v1,{base64.b64encode(digest).decode()}",
    }
