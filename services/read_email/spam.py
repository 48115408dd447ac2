"""What rspamd says of a mail, over its HTTP API (`POST /checkv2`), where the settings name one.

It only sets aside what would be answered: no mail that the filters hold back is let through on its word. Its answer is
a checkpoint, so that a mail is asked about once.
"""

from __future__ import annotations

import math
from typing import Any

import httpx
import structlog
from pydantic import BaseModel, ConfigDict, ValidationError

from schemas.events.mail import MailReceived, Verdict
from services.core.bus.work import Work
from services.core.public_hosts import plain_client
from services.core.settings import SpamSettings

log = structlog.get_logger(__name__)

LONGEST_ANSWER = 1024 * 1024
FILTER = "spam"
UNANSWERED = "unanswered"


class _Checked(BaseModel):
    """The part of rspamd's answer that counts."""

    model_config = ConfigDict(extra="ignore")

    action: str
    score: float = 0.0
    is_skipped: bool = False


async def spam_verdict(work: Work[MailReceived], raw: bytes) -> Verdict | None:
    """How a mail is held back, or None. Never raises: what rspamd cannot say is settled by `spam.unanswered`."""
    settings = work.app.settings.spam
    if not settings.rspamd_url or work.event.mode != "live" or work.event.from_sent:
        return None
    said = await work.checkpoint("rspamd", lambda: _ask(settings, work.event, raw))
    if said["action"] == UNANSWERED:
        held = settings.unanswered == "human"
        return Verdict(kind="human", reason="nobody could say whether it is spam", filter=FILTER) if held else None
    if said["action"] not in settings.actions:
        return None
    return Verdict(kind="park", reason=f"rspamd: {said['action']} (score {said['score']:.1f})", filter=FILTER)


def held_back(verdict: Verdict, spam: Verdict | None) -> Verdict:
    """The verdict of the filters, unless they would have a mail answered that is spam."""
    return spam if spam is not None and verdict.kind == "answer" else verdict


async def _ask(settings: SpamSettings, event: MailReceived, raw: bytes) -> dict[str, Any]:
    headers = {"Password": settings.rspamd_password.get_secret_value(), "IP": event.peer.ip, "Helo": event.peer.helo}
    headers |= {"From": event.peer.mail_from, "Queue-Id": str(event.mail_id)}
    given = {name: value for name, value in headers.items() if value and value.isascii() and value.isprintable()}
    try:
        async with plain_client(settings.timeout_s) as client:
            found = _Checked.model_validate_json(await _answer(client, settings, given, raw))
    except (httpx.HTTPError, httpx.InvalidURL, ValidationError, ValueError) as error:
        log.warning("rspamd could not be asked", error=type(error).__name__)
        return {"action": UNANSWERED, "score": 0.0}
    score = found.score if math.isfinite(found.score) else 0.0
    return {"action": "no action" if found.is_skipped else found.action, "score": score}


async def _answer(client: httpx.AsyncClient, settings: SpamSettings, headers: dict[str, str], raw: bytes) -> bytes:
    url, answer = f"{settings.rspamd_url.rstrip('/')}/checkv2", bytearray()
    async with client.stream("POST", url, content=raw, headers=headers) as response:
        response.raise_for_status()
        async for chunk in response.aiter_bytes():
            answer += chunk
            if len(answer) > LONGEST_ANSWER:
                raise ValueError("the answer is too long")
    return bytes(answer)
