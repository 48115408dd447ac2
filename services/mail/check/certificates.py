"""What is wrong with a mail server's certificate, and what to do about it; the same words for the way in and out."""

from __future__ import annotations

import ssl
from collections.abc import Iterator

from services.mail.check.steps import Finding
from services.mail.tls import CaFileUnusable

# OpenSSL's own numbers (x509_vfy.h)
NOT_YET, EXPIRED = 9, 10
SELF_SIGNED = 18
UNKNOWN_CA = frozenset({2, 19, 20, 21})
OTHER_NAME = frozenset({62, 64})
MOST_CAUSES = 10


def certificate_finding(step: str, error: BaseException, host: str, setting: str) -> Finding | None:
    """The finding where the certificate, or the file of trusted ones, is at fault; None for other errors.

    `setting` is the group of settings, such as `inboxes.smtp`.
    """
    for cause in _causes(error):
        if isinstance(cause, CaFileUnusable):
            return Finding(step, False, str(cause), f"set {setting}.ca_file to a readable file of certificates in PEM")
        if isinstance(cause, ssl.SSLCertVerificationError):
            found = f"the certificate of {host} is not trusted: {cause.verify_message}"
            return Finding(step, False, found, _remedy(cause.verify_code, host, setting))
    return None


def _remedy(code: int, host: str, setting: str) -> str:
    if code == SELF_SIGNED:
        return (
            f"it is self-signed: where {host} is a server of your own, put its certificate into a file and set "
            f"{setting}.ca_file to that; otherwise somebody may be in between, so type no password"
        )
    if code in UNKNOWN_CA:
        return (
            f"its issuer is unknown here: set {setting}.ca_file to the certificate of your own CA, or have the server "
            "send its intermediate certificates, too"
        )
    if code in OTHER_NAME:
        return f"it is for another name: set {setting}.host to the name in the certificate, as your provider gives it"
    if code == EXPIRED:
        return "it has expired: have it renewed at the server, and look at the clock of this machine"
    if code == NOT_YET:
        return "it is not valid yet: look at the clocks of the server and of this machine"
    return f"have the server's certificate put right; for a CA of your own set {setting}.ca_file"


def _causes(error: BaseException) -> Iterator[BaseException]:
    """The error and what it was raised for, outermost first."""
    seen: BaseException | None = error
    for _ in range(MOST_CAUSES):
        if seen is None:
            return
        yield seen
        seen = seen.__cause__ or seen.__context__
