"""The mail with an invitation: from the address that alerts are from, over the same server."""

from __future__ import annotations

from collections.abc import Callable

from services.alert_people.attempts import Message, mail, sender_of
from services.alert_people.channels import Channel
from services.core.app import App
from services.core.clock import random_id
from services.core.settings import AlertTarget
from services.mail.compose import ComposeRefused
from services.mail.smtp_dialogue import NotNow, OutcomeUnknown, SmtpRefused
from services.operations.users import User

SUBJECT = "Your invitation to Correspondent"
TEXT = """Hello %(name)s,

%(by)s invites you to the console of Correspondent, where mails of your customers are answered.

Open this link within %(days)s days, and choose a password:

%(link)s

It works once. If you do not expect this mail, leave it: nothing happens."""


async def send_invitation(app: App, user: User, link: str, days: int, say: Callable[[str], str] = str) -> str:
    """Send it; "" where the server took it, else why it did not, in words. `say` puts its texts into a language."""
    settings = app.settings
    if not settings.inboxes and not settings.alerts.sender:
        return "no inbox is set up, so there is no address to send from"
    text = say(TEXT) % {"name": user.name, "by": user.invited_by, "days": days, "link": link}
    message_id = f"invitation.{random_id()}@{sender_of(settings).rpartition('@')[2]}"
    channel = Channel(user.user_id, AlertTarget(mail=user.email))
    try:
        await mail(settings, channel, Message(message_id, app.now(), say(SUBJECT), text, frozenset({link})))
    except (NotNow, SmtpRefused, OutcomeUnknown, ComposeRefused, OSError) as error:
        return str(error) or type(error).__name__
    return ""
