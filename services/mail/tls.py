"""Whom a mail server's certificate has to be from: a CA that the system trusts, or one that the inbox names."""

from __future__ import annotations

import ssl

from services.core.errors import Temporary


class CaFileUnusable(Temporary):
    """The file of trusted certificates cannot be used; mail waits until it can."""


def tls_context(ca_file: str) -> ssl.SSLContext:
    """Certificates are checked, and the name in them; what `ca_file` holds is trusted in addition to the system's own.

    Raises `CaFileUnusable`.
    """
    context = ssl.create_default_context()
    if ca_file:
        try:
            context.load_verify_locations(cafile=ca_file)
        except OSError as error:  # ssl.SSLError is one
            what = "holds no certificate in PEM" if isinstance(error, ssl.SSLError) else str(error.strerror)
            raise CaFileUnusable(f"ca_file: {ca_file}: {what}") from error
    return context
