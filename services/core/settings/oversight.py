"""Where people come in: service levels, limits, approvals, incidents, and who is alerted."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from datetime import date
from typing import Annotated, Literal, Self, get_args
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import Field, SecretStr, StringConstraints, field_validator, model_validator

from schemas.events.alerts import CallKind
from schemas.events.replies import ApprovalLevel
from schemas.model_output import Intent
from services.core.mailbox import MailboxKey
from services.core.settings.group import Group
from services.core.standard_webhooks import secret_bytes
from services.mail.addresses import parse_address

Weekday = Literal["mon", "tue", "wed", "thu", "fri", "sat", "sun"]
Span = tuple[int, int]  # minutes since midnight on the clock on the wall, the end exclusive

WEEKDAYS: tuple[Weekday, ...] = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_SPAN = re.compile(r"(\d\d):(\d\d)\s*-\s*(\d\d):(\d\d)")


class OfficeHours(Group):
    """The hours in which deadlines run. By default every hour counts."""

    time_zone: str = Field("UTC", description="a name of the IANA database, such as 'Europe/Berlin'")
    hours: dict[Weekday, str] = Field(
        {}, description="{ mon = '09:00-12:00, 13:00-17:00', ... }; a day that is missing is closed; empty: every hour"
    )
    holidays: tuple[date, ...] = Field((), description="closed days, such as 2026-12-25")

    @field_validator("time_zone")
    @classmethod
    def _known(cls, name: str) -> str:
        try:
            ZoneInfo(name)
        except (ZoneInfoNotFoundError, ValueError, OSError) as error:
            raise ValueError(f"there is no time zone {name!r}; take a name such as 'Europe/Berlin'") from error
        return name

    @field_validator("hours")
    @classmethod
    def _readable(cls, hours: dict[Weekday, str]) -> dict[Weekday, str]:
        spans = [span for day, said in hours.items() for span in spans_of(day, said)]
        if hours and sum(end - begin for begin, end in spans) < 60:
            raise ValueError(
                "an office that is open for less than an hour a week keeps no deadline; leave the hours out"
            )
        return hours

    @property
    def zone(self) -> ZoneInfo:
        """The zone of the clock on the wall."""
        return ZoneInfo(self.time_zone)

    @property
    def week(self) -> Mapping[int, tuple[Span, ...]]:
        """The open spans of each weekday (Monday is 0), in order; none for a closed day."""
        return {number: spans_of(day, self.hours.get(day, "")) for number, day in enumerate(WEEKDAYS)}


def spans_of(day: str, said: str) -> tuple[Span, ...]:
    """'09:00-12:00, 13:00-17:00' as minutes; () for "". Raises `ValueError` for what is no time, or out of order."""
    spans: list[Span] = []
    for part in filter(None, (one.strip() for one in said.split(","))):
        found = _SPAN.fullmatch(part)
        if not found:
            raise ValueError(f"{day}: {part!r} is no span of hours; write '09:00-17:00'")
        numbers = [int(one) for one in found.groups()]
        begin, end = 60 * numbers[0] + numbers[1], 60 * numbers[2] + numbers[3]
        if max(numbers[1], numbers[3]) > 59 or end > 1440 or begin >= end:
            raise ValueError(f"{day}: {part!r} does not end later on the same day; write a night as two spans")
        if spans and begin < spans[-1][1]:
            raise ValueError(f"{day}: {part!r} begins before the span in front of it has ended")
        spans.append((begin, end))
    return tuple(spans)


class ServiceLevel(Group):
    """What is promised for one priority, in hours; 0 promises nothing, and nothing is breached."""

    first_response_hours: float = Field(0, ge=0, le=10_000)
    next_response_hours: float = Field(0, ge=0, le=10_000)
    resolution_hours: float = Field(0, ge=0, le=10_000, description="paused while we wait for the customer")


class ServiceLevels(Group):
    """What is promised, by the thread's priority."""

    low: ServiceLevel = ServiceLevel()
    normal: ServiceLevel = ServiceLevel()
    high: ServiceLevel = ServiceLevel()
    urgent: ServiceLevel = ServiceLevel()


# How much mail is answered.


class LimitSettings(Group):
    """How much mail the agent answers within an hour; what is over a limit goes to a human, with its name.

    Proven and unproven senders are counted apart: no mail in a customer's name uses up what is theirs.
    """

    sender_per_hour: int = Field(20, ge=1, description="mails of one proven mailbox; further ones go to a person")
    thread_per_hour: int = Field(10, ge=1, description="mails of one thread; further ones go to a person")
    company_per_hour: int = Field(200, ge=1, description="mails of all proven senders of one company; likewise")
    all_per_hour: int = Field(2000, ge=1, description="mails of all proven senders; further ones go to a person")
    same_words: int = Field(3, ge=1, description="mails of one sender with the same words; the next one is a loop")
    unproven_per_hour: int = Field(
        20, ge=0, description="mails of all unproven senders of one inbox together; further ones go to a person"
    )
    unproven_sender_per_hour: int = Field(3, ge=0, description="mails in the name of one address, unproven; likewise")
    unproven_replies_per_day: int = Field(
        1, ge=0, description="fixed replies to one address that is not proven; its further mails go to a person"
    )


# Which drafts wait for a person by their intent, and when approvals of an intent are earned.
UNEARNABLE = frozenset({"", "other"})  # intents of drafts of which nobody says what they are alike in


class IntentLevel(Group):
    """The approval level of the drafts of one intent. What a participant or a behaviour is given counts before it."""

    intent: Intent
    level: ApprovalLevel
    inbox: str = Field("", description="the name of the inbox; empty: every one")


class ApprovalSettings(Group):
    """Approval by intent, and earned approval: drafts under `review` that need no person any more."""

    intents: tuple[IntentLevel, ...] = Field(
        (), description="the first entry that matches inbox and intent counts, before `approval` of inbox and workspace"
    )
    earn: bool = Field(
        False, description="drafts whose intent people approved unchanged often enough leave without a person"
    )
    bound: float = Field(
        0.8, gt=0, lt=1, description="lower bound (Wilson, 95 %) of approvals unchanged that opens an intent"
    )
    over: int = Field(40, ge=5, le=400, description="of the last so many decisions on drafts of the intent")
    senders: int = Field(
        3,
        ge=1,
        le=100,
        description="of at least so many senders; one organization is one, people at public providers are each",
    )
    score: float = Field(0.7, ge=0, le=1, description="least score of a draft that leaves because it was earned")
    hold_floors: bool = Field(
        False, description="drafts that break a floor (risky topic, unsupported claim) wait under `auto`, too"
    )


# When the same trouble from several customers is an incident.


class IncidentSettings(Group):
    """When the same issue from several customers is an incident. An inbox may have its own numbers."""

    customers: int = Field(
        0, ge=0, le=1000, description="so many open one: 3, say; an organization counts once; 0: none is opened"
    )
    days: float = Field(2, gt=0, le=90, description="within which they report it, and for which a closed one is told")
    alike_from: float = Field(
        0.65,
        ge=0.3,
        le=1,
        description="nearness from which two issues that agree in numbers and names are one",
    )


# Who is alerted when a person must act, and how.
LEAST_SECRET_BYTES = 16
THREAD = "{thread_id}"
EVERYBODYS = tuple(one for one in get_args(CallKind) if one != "mentioned")  # a colleague who is named is told alone

Line = Annotated[str, StringConstraints(strip_whitespace=True, max_length=2000)]


class AlertTarget(Group):
    """One target of alerts: a mail address or a webhook."""

    mail: Line = Field("", description="an address of yours that the agent does not answer for")
    webhook: Line = Field("", description="an address that takes POST; or this, in place of `mail`")
    secret: SecretStr = Field(SecretStr(""), description="Standard Webhooks secret that the calls are signed with")
    about: tuple[CallKind, ...] = Field((), description=f"of {', '.join(get_args(CallKind))}; empty: all but mentioned")
    inboxes: tuple[str, ...] = Field((), description="whose threads; empty: those of every inbox")

    @field_validator("mail")
    @classmethod
    def _is_plain(cls, mail: str) -> str:
        return _plain(mail)

    @field_validator("secret")
    @classmethod
    def _is_long(cls, secret: SecretStr) -> SecretStr:
        said = secret.get_secret_value()
        try:
            size = len(secret_bytes(said))
        except ValueError:
            raise ValueError("after whsec_ there has to be base64") from None
        if said and size < LEAST_SECRET_BYTES:
            raise ValueError(f"a secret needs at least {LEAST_SECRET_BYTES} bytes")
        return secret

    @model_validator(mode="after")
    def _is_one(self) -> Self:
        if bool(self.mail) == bool(self.webhook):
            raise ValueError("an entry of alerts.to needs either `mail` or `webhook`")
        if self.webhook and not _is_web(self.webhook):
            raise ValueError("`webhook` has to be an http or https address without a user name in it")
        if self.webhook and not self.secret.get_secret_value():
            raise ValueError("a webhook needs a `secret`, so that its receiver can tell our calls from others'")
        return self

    def is_about(self, kind: CallKind) -> bool:
        """Whether this target is told of that, of some inbox."""
        return kind in (self.about or EVERYBODYS)

    def wants(self, kind: CallKind, inbox: str) -> bool:
        """Whether this target gets this alert."""
        return self.is_about(kind) and (not self.inboxes or inbox in self.inboxes)


class AlertSettings(Group):
    """Who is alerted when a human must act. Of what a customer wrote, an alert holds the subject alone."""

    to: tuple[AlertTarget, ...] = ()
    sender: Line = Field("", description="the sender of alert mails; by default the first inbox's address")
    link: Line = Field(
        "", description="where a person opens a thread: 'https://desk.example/{thread_id}'; else the console"
    )
    every_minutes: float = Field(15, ge=0, description="at most one mail or call per target in so many minutes")
    gather_s: float = Field(20, ge=0, description="how long the first one waits for others to go with it")
    warn_minutes: float = Field(30, ge=0, description="how long before a deadline it is near; 0: no warning")
    retry_days: float = Field(3, gt=0, description="how long a target that does not answer is tried again")
    timeout_s: float = Field(10, gt=0, le=30, description="how long a webhook may take")
    private_hosts: bool = Field(False, description="post to addresses that are not public too: a server of your own")

    @field_validator("sender")
    @classmethod
    def _is_plain(cls, sender: str) -> str:
        return _plain(sender)

    @field_validator("link")
    @classmethod
    def _leads_to_a_thread(cls, link: str) -> str:
        if link and (THREAD not in link or not _is_web(link.replace(THREAD, "1"))):
            raise ValueError(f"this has to be an http or https address in which {THREAD} stands")
        return link

    def wants(self, kind: CallKind) -> bool:
        """Whether anybody is alerted of this."""
        return any(one.is_about(kind) for one in self.to)

    @property
    def warns(self) -> bool:
        """Whether anybody is alerted that a deadline is near."""
        return self.warn_minutes > 0 and self.wants("deadline_near")

    def must_leave(self, own: Collection[MailboxKey], inbound: Collection[str]) -> None:
        """Raise `ValueError` where an alert could come back as a mail to answer.

        `own` are our inboxes' addresses, `inbound` the secrets of webhooks that let mail in.
        """
        ours = {one.undetailed for one in own}
        for one in self.to:
            if one.mail and MailboxKey(one.mail).undetailed in ours:
                raise ValueError(
                    f"alerts.to: {one.mail} is an inbox that the agent answers for, so an alert would come in as a "
                    "mail; name an address of your people"
                )
            if one.webhook and one.secret.get_secret_value() in inbound:
                raise ValueError("alerts.to: the secret of a webhook is one that lets mail in; give it its own")
        if any(one.mail for one in self.to) and not (self.sender or own):
            raise ValueError("alerts.sender: there is no inbox whose address alerts could be from; set one")


def _plain(address: str) -> str:
    """One address without a name, its domain as mail programs write it; "" for none."""
    if not address:
        return ""
    read = parse_address(address)
    if read is None or read.name:
        raise ValueError(f"{address!r} is not one plain address")
    return read.addr


def _is_web(address: str) -> bool:
    try:
        parts = urlsplit(address)
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and bool(parts.hostname) and "@" not in parts.netloc
