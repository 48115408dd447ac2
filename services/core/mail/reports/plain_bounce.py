"""Bounces without a delivery-status part: qmail, Exim, old Sendmail, Exchange, Notes and many a provider.

Two kinds of evidence are asked for, so that a customer who writes about a bounce, or forwards one, is not one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from services.core.mail.message import ParsedMail
from services.core.mail.reports.bounce_wording import from_daemon, is_failure_subject, says_undelivered
from services.core.mail.reports.dsn import ADDRESS
from services.core.mail.reports.nouns import FailedRecipient
from services.core.mail.reports.parts import Leaf
from services.core.mail.reports.returned import original_to, returned_text, split_returned
from services.core.mail.reports.status import basic_code, enhanced_code, severity

_HEADERS = ("X-Failed-Recipients", "X-Failed-Recipient", "X-Actual-Recipient", "X-Postfix-Recipient")
_LEAD = re.compile(rf"^[\s>*•-]*<?({ADDRESS.pattern})>?\s*(?:[:;,(\[.]|\s|$)", re.M)
_DAEMON = re.compile(r"^(mailer-?daemon|postmaster|post_master|abuse|support|hostmaster|postfix|root)@", re.I)
_DELAYED = re.compile(
    r"\b(delayed|still being retried|will (keep|continue) (trying|to)|not yet|warning message only|"
    r"no action is required|do not need to resend)\b",
    re.I,
)
_FINAL = re.compile(r"permanent|given up|giving up|not going to try|failed|could not be delivered", re.I)


def is_bounce(mail: ParsedMail, parts: Sequence[Leaf]) -> bool:
    """Whether two of sender, subject, words and returned mail speak for a bounce; the sender counts most."""
    if any(mail.header(name) for name in _HEADERS[:2]):
        return True
    daemon, subject = from_daemon(mail), is_failure_subject(mail.subject)
    words = says_undelivered(_notice(parts)[:4000])
    returned = any(p.returned for p in parts) or bool(returned_text(parts))
    return (daemon and (subject or words)) or (subject and words and (returned or _has_code(parts)))


def _has_code(parts: Sequence[Leaf]) -> bool:
    notice = _notice(parts)
    return bool(enhanced_code(notice) or basic_code(notice))


def _notice(parts: Sequence[Leaf]) -> str:
    """What the mail system itself wrote: the texts up to where the returned mail begins."""
    texts = [split_returned(p.text)[0] for p in parts if p.content_type.startswith("text/") and not p.returned]
    return "\n".join(texts)


def recipients(mail: ParsedMail, parts: Sequence[Leaf]) -> tuple[FailedRecipient, ...]:
    """The failed addresses from the first place with any: a header, a line of its own, the text, the returned To."""
    notice = _notice(parts)
    ours = {a.key for a in (*mail.to, *mail.cc)}
    found = next((f for f in (_clean(source, ours) for source in _sources(mail, parts, notice)) if f), ())
    return tuple(_judged(address, notice) for address in found)


def _sources(mail: ParsedMail, parts: Sequence[Leaf], notice: str) -> Iterator[list[str]]:
    yield [x for name in _HEADERS for value in mail.all(name) for x in ADDRESS.findall(value)]
    yield _LEAD.findall(notice)
    yield re.findall(rf"<({ADDRESS.pattern})>", notice)
    yield ADDRESS.findall(notice)
    yield ADDRESS.findall(original_to(returned_text(parts)))


def _clean(addresses: list[str], ours: set[str]) -> tuple[str, ...]:
    """Each address once, without those of mail systems and of whom the bounce was sent to."""
    seen: dict[str, str] = {}
    for address in addresses:
        key = address.casefold()
        if key not in ours and not _DAEMON.match(address) and "." in address.rpartition("@")[2]:
            seen.setdefault(key, address)
    return tuple(seen.values())


def _judged(address: str, notice: str) -> FailedRecipient:
    """What the notice says after an address, up to the next paragraph but one."""
    at = notice.casefold().find(address.casefold())
    near = notice[at : at + 600] if at >= 0 else notice[:2000]
    diagnostic = " ".join(near.split()) if _informative(near) else " ".join(notice[:2000].split())
    status = enhanced_code(diagnostic)
    delayed = bool(_DELAYED.search(notice)) and not _FINAL.search(notice)
    return FailedRecipient(
        address, status, diagnostic[:500], severity(status, diagnostic, "delayed" if delayed else "")
    )


def _informative(text: str) -> bool:
    return bool(enhanced_code(text) or basic_code(text) or says_undelivered(text))
