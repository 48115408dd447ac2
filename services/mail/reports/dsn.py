"""Delivery status notifications as RFC 3464 has them, and as they come: groups merged, types and brackets left out."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from services.mail.reports.report import STATUS_TYPES, FailedRecipient, Leaf
from services.mail.reports.status import enhanced_code, severity

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
