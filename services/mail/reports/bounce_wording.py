"""How mail systems word "it could not be delivered": senders, subjects and sentences, in many languages.

Only evidence, never a verdict: `plain_bounce` asks for two kinds of it together.
"""

from __future__ import annotations

import re

from services.mail.message import ParsedMail
from services.mail.reports.wording import find_wording, opens_with_wording

_DAEMON_LOCAL = re.compile(
    r"^(mailer[-_.]?daemon|post_?[-.]?master|mail[-_.]?daemon|mail(er)?[-_.]?(system|delivery|gateway|administrator|admin)|"
    r"mailerdaemon|symantec\S*|majordomo|mmdf|smtp[-_.]?(gateway|daemon|server)?|uucp|bounces?[-+=_.].*|bounces?|"
    r"no-?reply-?bounce\S*|microsoftexchange[0-9a-f]*|mail\.?marshal|qmail(-send)?|double-?bounce)$",
    re.I,
)
_DAEMON_NAME = re.compile(
    r"mail(er)? (delivery|transport) (sub ?)?(system|agent|service)|mailer.?daemon|mail daemon|postmaster|"
    r"mail delivery|système de messagerie|delivery (notification|subsystem|status)|microsoft (outlook|exchange)|"
    r"e-?mail (system|service|router)|mailserver|自動送信|メール配送",
    re.I,
)
_REPLY_PREFIX = re.compile(r"^\s{0,9}(re|fwd?|aw|wg|sv|antw|rv|tr|vs|odp|i|r)\s{0,9}(\[\d{1,9}\])?\s{0,9}:", re.I)


_RESERVED = re.compile(r"^(mailer-daemon|postmaster)$", re.I)


def is_daemon(address: str) -> bool:
    """Whether an address is one that only whoever runs its domain has (RFC 2142, RFC 5321 section 4.5.1)."""
    return bool(_RESERVED.match(address.rpartition("@")[0]))


def from_daemon(mail: ParsedMail) -> bool:
    """Whether the From (or Return-Path) is a mail system's: mailer-daemon, postmaster, a null path."""
    if mail.header("Return-Path").strip() in ("<>", "< >"):
        return True
    written = mail.from_ or mail.sender
    locals_ = [a.addr.rpartition("@")[0] or a.addr for a in written]
    sender = " ".join(mail.all("From")).strip()
    bare = re.sub(r'[<>"]', "", sender).partition("@")[0].strip()
    return (
        any(_DAEMON_LOCAL.match(x) for x in [*locals_, bare])
        or any(_DAEMON_NAME.search(a.name) for a in written)
        or bool(_DAEMON_NAME.search(sender.partition("<")[0]))
    )


def is_failure_subject(subject: str) -> bool:
    """Whether a subject is a delivery failure's own, not a person's answer to one or forward of one."""
    return not _REPLY_PREFIX.match(subject) and bool(opens_with_wording("bounce_subjects", subject))


def says_undelivered(text: str) -> bool:
    """Whether a text says, in the words of mail systems, that something was not delivered."""
    return bool(find_wording("bounce_sentences", text))
