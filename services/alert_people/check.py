"""Tests a target of alerts as `correspondent alerts test` does: each step, what is wrong, and what to do about it."""

from __future__ import annotations

import json
from uuid import UUID

from services.alert_people.attempts import Message, mail, post, sender_of, smtp_message, way_out
from services.alert_people.channels import Channel
from services.alert_people.digest import FOOT
from services.core.clock import random_id, utc_now
from services.core.errors import CorrespondentError
from services.core.mailbox import alert_message_id
from services.core.settings import Settings
from services.mail.check import Fault, Finding, smtp_steps, walk
from services.mail.imap import token_store
from services.mail.smtp_dialogue import dialogue

SUBJECT = "A test of the alerts"
TEXT = f"This is a test. When a person is needed, it is told here.\n\n{FOOT}"


async def check_channel(settings: Settings, channel: Channel, *, send: bool) -> list[Finding]:
    """What works and what does not, in the order in which it is used. Never raises.

    `send`: a test goes out. Without, a mail goes up to the server's word on its recipient, and a webhook is not asked.
    """
    findings: list[Finding] = []
    if channel.target.mail:
        step = ("mail", lambda: _mail(settings, channel, send=send))
        await walk(findings, [*smtp_steps(way_out(settings), token_store(settings)), step])
    elif send:
        await walk(findings, [("webhook", lambda: _call(settings, channel))])
    else:
        findings.append(Finding("webhook", True, "was not asked: only a call could tell"))
    return findings


async def _mail(settings: Settings, channel: Channel, *, send: bool) -> str:
    domain = sender_of(settings).rpartition("@")[2]
    message = Message(alert_message_id(random_id(), domain), utc_now(), SUBJECT, TEXT)
    try:
        if send:
            return f"sent from {sender_of(settings)}; the server said {await mail(settings, channel, message)}"
        async with dialogue(way_out(settings), smtp_message(settings, channel, message), token_store(settings)):
            return f"the server takes mail from {sender_of(settings)} to {channel.target.mail}"
    except CorrespondentError as error:
        remedy = f"check the address in alerts.to, and that the server lets {sender_of(settings)} write to it"
        raise Fault(Finding("mail", False, str(error), remedy)) from error


async def _call(settings: Settings, channel: Channel) -> str:
    id, now = random_id(), utc_now()
    try:
        return f"the receiver said {await post(settings, channel, str(id), now, _body(id, settings.workspace))}"
    except CorrespondentError as error:
        remedy = "check the address and the secret in alerts.to, and what the receiver logs"
        raise Fault(Finding("webhook", False, str(error), remedy)) from error


def _body(id: UUID, workspace: str) -> bytes:
    data = {"digest_id": str(id), "workspace": workspace, "threads": []}
    said = {"type": "alerts.test", "timestamp": utc_now().isoformat(), "data": data}
    return json.dumps(said, separators=(",", ":")).encode()
