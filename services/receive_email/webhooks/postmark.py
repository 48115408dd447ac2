"""Postmark inbound JSON with "Include raw email content": https://USER:PASSWORD@HOST/inbound/postmark/PATH?inbox=NAME.

Postmark signs nothing and dates nothing; over HTTPS it knows a password (basic authentication), a secret path, or both:
whichever the settings have is checked. What names a mail is its MessageID, and none is ever taken twice.
"""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from services.receive_email.webhooks.request import Call, Format, Inbound, malformed, not_configured, unsigned
from services.receive_email.webhooks.signatures import base64_bytes, same

OVERHEAD = 3.0  # the mail as a JSON string, next to its parsed text and attachments


class _Posted(BaseModel):
    model_config = ConfigDict(extra="ignore")

    message_id: str = Field(alias="MessageID", min_length=1, max_length=256)
    raw_email: str = Field("", alias="RawEmail")


async def _open(call: Call) -> Inbound:
    _check_secrets(call)
    try:
        posted = _Posted.model_validate_json(call.body)
    except ValidationError:
        raise malformed("the body is not the JSON of a Postmark inbound webhook") from None
    if not posted.raw_email.strip():
        raise malformed("there is no RawEmail: tick `Include raw email content in JSON payload` for the stream")
    raw = posted.raw_email.encode("utf-8", "surrogateescape")
    return Inbound(raw=raw, key=posted.message_id, request_id=posted.message_id)


def _check_secrets(call: Call) -> None:
    hooks = call.web.webhooks
    password, path = hooks.postmark_password.get_secret_value(), hooks.postmark_path.get_secret_value()
    if not (password or path):
        raise not_configured("web.webhooks.postmark_password (or postmark_path)")
    if path and not same(call.path.encode(), path.encode()):
        raise unsigned("the path is wrong")
    if password:
        _check_password(call, f"{hooks.postmark_username}:{password}".encode())


def _check_password(call: Call, expected: bytes) -> None:
    scheme, _, given = call.header("authorization").partition(" ")
    if scheme.casefold() != "basic" or not same(base64_bytes(given.strip()), expected):
        raise unsigned("user name or password is wrong")


FORMAT = Format("postmark", _open, _check_secrets, overhead=OVERHEAD, dated=False, has_path=True)
