"""Bounces without a delivery-status part: qmail, Exim, old Sendmail, Exchange, Notes and many a provider.

Two kinds of evidence are asked for, so that a customer who writes about a bounce, or forwards one, is not one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from services.mail.message import ParsedMail
from services.mail.reports.bounce_wording import from_daemon, is_failure_subject, says_undelivered
from services.mail.reports.dsn import ADDRESS, addresses_in
from services.mail.reports.report import FailedRecipient, Leaf
from services.mail.reports.returned import message_ids, original_to, returned_text, split_returned
from services.mail.reports.status import basic_code, enhanced_code, severity

NOTICE_CHARS = 4000
_HEADERS = ("X-Failed-Recipients", "X-Failed-Recipient", "X-Actual-Recipient", "X-Postfix-Recipient")
_LABELLED = re.compile(
    r"^[ \t>*]{0,20}(?:final-recipient|original-recipient|x-actual-recipient|"
    r"(?:failed |intended )?recipient(?: address)?|"
    rf"rcpt to|delivery failed|undeliverable to)[ \t]{{0,20}}[:=]?[ \t]{{0,20}}"
    rf"(?:rfc822[ \t]{{0,9}};[ \t]{{0,9}})?<?({ADDRESS.pattern})",
    re.I | re.M,
)
_LEAD = re.compile(rf"^[ \t>*•-]{{0,20}}<?({ADDRESS.pattern})>?[ \t]{{0,20}}(?:[:;,(\[.]|\s|$)", re.M)
_ADDRESSED = re.compile(
    r"^[ \t>*|]{0,20}(?:to|cc|bcc|from|sender|reply-to|subject|date|an|von|de|da|a|à|para|til|till|för|do|od|от|кому|"
    r"宛先|差出人|收件人|发件人)"
    r"[ \t]{0,5}[:：](?:.{0,2000})$",
    re.I | re.M,
)
_BRACKETED = re.compile(rf"<({ADDRESS.pattern})>")
_DAEMON = re.compile(r"^(mailer-?daemon|postmaster|post_master|abuse|support|hostmaster|postfix|root)@", re.I)
_DELAYED = re.compile(
    r"\b(delayed|still being retried|will (keep|continue) (trying|to)|not yet|warning message only|"
    r"no action is required|do not need to resend)\b",
    re.I,
)
_SMTP_REPLY = re.compile(r"\b[45]\d\d[ -]+#?[45]\.\d\.\d{1,3}\b|\(#[45]\.\d\.\d\)|\bsmtp;|said: ?[45]\d\d")
_FINAL = re.compile(r"permanent|given up|giving up|not going to try|failed|could not be delivered", re.I)


def may_be_bounce(mail: ParsedMail) -> bool:
    """What the headers alone can say: a mail for which this is False is no bounce, whatever its body says."""
    return has_failed_header(mail) or from_daemon(mail) or is_failure_subject(mail.subject)


def has_failed_header(mail: ParsedMail) -> bool:
    """Whether the headers name failed recipients."""
    return any(mail.header(name) for name in _HEADERS[:2])


def is_bounce(mail: ParsedMail, parts: Sequence[Leaf]) -> bool:
    """Whether two of sender, subject, words and returned mail speak for a bounce; the sender counts most."""
    if has_failed_header(mail):
        return True
    daemon, subject = from_daemon(mail), is_failure_subject(mail.subject)
    if daemon and subject:
        return True
    notice = notice_of(parts)
    if not (daemon or subject) or not says_undelivered(notice[:NOTICE_CHARS]):
        return False
    return daemon or bool(returned_text(parts)) or bool(_SMTP_REPLY.search(notice))


def notice_of(parts: Sequence[Leaf]) -> str:
    """What the mail system itself wrote: the texts up to where the returned mail begins."""
    return "\n".join(split_returned(p.text)[0] for p in parts if p.content_type.startswith("text/") and not p.returned)


def recipients(mail: ParsedMail, parts: Sequence[Leaf]) -> tuple[FailedRecipient, ...]:
    """The failed addresses, from the first place that names any: the surest places first."""
    notice = notice_of(parts)
    found = next((f for f in _named(mail, parts, notice) if f), ())
    return tuple(_judged(address, notice) for address in found)


def explained(failed: Sequence[FailedRecipient], parts: Sequence[Leaf]) -> tuple[FailedRecipient, ...]:
    """Recipients of a status part that gives no reason, with the reason that the notice gives in words."""
    if all(r.diagnostic for r in failed):
        return tuple(failed)
    notice = notice_of(parts)
    return tuple(r if r.diagnostic else _with_reason(r, _judged(r.address, notice)) for r in failed)


def _with_reason(told: FailedRecipient, worded: FailedRecipient) -> FailedRecipient:
    vague = not told.status or told.status.endswith(".0.0")
    if told.severity == "delayed" or not vague:
        return replace(told, diagnostic=worded.diagnostic)
    return worded if worded.status else replace(worded, status=told.status)


def _named(mail: ParsedMail, parts: Sequence[Leaf], notice: str) -> Iterator[tuple[str, ...]]:
    """Addresses by place: a header, a label, a line of their own, brackets, anywhere, the one returned To.

    Whoever got the bounce, the mail systems themselves, ids, and whoever else the mail was addressed to are left out
    where a place does not say what it names: of several people in To any may be well.
    """
    yield _once([x for name in _HEADERS for value in mail.all(name) for x in addresses_in(value)])
    yield _once([x for p in parts for found in _LABELLED.findall(p.text) for x in addresses_in(found)])
    ours = {a.key for a in (*mail.to, *mail.cc)} | message_ids("\n".join(p.text for p in parts))
    said = _ADDRESSED.sub("", notice)
    loose = [_joined(_LEAD.findall(said)), _joined(_BRACKETED.findall(said)), addresses_in(said)]
    loose.append(_only(addresses_in(original_to(returned_text(parts))) or addresses_in(notice)))
    for addresses in loose:
        yield _once([x for x in addresses if x.casefold() not in ours and not _DAEMON.match(x)])
    for addresses in (loose[1], loose[3]):
        yield _once(addresses)


def _joined(found: list[str]) -> list[str]:
    return [address for one in found for address in addresses_in(one)]


def _only(addresses: list[str]) -> list[str]:
    """One address is the one that failed; of several nobody knows."""
    return addresses if len({x.casefold() for x in addresses}) == 1 else []


def _once(addresses: list[str]) -> tuple[str, ...]:
    """Each address once, whatever its case; a host's half is none."""
    first = {address.casefold(): address for address in reversed(addresses)}
    return tuple(a for a in dict.fromkeys(first[x.casefold()] for x in addresses) if "." in a.rpartition("@")[2])


def _judged(address: str, notice: str) -> FailedRecipient:
    """What the notice says after an address, up to the next paragraph but one."""
    at = notice.casefold().find(address.casefold())
    near = notice[at : at + 600] if at >= 0 else ""
    telling = near if _informative(near) else notice[:2000]
    diagnostic = " ".join(telling.split())
    status = enhanced_code(diagnostic)
    action = "delayed" if _DELAYED.search(notice) and not _FINAL.search(notice) else ""
    return FailedRecipient(address, status, diagnostic[:500], severity(status, diagnostic, action))


def _informative(text: str) -> bool:
    return bool(enhanced_code(text) or basic_code(text) or says_undelivered(text))
