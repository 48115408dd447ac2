"""Who is alerted when a person must act, and how."""

from __future__ import annotations

from collections.abc import Collection
from typing import Annotated, Self, get_args
from urllib.parse import urlsplit

from pydantic import Field, SecretStr, StringConstraints, field_validator, model_validator

from schemas.events.alerts import CallKind
from services.core.settings.group import Group
from services.core.standard_webhooks import secret_bytes
from services.mail.addresses import parse_address
from services.mail.mailbox import MailboxKey

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
