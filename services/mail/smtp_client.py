"""A client for the server that replies are handed over to, with TLS and login as the settings say."""

from __future__ import annotations

from functools import partial

from aiosmtplib import SMTP

from services.core.settings import SmtpSettings
from services.mail.imap import TokenStore, access_token
from services.mail.tls import tls_context


def smtp_client(settings: SmtpSettings, timeout_s: float | None = None, *, tokens: TokenStore | None = None) -> SMTP:
    """A client that is not connected yet; it logs in, where there is a user name, when it connects.

    With OAuth (XOAUTH2) `connect` may also raise `TokenRefused`. Raises `CaFileUnusable`.
    """
    return SMTP(
        hostname=settings.host,
        port=settings.port,
        username=settings.username or None,
        password=settings.password.get_secret_value() or None,
        oauth_token_generator=partial(access_token, settings.oauth, tokens) if settings.oauth else None,
        use_tls=settings.tls == "implicit",
        start_tls=settings.tls == "starttls",
        tls_context=tls_context(settings.ca_file) if settings.tls != "none" else None,
        timeout=timeout_s or settings.timeout_s,
        local_hostname=settings.helo or None,
    )
