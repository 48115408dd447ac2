"""The way out of an inbox: name, connection, greeting, TLS and login."""

from __future__ import annotations

import aiosmtplib

from services.core.settings import SmtpSettings
from services.mail.check.certificates import certificate_finding
from services.mail.check.steps import TIMEOUT_S, Fault, Finding, Step, connect, resolve
from services.mail.imap import TokenMissing, TokenRefused, TokenStore
from services.mail.smtp_dialogue import smtp_client
from services.mail.tls import CaFileUnusable


def smtp_steps(smtp: SmtpSettings, tokens: TokenStore | None = None) -> list[tuple[str, Step]]:
    """The steps for one server; no mail is sent."""
    return [
        ("smtp dns", lambda: resolve("smtp dns", smtp.host, smtp.port, "smtp.host")),
        ("smtp connection", lambda: connect("smtp connection", smtp.host, smtp.port)),
        ("smtp session", lambda: _greet(smtp, tokens)),
    ]


async def _greet(smtp: SmtpSettings, tokens: TokenStore | None) -> str:
    try:
        async with smtp_client(smtp, TIMEOUT_S, tokens=tokens):
            pass
    except (TokenRefused, TokenMissing) as error:
        remedy = "grant access again: `correspondent inbox login NAME`"
        raise Fault(Finding("smtp token", False, str(error), remedy)) from error
    except aiosmtplib.SMTPAuthenticationError as error:
        remedy = "check smtp.username and smtp.password; many providers want an app password"
        raise Fault(Finding("smtp login", False, f"{smtp.username} is not let in: {error.message}", remedy)) from error
    except (aiosmtplib.SMTPException, CaFileUnusable, OSError) as error:
        finding = certificate_finding("smtp tls", error, smtp.host, "smtp")
        if finding is not None:
            raise Fault(finding) from error
        remedy = "check smtp.port and smtp.tls: 587 is starttls, 465 implicit, 25 usually none"
        raise Fault(Finding("smtp session", False, f"the session failed: {error}", remedy)) from error
    if smtp.username:
        return f"{smtp.host} takes mail from {smtp.username}"
    return f"{smtp.host} takes mail, without a login"
