"""What proves a bounce or complaint: that it is about a mail of ours, and no forgery that wants an address suppressed.

Everybody who saw an answer to a mail of ours has its Message-ID, so that says which mail is meant and proves nothing.
"""

from __future__ import annotations

from services.mail.mailbox import MailboxKey
from services.mail.report_tokens import is_report_token
from services.mail.reports import is_daemon
from services.mail.tokens import Keyring
from services.read_email.contents import Reading
from services.read_email.evidence import OurReply


def is_proven(reading: Reading, about: OurReply, keyring: Keyring, workspace: str) -> bool:
    """Whether the report gives the mail's token back, or a proven sender speaks for the address that it went to.

    A token that copies carried too proves nothing: each of those who got one could have another suppressed.
    """
    if reading.report is None:
        return False
    alone = not about.cc
    return (alone and is_report_token(keyring, reading.report.token, workspace, about.reply_id)) or _speaks_for(
        reading, MailboxKey(about.recipient or "")
    )


def _speaks_for(reading: Reading, recipient: MailboxKey) -> bool:
    """Whether the proven author is the recipient, or the mail system of exactly the recipient's domain.

    A colleague of the recipient is not, nor is a host below the domain: a customer of a provider may have either.
    """
    author = reading.mail.author
    if author is None or not reading.identity.trusted or not recipient:
        return False
    return author.key == recipient or (author.key.domain == recipient.domain and is_daemon(author.addr))
