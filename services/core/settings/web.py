"""The HTTP edge: what it serves and to whom, sign-in to the console, tokens of the API, webhooks, probes."""

from __future__ import annotations

import hashlib
import hmac
import re
from pathlib import Path
from typing import Annotated, Literal, Self
from urllib.parse import urlsplit

from pydantic import Field, SecretStr, StringConstraints, model_validator

from services.core.settings.group import Group, is_https_origin
from services.core.settings.storage import S3Access

# Who may use the API: named tokens, each with what it is for.
Scope = Literal[
    "all",
    "memory:read",
    "memory:write",
    "threads:read",
    "threads:write",
    "drafts:read",
    "drafts:write",
    "knowledge:read",
    "knowledge:write",
    "operations:read",
    "operations:write",
    "settings:read",
    "settings:write",
    "webhooks:read",
    "webhooks:write",
]
LEAST_TOKEN_BYTES = 16
_SHA256 = re.compile(r"(?:[0-9a-f]{64})?")

TokenName = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9._-]{0,59}$")]


class ApiToken(Group):
    """One token of the API, given in one of three ways, and what it may do."""

    name: TokenName = Field(description="is recorded as `by` in all that is done with it")
    token: SecretStr = Field(SecretStr(""), description="the token")
    token_file: Path | None = Field(None, description="or a file that holds it")
    sha256: str = Field("", description="or its SHA-256 in hex, so that the settings hold no secret")
    scopes: tuple[Scope, ...] = Field(min_length=1, description="what it may do; `all` is everything")
    names_people: bool = Field(False, description="it speaks for several people: `by` of its requests is believed")
    requests_per_minute: int = Field(600, ge=0, description="further ones are refused; 0: no limit of its own")

    @model_validator(mode="after")
    def _one_secret(self) -> Self:
        given = [bool(self.token.get_secret_value()), self.token_file is not None, bool(self.sha256)]
        if sum(given) != 1:
            raise ValueError(f"web.tokens: {self.name} needs exactly one of token, token_file and sha256")
        if not _SHA256.fullmatch(self.sha256):
            raise ValueError(f"web.tokens: sha256 of {self.name} has to be 64 hexadecimal digits in lower case")
        if not self.sha256 and len(self._secret().encode()) < LEAST_TOKEN_BYTES:
            raise ValueError(f"web.tokens: the token of {self.name} needs at least {LEAST_TOKEN_BYTES} bytes")
        return self

    def is_this(self, given: str) -> bool:
        """Whether it is the token; compared in constant time."""
        digest = hashlib.sha256(given.encode("utf-8", "surrogatepass")).hexdigest()
        expected = self.sha256 or hashlib.sha256(self._secret().encode()).hexdigest()
        return hmac.compare_digest(digest, expected)

    def may(self, scope: str) -> bool:
        """Whether it is for this."""
        return "all" in self.scopes or scope in self.scopes

    def _secret(self) -> str:
        if self.token_file is not None:
            try:
                return self.token_file.read_text(encoding="utf-8").strip()
            except OSError as error:
                raise ValueError(
                    f"web.tokens: token_file of {self.name}, {self.token_file}: {error.strerror}"
                ) from None
        return self.token.get_secret_value()


class WebhookSettings(Group):
    """What each provider's requests are verified with; a format without its secret refuses every request."""

    cloudflare_secret: SecretStr = Field(SecretStr(""), description="Standard Webhooks secret shared with the worker")
    mailgun_signing_key: SecretStr = Field(SecretStr(""), description="HTTP webhook signing key")
    postmark_username: str = "postmark"
    postmark_password: SecretStr = Field(
        SecretStr(""), description="as in https://USERNAME:PASSWORD@host/inbound/postmark"
    )
    postmark_path: SecretStr = Field(
        SecretStr(""), description="as in https://host/inbound/postmark/PATH, next to or in place of the password"
    )
    sendgrid_public_key: str = Field("", description="base64 public key of the parse webhook's security policy")
    sendgrid_client_id: str = "sendgrid"
    sendgrid_client_secret: SecretStr = Field(
        SecretStr(""), description="of a security policy with OAuth; its token URL is https://host/inbound/oauth/token"
    )
    ses_topic_arns: tuple[str, ...] = Field((), description="the SNS topics we listen to, and subscribe to")
    ses_buckets: tuple[str, ...] = Field((), description="the S3 buckets that SES stores mail in, where it does")
    ses_s3: S3Access = S3Access()


class WebSettings(Group):
    """The HTTP edge: webhooks and API."""

    host: str = "127.0.0.1"
    port: int = 8025
    webhook_secret: SecretStr = Field(SecretStr(""), description="Standard Webhooks secret; without it POST is refused")
    api_token: SecretStr = Field(
        SecretStr(""), description="one token of the API, named `api`, that may do everything; see [[web.tokens]]"
    )
    tokens: tuple[ApiToken, ...] = Field((), description="named tokens of the API; without any, the API is off")
    webhooks: WebhookSettings = WebhookSettings()
    max_body_mb: int = 25
    console: bool = Field(True, description="serve the console at /console; false: webhooks and the API alone")
    console_url: str = Field(
        "", description="where people reach the console, e.g. https://desk.shop.example; empty: host and port"
    )
    public_url: str = Field(
        "", description="where everybody reaches this web server, for links in mails: https://mail.shop.example"
    )
    requests_per_minute: int = Field(
        3000, ge=0, description="of one address, on any route; further ones are refused; 0: no limit of ours"
    )

    @model_validator(mode="after")
    def _fits(self) -> Self:
        names = [one.name for one in self.all_tokens]
        if twice := sorted({name for name in names if names.count(name) > 1}):
            raise ValueError(f"web.tokens: {', '.join(twice)} is there twice; give each token its own name")
        if self.public_url and not is_https_origin(self.public_url):
            raise ValueError("web.public_url has to be an https address without a path: links in mails begin with it")
        return self

    @property
    def all_tokens(self) -> tuple[ApiToken, ...]:
        """The named tokens, and `api_token` as one named `api`, which may do everything and names who asks."""
        one = self.api_token.get_secret_value()
        if not one:
            return self.tokens
        api = ApiToken.model_construct(
            name="api", token=SecretStr(one), scopes=("all",), names_people=True, requests_per_minute=0
        )
        return (*self.tokens, api)

    @property
    def max_body_bytes(self) -> int:
        """The largest mail that a webhook may bring."""
        return self.max_body_mb * 1024 * 1024


# The console's sign-in over an OpenID provider.
LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
UserRole = Literal["viewer", "agent", "admin"]


class OidcSettings(Group):
    """Signing in to the console by an account at an OpenID provider, next to passwords and links."""

    issuer: str = Field(description="the provider, as its discovery document says it: https://login.shop.example")
    client_id: str = Field(min_length=1, description="what the provider knows this deployment as")
    client_secret: SecretStr = Field(SecretStr(""), description="where the provider gave one; PKCE is used in any case")
    name: str = Field("single sign-on", min_length=1, max_length=60, description="as the button says it")
    scopes: tuple[str, ...] = Field(("openid", "profile", "email"), description="what is asked for; one is openid")
    allowed_domains: tuple[str, ...] = Field(
        (), description="of verified mail addresses; others are refused; empty: whoever is a user"
    )
    link_by_mail: bool = Field(
        False, description="an account whose verified address is that of a user here is theirs from its first sign-in"
    )
    create_users: bool = Field(
        False, description="make a user at the first sign-in; needs allowed_domains; false: who was invited alone"
    )
    default_role: Literal["none", "viewer", "agent", "admin"] = Field(
        "viewer", description="of a user who is made, and of one of whom role_claim says nothing; none: refused"
    )
    role_claim: str = Field(
        "", description="the claim that says the role at each sign-in: groups, or realm_access.roles; empty: admins do"
    )
    roles: dict[str, UserRole] = Field(
        {}, description="{ support-leads = 'admin' }: what the claim says; empty: it says viewer, agent or admin itself"
    )

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if not is_provider_address(self.issuer, own=self.issuer) or urlsplit(self.issuer).query:
            raise ValueError("console.oidc.issuer has to be an https address: what the provider calls itself")
        if "openid" not in self.scopes:
            raise ValueError("console.oidc.scopes needs openid: without it the provider says nothing of who signs in")
        if self.create_users and not self.allowed_domains:
            raise ValueError(
                "console.oidc.create_users needs allowed_domains: else whoever has an account at the provider is let in"
            )
        if self.roles and not self.role_claim:
            raise ValueError("console.oidc.roles needs role_claim: the claim whose words they are")
        return self


def is_provider_address(address: str, *, own: str) -> bool:
    """Whether it is an address that a provider may be asked at: https, or http where it and `own` are this machine."""
    try:
        parts, place = urlsplit(address), urlsplit(own)
    except ValueError:
        return False
    if "@" in parts.netloc or parts.fragment or not parts.hostname:
        return False
    here = parts.hostname in LOOPBACK and place.hostname in LOOPBACK
    return parts.scheme == "https" or (parts.scheme == "http" and here)


class ConsoleSettings(Group):
    """The console."""

    oidc: OidcSettings | None = Field(None, description="sign in by an OpenID provider, next to passwords and links")


# Webhooks that other programs get of us: how they are called. Which ones there are is registered, not set.


class OutgoingWebhookSettings(Group):
    """How registered endpoints are called (`correspondent webhooks`)."""

    retry_days: float = Field(3, gt=0, le=30, description="how long what an endpoint does not take is tried again")
    disable_days: float = Field(
        5, gt=0, le=90, description="an endpoint that takes nothing for so long is disabled, and people are alerted"
    )
    timeout_s: float = Field(10, gt=0, le=30, description="how long an endpoint may take to answer")
    private_hosts: bool = Field(False, description="post to addresses that are not public too: a server of your own")


# Where a process answers probes and shows its metrics.


class MonitoringSettings(Group):
    """Probes (`/livez`, `/readyz`) and `/metrics` of each process, on a port of its own."""

    enabled: bool = True
    host: str = Field("127.0.0.1", description="0.0.0.0 in a container; nothing secret or personal is shown there")
    port: int = Field(
        8026, ge=0, le=65535, description="unless it is set, a further process on the same machine takes a free one"
    )
