"""IMAP as every part of the deployment uses it (RFC 9051, RFC 3501): a client, the way in, and the Sent folder.

Blocking, for a thread. Raises `IMAP4.error`, `OSError`, or what IMAPClient says of an answer that makes no sense.
"""

from services.mail.imap.entry import Client, enter, login
from services.mail.imap.oauth import TokenMissing, TokenRefused, TokenStore, access_token, token_store
from services.mail.imap.sent import SENT_ROLE, NoSentFolder, keep_copy, sent_folder, was_sent

__all__ = [
    "SENT_ROLE", "Client", "NoSentFolder", "TokenMissing", "TokenRefused", "TokenStore", "access_token", "enter",
    "keep_copy", "login", "sent_folder", "token_store", "was_sent",
]  # fmt: skip
