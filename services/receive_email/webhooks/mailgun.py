"""Mailgun routes: forward("https://HOST/inbound/mailgun?inbox=NAME&as=mime").

Mailgun posts the raw message only to a URL that ends in `mime`. The signature is HMAC-SHA256 over timestamp and token,
not over the mail, so a token is good for one mail only: used again for another one, the call is a replay.
"""

from __future__ import annotations

from schemas.events.mail import Peer
from services.core.standard_webhooks import hmac_sha256
from services.receive_email.fingerprint import fingerprint
from services.receive_email.webhooks.forms import form_fields, text_field
from services.receive_email.webhooks.request import Call, Format, Inbound, malformed, not_configured, unsigned
from services.receive_email.webhooks.signatures import check_fresh, same

OVERHEAD = 3.0  # urlencoded forms write most bytes of an attachment's base64 as they are, and others as three


async def _open(call: Call) -> Inbound:
    _admit(call)
    key = call.web.webhooks.mailgun_signing_key.get_secret_value()
    fields = form_fields(call)
    token = _verified_token(call, fields, key)
    raw = fields.get("body-mime", b"")
    if not raw.strip():
        raise malformed("there is no body-mime: let the route's URL end in `mime`, then Mailgun posts the raw message")
    peer = Peer(mail_from=text_field(fields, "sender"))
    return Inbound(raw=raw, key=fingerprint(raw), request_id=token, peer=peer)


def _verified_token(call: Call, fields: dict[str, bytes], key: str) -> str:
    timestamp, token = text_field(fields, "timestamp"), text_field(fields, "token")
    if not 0 < len(token) <= 256:
        raise unsigned("the field token is missing or too long")
    check_fresh(timestamp, call.now)
    expected = hmac_sha256(key.encode(), (timestamp + token).encode()).hex()
    if not same(fields.get("signature", b""), expected.encode()):
        raise unsigned("the signature does not belong to this timestamp and token")
    return token


def _admit(call: Call) -> None:
    if not call.web.webhooks.mailgun_signing_key.get_secret_value():
        raise not_configured("web.webhooks.mailgun_signing_key")


FORMAT = Format("mailgun", _open, _admit, overhead=OVERHEAD)
