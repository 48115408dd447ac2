"""Amazon SES through SNS: a receipt rule whose SNS action carries the mail (up to 150 kB), encoding Base64 or UTF-8;
or whose S3 action stores it (any size) and tells a topic of ours where, in a bucket that the settings name.

A subscription is confirmed by itself, but only for a topic of the settings, and at Amazon's own address.
"""

from __future__ import annotations

import structlog
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from schemas.events.mail import Peer
from services.core.web import too_large
from services.receive_email.webhooks.request import (
    Call,
    Format,
    Inbound,
    malformed,
    not_configured,
    unsigned,
)
from services.receive_email.webhooks.signatures import base64_bytes
from services.receive_email.webhooks.sns import SnsMessage, is_amazons, verified_message

log = structlog.get_logger(__name__)

OVERHEAD = 3.0  # base64 in a JSON string in a JSON string


class _Part(BaseModel):
    model_config = ConfigDict(extra="ignore")


class _Action(_Part):
    type: str = ""
    encoding: str = "UTF8"
    bucket: str = Field("", alias="bucketName")
    key: str = Field("", alias="objectKey")


class _Receipt(_Part):
    action: _Action = _Action()


class _Mail(_Part):
    source: str = ""


class _Received(_Part):
    content: str | None = None
    receipt: _Receipt = _Receipt()
    mail: _Mail = _Mail()


async def _open(call: Call) -> Inbound | None:
    _admit(call)
    message = await verified_message(call)
    if message.Type == "SubscriptionConfirmation":
        await _confirm(call, message)
        return None
    if message.Type == "UnsubscribeConfirmation":
        log.warning("an SNS subscription was ended", topic=message.TopicArn)
        return None
    return await _mail(call, message)


def _admit(call: Call) -> None:
    if not call.web.webhooks.ses_topic_arns:
        raise not_configured("web.webhooks.ses_topic_arns")


async def _confirm(call: Call, message: SnsMessage) -> None:
    if not is_amazons(message.SubscribeURL or ""):
        raise unsigned("the address to confirm the subscription at is not Amazon's")
    await call.outside.get(message.SubscribeURL or "")
    log.info("an SNS subscription was confirmed", topic=message.TopicArn)


async def _mail(call: Call, message: SnsMessage) -> Inbound:
    try:
        received = _Received.model_validate_json(message.Message)
    except ValidationError:
        raise malformed("the message is not the JSON of an SES notification") from None
    action = received.receipt.action
    if received.content:
        raw = _decoded(received.content, action.encoding)
    elif action.type.casefold() == "s3" and action.key:
        raw = await _stored(call, action, message.TopicArn)
    else:
        raise malformed("the notification has no content: use the receipt rule's SNS action, or its S3 action")
    if not raw.strip():
        raise malformed("the content cannot be decoded")
    peer = Peer(mail_from=received.mail.source)
    return Inbound(raw=raw, key=message.MessageId, request_id=message.MessageId, peer=peer)


def _decoded(content: str, encoding: str) -> bytes:
    if encoding.casefold() == "base64":
        return base64_bytes(content)
    return content.encode("utf-8", "surrogateescape")


async def _stored(call: Call, action: _Action, topic: str) -> bytes:
    """The mail in the bucket; in the topic's region, where SES wants the bucket to be, unless the settings name one."""
    hooks, most = call.web.webhooks, call.web.max_body_bytes
    if action.bucket not in hooks.ses_buckets:
        raise unsigned("this bucket is not among web.webhooks.ses_buckets")
    access = hooks.ses_s3.model_copy(update={"region": hooks.ses_s3.region or topic.split(":")[3]})
    raw = await call.outside.stored(action.bucket, action.key, access, most)
    if raw is None:
        raise too_large(most)
    return raw


FORMAT = Format("ses", _open, _admit, overhead=OVERHEAD)
