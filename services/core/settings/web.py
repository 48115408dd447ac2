"""The HTTP edge."""

from __future__ import annotations

from typing import Self

from pydantic import Field, SecretStr, model_validator

from services.core.settings.api_tokens import ApiToken
from services.core.settings.blobs import S3Access
from services.core.settings.group import Group
from services.core.settings.origins import is_https_origin


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
