"""From a mail of the demo to the bytes that arrive: plain mails, automatic ones, and bounces (RFC 3464).

Pure and deterministic: boundaries and ids come from the mail. What we sent ourselves is known only at run time
and comes in as `SentReply`.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from email.message import EmailMessage, Message
from email.mime.multipart import MIMEMultipart
from email.mime.nonmultipart import MIMENonMultipart
from email.mime.text import MIMEText
from email.policy import SMTP
from email.utils import format_datetime

from services.demo.world.seals import Seal
from services.mail.report_tokens import HEADER


@dataclass(frozen=True, slots=True)
class SentReply:
    """A mail of ours as it really went out, known only at run time. Ids are without angle brackets."""

    message_id: str
    references: tuple[str, ...]
    subject: str
    text: str
    sent_at: datetime
    report_token: str = ""


@dataclass(frozen=True, slots=True)
class DemoMail:
    """What a sender writes. `seal` None: unsigned. `bounce_of` names the address that could not be reached."""

    sender: str  # as it stands in From
    to: str
    subject: str
    date: datetime
    message_id: str
    text: str
    seal: Seal | None = None
    headers: tuple[tuple[str, str], ...] = ()
    earlier: str = ""  # the writer's own earlier Message-ID in this thread
    bounce_of: str = ""


def written(mail: DemoMail, ours: SentReply | None) -> bytes:
    """The mail as bytes with CRLF lines, below our reply where there is one, signed where it has a seal."""
    message = _bounce(mail, ours) if mail.bounce_of else _plain(mail, ours)
    raw = message.as_bytes(policy=SMTP)
    return mail.seal.sealed(raw) if mail.seal else raw


def _plain(mail: DemoMail, ours: SentReply | None) -> EmailMessage:
    message = EmailMessage(policy=SMTP)
    _address(message, mail)
    chain = _references(mail, ours)
    if chain:
        message["In-Reply-To"] = f"<{chain[-1]}>"
        message["References"] = " ".join(f"<{one}>" for one in chain)
    message.set_content(mail.text + _quoted(ours))
    return message


def _address(message: Message, mail: DemoMail) -> None:
    message["From"] = mail.sender
    message["To"] = mail.to
    message["Subject"] = mail.subject
    message["Date"] = format_datetime(mail.date)
    message["Message-ID"] = f"<{mail.message_id}>"
    for name, value in mail.headers:
        message[name] = value


def _references(mail: DemoMail, ours: SentReply | None) -> tuple[str, ...]:
    if ours:
        return (*ours.references, ours.message_id)
    return (mail.earlier,) if mail.earlier else ()


def _quoted(ours: SentReply | None) -> str:
    if not ours:
        return ""
    lines = "\n".join(f"> {line}".rstrip() for line in ours.text.splitlines())
    return f"\nOn {ours.sent_at:%a, %d %b %Y at %H:%M}, Support wrote:\n{lines}\n"


def _bounce(mail: DemoMail, ours: SentReply | None) -> MIMEMultipart:
    report = MIMEMultipart("report", boundary="=_report", policy=SMTP)
    report.set_param("report-type", "delivery-status")
    _address(report, mail)
    report.attach(MIMEText(mail.text, "plain", "us-ascii", policy=SMTP))
    report.attach(_delivery_status(mail.bounce_of))
    returned = MIMENonMultipart("text", "rfc822-headers", policy=SMTP)
    headers = f"Message-ID: <{ours.message_id}>\r\nSubject: {ours.subject}\r\n" if ours else ""
    headers += f"{HEADER}: {ours.report_token}\r\n" if ours else ""
    returned.set_payload(f"{headers}To: {mail.bounce_of}\r\n")
    report.attach(returned)
    return report


def _delivery_status(address: str) -> Message:
    about_mta, about_recipient = Message(policy=SMTP), Message(policy=SMTP)
    about_mta["Reporting-MTA"] = f"dns; mx.{address.rpartition('@')[2]}"
    about_recipient["Final-Recipient"] = f"rfc822; {address}"
    about_recipient["Action"] = "failed"
    about_recipient["Status"] = "5.1.1"
    about_recipient["Diagnostic-Code"] = "smtp; 550 5.1.1 User unknown"
    status = MIMENonMultipart("message", "delivery-status", policy=SMTP)
    status.set_payload([about_mta, about_recipient])
    return status
