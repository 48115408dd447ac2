"""One attempt to alert a channel: a mail, or a signed POST. What goes out is the same on every attempt, its id too."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Literal
from uuid import UUID

from services.alert_people.channels import Channel
from services.alert_people.digest import Told, payload, subject_of, text_of
from services.core.app import App
from services.core.errors import Permanent, Temporary
from services.core.mailbox import MailboxKey
from services.core.settings import AlertSettings, InboxSettings, Settings, SmtpSettings
from services.core.signed_post import Limits, NotPosted, post_signed
from services.mail.compose import Composed, dkim_sign, read_key
from services.mail.compose.body import Notice, compose_notice
from services.mail.imap import token_store
from services.mail.message import Address
from services.mail.smtp_dialogue import SmtpMessage, dialogue

NAME = "Correspondent"
AGENT = "correspondent (alerts)"
PRIVATE = "alerts.private_hosts"


class NotTaken(Temporary):
    """The webhook's address did not take the alert now."""


class WebhookGone(Permanent):
    """The webhook's address wants nothing more, ever (410)."""


@dataclass(frozen=True, slots=True)
class Message:
    """What a mail says, under which id and date."""

    message_id: str
    date: datetime
    subject: str
    text: str
    links: frozenset[str] = frozenset()


async def tell(app: App, channel: Channel, digest: Digest, threads: Sequence[Told]) -> str:
    """Send the digest; the server's answer. Raises what `mail` and `post` do."""
    if channel.target.mail:
        links = frozenset(one.link for one in threads if one.link)
        subject, text = subject_of(threads), text_of(threads)
        return await mail(app.settings, channel, Message(digest.message_id, digest.grouped_at, subject, text, links))
    body = payload(digest.digest_id, app.settings.workspace, digest.grouped_at, threads)
    return await post(app.settings, channel, str(digest.digest_id), app.now(), body)


async def mail(settings: Settings, channel: Channel, message: Message) -> str:
    """Send one mail. Raises `NotNow`, `SmtpRefused`, `OutcomeUnknown` or `ComposeRefused`."""
    async with dialogue(way_out(settings), smtp_message(settings, channel, message), token_store(settings)) as session:
        return await session.data()


def smtp_message(settings: Settings, channel: Channel, message: Message) -> SmtpMessage:
    """The finished mail, signed where the inbox that it is from has a key. Raises `ComposeRefused`."""
    composed = compose_notice(
        Notice(
            message_id=message.message_id,
            sender=Address(NAME, sender_of(settings)),
            recipient=channel.target.mail,
            subject=message.subject,
            text=message.text,
            date=message.date,
            links=message.links,
        )
    )
    signed = _signed(composed, _inbox(settings))
    return SmtpMessage(signed.envelope_from, signed.recipient, signed.raw)


def sender_of(settings: Settings) -> str:
    """Whom the mails are from."""
    return settings.alerts.sender or settings.inboxes[0].address


def way_out(settings: Settings) -> SmtpSettings:
    """The server that sends the mails: that of the inbox that they are from, else the deployment's."""
    inbox = _inbox(settings)
    return settings.smtp_of(inbox.name) if inbox else settings.smtp


async def post(settings: Settings, channel: Channel, webhook_id: str, now: datetime, body: bytes) -> str:
    """POST a signed body (Standard Webhooks 1.0). Raises `NotTaken`, or `WebhookGone`."""
    alerts = settings.alerts
    limits = Limits(alerts.timeout_s, "alerts.timeout_s", alerts.private_hosts, PRIVATE)
    secrets = [channel.target.secret.get_secret_value()]
    try:
        answer = await post_signed(channel.target.webhook, secrets, webhook_id, now, body, agent=AGENT, limits=limits)
    except NotPosted as error:
        raise NotTaken(str(error)) from error
    if answer.is_success:
        return answer.words
    if answer.is_redirect:
        raise NotTaken(f"answers {answer.words}, and a redirect is not followed: name the final address in alerts.to")
    if answer.is_gone:
        raise WebhookGone(f"answers {answer.words}")
    raise NotTaken(f"answers {answer.words}")


def _signed(composed: Composed, inbox: InboxSettings | None) -> Composed:
    return replace(composed, raw=dkim_sign(composed.raw, read_key(inbox.dkim))) if inbox and inbox.dkim else composed


def _inbox(settings: Settings) -> InboxSettings | None:
    sender = MailboxKey(sender_of(settings))
    return next((one for one in settings.inboxes if MailboxKey(one.address) == sender), None)


# When a channel is alerted next. Pure.
DigestState = Literal["grouped", "sent", "failed"]


@dataclass(frozen=True, slots=True)
class Digest:
    """The newest mail or call of a channel. `changed_at` is when it was last tried, by the wall clock."""

    digest_id: UUID
    state: DigestState
    attempt: int
    message_id: str
    grouped_at: datetime
    changed_at: datetime
    retry_at: datetime | None


def due(waiting_since: datetime | None, newest: Digest | None, settings: AlertSettings) -> datetime | None:
    """When the channel's timer is to fire; None where nothing waits.

    The first alert waits a moment for others; after that the channel has its pause, or until it is tried again.
    """
    if newest is not None and newest.state == "grouped":
        return newest.retry_at or newest.grouped_at
    if waiting_since is None:
        return None
    gathered = waiting_since + timedelta(seconds=settings.gather_s)
    if newest is None:
        return gathered
    return max(gathered, newest.changed_at + timedelta(minutes=settings.every_minutes))
