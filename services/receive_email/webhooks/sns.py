"""Messages of Amazon SNS: whose they are, whether they are fresh, and whether Amazon signed them (SignatureVersion 2).

Order of the checks: our topic, the time, the certificate's address, the signature. Nothing is fetched for a topic
that is not ours, and from nowhere but Amazon's own SNS hosts over HTTPS.
"""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from typing import Literal
from urllib.parse import urlsplit

from cryptography import x509
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import padding, rsa
from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, ValidationError

from services.receive_email.webhooks.request import Call, malformed, stale, unsigned
from services.receive_email.webhooks.signatures import base64_bytes

TOLERANCE = timedelta(hours=1)  # SNS tries again for up to an hour, with the first attempt's timestamp

_HOST = re.compile(r"sns\.[a-z0-9-]{3,30}\.amazonaws\.com(\.cn)?", re.ASCII)
_CERTIFICATE = re.compile(r"/SimpleNotificationService-[0-9a-zA-Z-]{1,80}\.pem", re.ASCII)
_SIGNED = {
    "Notification": ("Message", "MessageId", "Subject", "Timestamp", "TopicArn", "Type"),
    "SubscriptionConfirmation": ("Message", "MessageId", "SubscribeURL", "Timestamp", "Token", "TopicArn", "Type"),
}
_SIGNED["UnsubscribeConfirmation"] = _SIGNED["SubscriptionConfirmation"]


class SnsMessage(BaseModel):
    """One message as SNS posts it; field names are Amazon's."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    Type: Literal["Notification", "SubscriptionConfirmation", "UnsubscribeConfirmation"]
    MessageId: str = Field(min_length=1, max_length=256)
    TopicArn: str = Field(max_length=512)
    Message: str
    Timestamp: str = Field(max_length=64)
    SignatureVersion: str
    Signature: str = Field(max_length=4096)
    SigningCertURL: str = Field(max_length=1024)
    Subject: str | None = None
    SubscribeURL: str | None = Field(None, max_length=4096)
    Token: str | None = Field(None, max_length=4096)


class _Moment(BaseModel):
    value: AwareDatetime


def signed_text(message: SnsMessage) -> bytes:
    """What Amazon signs: names and values of some fields, each on its own line, those that are absent left out."""
    named = ((name, getattr(message, name)) for name in _SIGNED[message.Type])
    return "".join(f"{name}\n{value}\n" for name, value in named if value is not None).encode()


def is_amazons(url: str) -> bool:
    """Whether a URL leads to an SNS host of Amazon, over HTTPS, with nothing odd about it."""
    if not (url.isascii() and url.isprintable()) or " " in url:  # `urlsplit` reads over some of them, and HTTP does not
        return False
    try:
        parts = urlsplit(url)
        return parts.scheme == "https" and parts.netloc == parts.hostname and _HOST.fullmatch(parts.netloc) is not None
    except ValueError:
        return False


async def verified_message(call: Call) -> SnsMessage:
    """The message in a call, when it is ours, fresh and Amazon's. Raises `Refused`."""
    try:
        message = SnsMessage.model_validate_json(call.body)
    except ValidationError:
        raise malformed("the body is not the JSON of an SNS message") from None
    if message.TopicArn not in call.web.webhooks.ses_topic_arns:
        raise unsigned("this topic is not among web.webhooks.ses_topic_arns")
    _check_fresh(message, call.now)
    if message.SignatureVersion != "2":
        raise unsigned("set the topic's attribute SignatureVersion to 2; version 1 is SHA-1 and not believed")
    if not (is_amazons(message.SigningCertURL) and _CERTIFICATE.fullmatch(urlsplit(message.SigningCertURL).path)):
        raise unsigned("the certificate's address is not Amazon's")
    _check_signature(message, await call.outside.kept(message.SigningCertURL), call.now)
    return message


def _check_fresh(message: SnsMessage, now: datetime) -> None:
    try:
        sent = _Moment(value=message.Timestamp).value
    except ValidationError:
        raise stale("the timestamp cannot be read") from None
    if abs(now - sent) > TOLERANCE:
        raise stale(f"the message is of {message.Timestamp}")


def _check_signature(message: SnsMessage, pem: bytes, now: datetime) -> None:
    try:
        certificate = x509.load_pem_x509_certificate(pem)
        key = certificate.public_key()
    except ValueError:
        raise unsigned("the certificate cannot be read") from None
    if not certificate.not_valid_before_utc <= now <= certificate.not_valid_after_utc:
        raise unsigned("the certificate is not valid now")
    if not isinstance(key, rsa.RSAPublicKey):
        raise unsigned("the certificate has no RSA key")
    try:
        key.verify(base64_bytes(message.Signature), signed_text(message), padding.PKCS1v15(), hashes.SHA256())
    except InvalidSignature:
        raise unsigned("the signature does not belong to this message") from None
