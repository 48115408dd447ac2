"""Amazon SES through SNS: a receipt rule whose SNS action carries the mail (up to 150 kB), encoding Base64 or UTF-8.

A subscription is confirmed by itself, but only for a topic of the settings, and at Amazon's own address.
"""

from __future__ import annotations

import structlog
from pydantic import BaseModel, ConfigDict, ValidationError

from schemas.events.mail import Peer
from services.receive_email.webhooks.request import Call, Format, Inbound, malformed, not_configured, unsigned
from services.receive_email.webhooks.signatures import base64_bytes
from services.receive_email.webhooks.sns import SnsMessage, is_amazons, verified_message

log = structlog.get_logger(__name__)

OVERHEAD = 3.0  # base64 in a JSON string in a JSON string


class _Part(BaseModel):
    model_config = ConfigDict(extra="ignore")


class _Action(_Part):
    encoding: str = "UTF8"


class _Receipt(_Part):
    action: _Action = _Action()


class _Mail(_Part):
    source: str = ""


class _Received(_Part):
    content: str | None = None
    receipt: _Receipt = _Receipt()
    mail: _Mail = _Mail()


async def _open(call: Call) -> Inbound | None:
    if not call.web.webhooks.ses_topic_arns:
        raise not_configured("web.webhooks.ses_topic_arns")
    message = await verified_message(call)
    if message.Type == "SubscriptionConfirmation":
        await _confirm(call, message)
        return None
    if message.Type == "UnsubscribeConfirmation":
        log.warning("an SNS subscription was ended", topic=message.TopicArn)
        return None
    return _mail(message)


async def _confirm(call: Call, message: SnsMessage) -> None:
    if not is_amazons(message.SubscribeURL or ""):
        raise unsigned("the address to confirm the subscription at is not Amazon's")
    await call.outside.get(message.SubscribeURL or "")
    log.info("an SNS subscription was confirmed", topic=message.TopicArn)


def _mail(message: SnsMessage) -> Inbound:
    try:
        received = _Received.model_validate_json(message.Message)
    except ValidationError:
        raise malformed("the message is not the JSON of an SES notification") from None
    if not received.content:
        raise malformed("the notification has no content: let the receipt rule's SNS action carry the mail")
    if received.receipt.action.encoding.casefold() == "base64":
        raw = base64_bytes(received.content)
    else:
        raw = received.content.encode("utf-8", "surrogateescape")
    if not raw.strip():
        raise malformed("the content cannot be decoded")
    peer = Peer(mail_from=received.mail.source)
    return Inbound(raw=raw, key=message.MessageId, request_id=message.MessageId, peer=peer)


FORMAT = Format("ses", _open, overhead=OVERHEAD)
