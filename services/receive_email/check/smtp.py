"""The way out of an inbox: name, connection, greeting, TLS and login."""

from __future__ import annotations

import aiosmtplib

from services.core.settings import SmtpSettings
from services.receive_email.check.steps import TIMEOUT_S, Fault, Finding, Step, connect, resolve


def smtp_steps(smtp: SmtpSettings) -> list[tuple[str, Step]]:
    """The steps for one server; no mail is sent."""
    return [
        ("smtp dns", lambda: resolve("smtp dns", smtp.host, smtp.port, "smtp.host")),
        ("smtp connection", lambda: connect("smtp connection", smtp.host, smtp.port)),
        ("smtp session", lambda: _greet(smtp)),
    ]


async def _greet(smtp: SmtpSettings) -> str:
    client = aiosmtplib.SMTP(
        hostname=smtp.host,
        port=smtp.port,
        timeout=TIMEOUT_S,
        use_tls=smtp.tls == "implicit",
        start_tls=smtp.tls == "starttls",
        local_hostname=smtp.helo or None,
    )
    try:
        async with client:
            if smtp.username:
                await client.login(smtp.username, smtp.password.get_secret_value())
    except aiosmtplib.SMTPAuthenticationError as error:
        remedy = "check smtp.username and smtp.password; many providers want an app password"
        raise Fault(Finding("smtp login", False, f"{smtp.username} is not let in: {error.message}", remedy)) from error
    except (aiosmtplib.SMTPException, OSError) as error:
        remedy = "check smtp.port and smtp.tls: 587 is starttls, 465 implicit, 25 usually none"
        raise Fault(Finding("smtp session", False, f"the session failed: {error}", remedy)) from error
    return f"{smtp.host} takes mail" + (f" from {smtp.username}" if smtp.username else ", without a login")
