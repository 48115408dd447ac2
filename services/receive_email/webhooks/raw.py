"""Any sender of `message/rfc822`, signed after Standard Webhooks: POST /inbound/raw?inbox=NAME."""

from __future__ import annotations

from services.core.web import RequestRefused
from services.receive_email.webhooks.request import Call, Format, Inbound, malformed
from services.receive_email.webhooks.signatures import admit_standard, check_standard

CONTENT_TYPE = "message/rfc822"


async def _open(call: Call) -> Inbound:
    webhook_id = check_standard(call, call.web.webhook_secret.get_secret_value(), "web.webhook_secret")
    return inbound_rfc822(call, webhook_id)


def inbound_rfc822(call: Call, webhook_id: str) -> Inbound:
    """The mail that is the whole body of a verified call. Raises `RequestRefused`."""
    if call.header("content-type").partition(";")[0].strip().casefold() != CONTENT_TYPE:
        raise RequestRefused(
            415, "content_type_wrong", f"the body has to be {CONTENT_TYPE}: the mail as it came, untouched"
        )
    if not call.body.strip():
        raise malformed("the body is empty")
    return Inbound(raw=call.body, key=webhook_id, request_id=webhook_id)


def _admit(call: Call) -> None:
    admit_standard(call, call.web.webhook_secret.get_secret_value(), "web.webhook_secret")


FORMAT = Format("raw", _open, _admit)
