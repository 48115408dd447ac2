"""OAuth for providers that ask us for a token before they post (RFC 6749, 4.4: client credentials).

We are the token server ourselves: a token is its own expiry under an HMAC, so nothing is stored and every process
that knows the client's secret can check it.
"""

from __future__ import annotations

from pydantic import BaseModel

from services.core.standard_webhooks import hmac_sha256
from services.core.web import RequestRefused
from services.receive_email.webhooks.forms import form_fields, text_field
from services.receive_email.webhooks.request import Call, not_configured, stale, unsigned
from services.receive_email.webhooks.signatures import base64_bytes, same

LIFE_S = 3600
GRANT = "client_credentials"


class Token(BaseModel):
    """The answer of RFC 6749, 5.1."""

    access_token: str
    token_type: str = "Bearer"
    expires_in: int = LIFE_S


def grant(call: Call) -> Token:
    """A token for the client of the settings, who says its id and secret by basic authentication or in the form."""
    secret = call.web.webhooks.sendgrid_client_secret.get_secret_value()
    if not secret:
        raise not_configured("web.webhooks.sendgrid_client_secret")
    fields = form_fields(call)
    expected = f"{call.web.webhooks.sendgrid_client_id}:{secret}".encode()
    if not same(_client(call, fields), expected):
        raise RequestRefused(401, "invalid_client", "client id or client secret is wrong")
    if text_field(fields, "grant_type") != GRANT:
        raise RequestRefused(400, "unsupported_grant_type", f"the grant_type has to be {GRANT}")
    return Token(access_token=access_token(secret, int(call.now.timestamp()) + LIFE_S))


def check_bearer(call: Call, secret: str) -> None:
    """Refuse a call that brings no token of ours, or one that has run out."""
    scheme, _, token = call.header("authorization").partition(" ")
    until = token.strip().partition(".")[0]
    if scheme.casefold() != "bearer" or not (until.isascii() and until.isdigit() and len(until) < 12):
        raise unsigned("there is no access token of ours in the header authorization")
    if not same(token.strip().encode(), access_token(secret, int(until)).encode()):
        raise unsigned("the access token is not one of ours")
    if int(until) < call.now.timestamp():
        raise stale("the access token has run out; ask /inbound/oauth/token for another one")


def _client(call: Call, fields: dict[str, bytes]) -> bytes:
    scheme, _, given = call.header("authorization").partition(" ")
    if scheme.casefold() == "basic":
        return base64_bytes(given.strip())
    return fields.get("client_id", b"") + b":" + fields.get("client_secret", b"")


def access_token(secret: str, until: int) -> str:
    """The token that is good until a Unix time in seconds."""
    return f"{until}.{hmac_sha256(secret.encode(), f'access token 1 {until}'.encode()).hex()}"
