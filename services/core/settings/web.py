"""The HTTP edge."""

from __future__ import annotations

from pydantic import Field, SecretStr

from services.core.settings.blobs import S3Access
from services.core.settings.group import Group


class WebhookSettings(Group):
    """What each provider's requests are verified with; a format without its secret refuses every request."""

    cloudflare_secret: SecretStr = Field(SecretStr(""), description="Standard Webhooks secret shared with the worker")
    mailgun_signing_key: SecretStr = Field(SecretStr(""), description="HTTP webhook signing key")
    postmark_username: str = "postmark"
    postmark_password: SecretStr = Field(
        SecretStr(""), description="as in https://USERNAME:PASSWORD@host/inbound/postmark"
    )
    postmark_path: SecretStr = Field(
        SecretStr(""), description="as in https://host/inbound/postmark/PATH, beside or in place of the password"
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
    api_token: SecretStr = Field(SecretStr(""), description="bearer token of the API; without it that is off")
    webhooks: WebhookSettings = WebhookSettings()
    max_body_mb: int = 25

    @property
    def max_body_bytes(self) -> int:
        """The largest mail that a webhook may bring."""
        return self.max_body_mb * 1024 * 1024
