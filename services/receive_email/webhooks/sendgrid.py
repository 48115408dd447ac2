"""SendGrid Inbound Parse with "POST the raw, full MIME message" and a security policy: signature, OAuth, or both.

The signature is ECDSA (P-256, SHA-256) over timestamp and body, in two headers; for OAuth, SendGrid asks us for a token
first. Whichever the settings have is checked.
"""

from __future__ import annotations

import hashlib
import json

from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import load_der_public_key

from schemas.events.mail import Peer
from services.receive_email.fingerprint import fingerprint
from services.receive_email.webhooks.forms import form_fields, text_field
from services.receive_email.webhooks.oauth import check_bearer
from services.receive_email.webhooks.request import Call, Format, Inbound, malformed, not_configured, unsigned
from services.receive_email.webhooks.signatures import base64_bytes, check_fresh

SIGNATURE = "x-twilio-email-event-webhook-signature"
TIMESTAMP = "x-twilio-email-event-webhook-timestamp"


async def _open(call: Call) -> Inbound:
    _admit(call)
    if public_key := call.web.webhooks.sendgrid_public_key:
        _check_signature(call, public_key)
    fields = form_fields(call)
    raw = fields.get("email", b"")
    if not raw.strip():
        raise malformed("there is no field `email`: tick `POST the raw, full MIME message` in Inbound Parse")
    request_id = hashlib.sha256(call.header(TIMESTAMP).encode() + call.body).hexdigest()
    return Inbound(raw=raw, key=fingerprint(raw), request_id=request_id, peer=_peer(fields))


def _admit(call: Call) -> None:
    public_key, secret = call.web.webhooks.sendgrid_public_key, call.web.webhooks.sendgrid_client_secret
    if not (public_key or secret.get_secret_value()):
        raise not_configured("web.webhooks.sendgrid_public_key (or sendgrid_client_secret)")
    if secret.get_secret_value():
        check_bearer(call, secret.get_secret_value())
    if public_key:
        check_fresh(call.header(TIMESTAMP), call.now)
        if not call.header(SIGNATURE):
            raise unsigned(f"the header {SIGNATURE} is missing")


def _check_signature(call: Call, public_key: str) -> None:
    key = _key(public_key)
    signed = call.header(TIMESTAMP).encode() + call.body
    try:
        key.verify(base64_bytes(call.header(SIGNATURE)), signed, ec.ECDSA(hashes.SHA256()))
    except InvalidSignature:
        raise unsigned(f"{SIGNATURE} does not belong to this timestamp and body") from None


def _key(public_key: str) -> ec.EllipticCurvePublicKey:
    try:
        key = load_der_public_key(base64_bytes(public_key))
    except (ValueError, UnsupportedAlgorithm):
        key = None
    if not isinstance(key, ec.EllipticCurvePublicKey):
        raise not_configured("web.webhooks.sendgrid_public_key (what it holds now is no elliptic curve key)")
    return key


def _peer(fields: dict[str, bytes]) -> Peer:
    try:
        envelope = json.loads(fields.get("envelope", b"{}"))
    except (ValueError, RecursionError):
        envelope = {}
    mail_from = envelope.get("from", "") if isinstance(envelope, dict) else ""
    return Peer(ip=text_field(fields, "sender_ip"), mail_from=mail_from if isinstance(mail_from, str) else "")


FORMAT = Format("sendgrid", _open, _admit, dated=False)
