"""Bounces, in the form of RFC 3464 and in those of many that never read it; and the message that each gives back."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from services.mail.message import ParsedMail
from services.mail.report_tokens import HEADER
from services.mail.reports.bounce_wording import from_daemon, is_failure_subject, says_undelivered
from services.mail.reports.report import STATUS_TYPES, FailedRecipient, Leaf, basic_code, enhanced_code, severity

_HEADER = re.compile(r"^[>\s|]{0,8}([A-Za-z][A-Za-z0-9-]{1,40})[ \t]*:(?=\s)", re.M)
_MAIL_HEADERS = frozenset(
    [
        "received",
        "return-path",
        "from",
        "to",
        "subject",
        "date",
        "message-id",
        "mime-version",
        "content-type",
        "sender",
        "cc",
        "reply-to",
        "x-mailer",
        "dkim-signature",
        "x-received",
        "delivered-to",
        "content-transfer-encoding",
        "references",
        "in-reply-to",
        "domainkey-signature",
    ]
)
_TRACE = frozenset(("received", "return-path", "message-id", "dkim-signature", "mime-version", "delivered-to"))
_MARKER = re.compile(
    r"^[ \t>*#=|-]{0,80}("
    r"(below this line is|this is|here is|the following is|following is|a)? ?a? ?"
    r"(full |complete )?copy of (the|your|my)? ?"
    r"(original )?(message|mail|headers|first)"
    r"|((possibly )?truncated |the |your )?"
    r"(original|returned|unsent|undelivered|rejected|failed) (message|mail|e-?mail|text|content|body)"
    r"( (follows|headers?|body|text|below|header follows|content))?"
    r"|(the )?(text|headers?|body|first \d+ \w+) of (the |your )?(original )?(message|mail|e-?mail)"
    r"|(the )?header of the original message"
    r"|body of message generated response"
    r"|-{1,80} ?(weitergeleitete|ursprüngliche|returned|original) .*"
    r"|(message )?headers? follow(s)?"
    r")[ \t:.,>*#=|-]{0,80}(\([^()\n]{0,80}\))?[ \t:.>*#=|-]{0,80}$",
    re.I | re.M,
)
_MESSAGE_ID = re.compile(
    r"^[> \t|]{0,8}(?:X-)?(?:Original-)?Message-ID[ \t]{0,20}:[ \t]{0,20}(?:\n[ \t]{1,20})?"
    r"<?([^<>\s@]{1,250}@[^<>\s@]{1,250})>?[ \t]{0,20}$",
    re.I | re.M,
)
_REPORT_TOKEN = re.compile(
    rf"^[> \t|]{{0,8}}{HEADER}[ \t]{{0,20}}:[ \t]{{0,20}}([a-z2-7]{{16}})[ \t]{{0,20}}$", re.I | re.M
)
_ANY_ID = re.compile(r"(?:Message-ID|References|In-Reply-To)[ \t]{0,20}:[ \t]{0,20}<([^<>\s]{3,500})>", re.I)
_TO = re.compile(r"^[> \t|]{0,8}(?:X-)?To[ \t]*:[ \t]*(.+(?:\n[ \t]+\S.*)*)", re.I | re.M)


def split_returned(text: str) -> tuple[str, str]:
    """(what the mail system wrote, what it gave back): cut at a marker line or at a block of mail headers."""
    cuts = [len(text)]
    marker = next((m for m in _MARKER.finditer(text) if m.start() > 0), None)
    if marker:
        cuts.append(marker.start())
    block = _header_block(text)
    if block >= 0:
        cuts.append(block)
    cut = min(cuts)
    return text[:cut], text[cut:]


def _header_block(text: str) -> int:
    """Where three mail headers, one a trace header, stand within ten header lines; -1 for nowhere."""
    hits = [(m.start(), m.group(1).casefold()) for m in _HEADER.finditer(text)]
    for i, (start, name) in enumerate(hits):
        if name not in _MAIL_HEADERS:
            continue
        near = {n for at, n in hits[i : i + 10] if at - start < 3000} & _MAIL_HEADERS
        if len(near) >= 3 and near & _TRACE:
            return start
    return -1


def returned_text(parts: Sequence[Leaf]) -> str:
    """Everything of the original mail that the report gives back, machine parts first."""
    whole = [p.text for p in parts if p.returned]
    return "\n".join(whole + [split_returned(p.text)[1] for p in parts if p.content_type.startswith("text/")])


def original_message_id(text: str) -> str:
    """The Message-ID of the returned headers without angle brackets, or ""."""
    found = _MESSAGE_ID.search(text)
    return found.group(1) if found else ""


def report_token(text: str) -> str:
    """The report token of the returned headers, or ""."""
    found = _REPORT_TOKEN.search(text)
    return found.group(1) if found else ""


def message_ids(text: str) -> frozenset[str]:
    """Everything that stands as a Message-ID in a report, in lower case: it looks like an address and is none."""
    return frozenset(found.casefold() for found in _ANY_ID.findall(text))


def original_to(text: str) -> str:
    """The To header of the returned message, unfolded, or ""."""
    found = _TO.search(text)
    return re.sub(r"\s+", " ", found.group(1)) if found else ""


# Delivery status notifications as RFC 3464 has them, and as they come: groups merged, types and brackets left out.
_FIELD = re.compile(r"^([A-Za-z][A-Za-z0-9-]*)[ \t]*:[ \t]*(.*(?:\n[ \t]+\S.*)*)", re.M)
_RECIPIENT_FIELDS = ("final-recipient", "original-recipient", "x-actual-recipient")
_FAILURES = frozenset(("failed", "failure", "delayed", "expired", "error", ""))
_NONE = r"\s<>()\[\]:;,\"'|`@（）［］【】「」《》〈〉，、：；。"  # what stands around an address, in Han too
_ATOM = rf"[^{_NONE}]"
ADDRESS = re.compile(rf"(?<!{_ATOM}){_ATOM}{{1,128}}@(?:{_ATOM}{{0,253}}[^{_NONE}.])")
_LABEL = re.compile(r"^(?:smtp|rfc822|o?rcpt|rcpt-to|to|for|addr|address|recipient|e?mail|mailto|user)=", re.I)

MAX_DIAGNOSTIC_CHARS = 2000

Fields = dict[str, str]


@dataclass(frozen=True, slots=True)
class StatusPart:
    """A read delivery-status part: who reports, and one group of fields for each recipient."""

    reporting_mta: str
    groups: tuple[Fields, ...]


def addresses_in(text: str) -> list[str]:
    """The addresses of a text, in order; `smtp=ann@x.example` names ann."""
    return [_LABEL.sub("", one).strip(".") for one in ADDRESS.findall(text)]


def status_part(parts: Sequence[Leaf]) -> StatusPart | None:
    """The delivery-status part of a report, or None."""
    texts = [p.text for p in parts if p.content_type in STATUS_TYPES]
    return read_status("\n\n".join(texts)) if texts else None


def read_status(text: str) -> StatusPart:
    """The fields of a delivery-status text. A recipient field seen a second time begins a new group."""
    mta, groups, now = "", list[Fields](), Fields()
    for found in _FIELD.finditer(text):
        name, value = found.group(1).casefold(), re.sub(r"\s+", " ", found.group(2)).strip()
        if name == "reporting-mta":
            mta = mta or value.partition(";")[2].strip() or value
            continue
        if _begins_new_group(name, now):
            groups.append(now)
            now = Fields()
        now.setdefault(name, value)
    return StatusPart(mta, tuple(g for g in [*groups, now] if _tells_of_recipient(g)))


def _begins_new_group(name: str, now: Fields) -> bool:
    if name in ("final-recipient", "original-recipient"):
        return name in now or (name == "original-recipient" and "status" in now and "final-recipient" in now)
    return name == "action" and name in now


def _tells_of_recipient(group: Fields) -> bool:
    return any(name in group for name in (*_RECIPIENT_FIELDS, "action", "status", "diagnostic-code"))


def failures(part: StatusPart) -> tuple[FailedRecipient, ...]:
    """The failed or delayed recipients; those delivered, relayed or expanded are left out."""
    return tuple(_recipient(g) for g in part.groups if _action(g) in _FAILURES and address_of(g))


def is_failure(part: StatusPart) -> bool:
    """Whether any group says failed or delayed, or nothing at all (then the report itself is the failure)."""
    return not part.groups or any(_action(g) in _FAILURES for g in part.groups)


def _action(group: Fields) -> str:
    return group.get("action", "").casefold().partition(" ")[0].strip("();,")


def _recipient(group: Fields) -> FailedRecipient:
    said_in = group.get("diagnostic-code", "")[:MAX_DIAGNOSTIC_CHARS]
    diagnostic = said_in.partition(";")[2].strip() or said_in
    given = enhanced_code(group.get("status", ""))
    said = enhanced_code(diagnostic)
    status = said if said and (not given or given.endswith(".0.0")) else given
    fate = severity(status, diagnostic, _action(group))
    return FailedRecipient(
        address_of(group), status, diagnostic, fate, _address_in(group.get("original-recipient", ""))
    )


def address_of(group: Fields) -> str:
    """The address of a group, without its type; "" when none of its fields holds one."""
    return next((found for name in _RECIPIENT_FIELDS if (found := _address_in(group.get(name, "")))), "")


def _address_in(value: str) -> str:
    kind, separator, rest = value.partition(";")
    said = rest if separator and "@" not in kind else value
    return next(iter((*addresses_in(said.rpartition("<")[2]), *addresses_in(said))), "")


# Bounces without a delivery-status part: qmail, Exim, old Sendmail, Exchange, Notes and many a provider.
#
# Two kinds of evidence are asked for, so that a customer who writes about a bounce, or forwards one, is not one.
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
