"""What of our own side no colleague wrote."""

from __future__ import annotations

from uuid import UUID

import pytest

from schemas.events.mail import Identity
from services.core.mailbox import MailboxKey, alert_message_id
from services.core.settings import InboxSettings
from services.mail.mime import read_mail
from services.mail.reports import read_report
from services.read_email.by_hand import answered_by_itself, of_ours, sent_by_machine
from services.read_email.contents import Reading
from tests.support.letters import letter

OWN = frozenset({MailboxKey("support@ourcompany.example"), MailboxKey("notifications@ourcompany.example")})
GRACE = "Grace <grace@ourcompany.example>"
INBOX = InboxSettings(name="support", address="support@ourcompany.example", colleagues=("*@ourcompany.example",))
ALERT = f"<{alert_message_id(UUID(int=7), 'ourcompany.example')}>"


def read(text: str = "It left today.", **parts: str) -> Reading:
    """A proven mail to the customer."""
    made = {"sender": GRACE, "to": "john@acme.example", "message_id": "<g1@laptop.local>", **parts}
    raw = letter(text, **made)  # type: ignore[arg-type]
    mail = read_mail(raw)
    return Reading(
        mail, raw, mail.message_id, "0" * 64, Identity(level="verified", method="dmarc"), read_report(mail, raw)
    )


@pytest.mark.parametrize(
    "parts",
    [
        {"message_id": ALERT},
        {"Auto_Submitted": "auto-replied"},
        {"Auto_Submitted": "auto-replied (vacation)", "in_reply_to": "<q1@acme.example>"},
        {"X_Autoreply": "yes", "in_reply_to": "<q1@acme.example>"},
        {"sender": "Mail Delivery System <MAILER-DAEMON@ourcompany.example>", "subject": "Undelivered Mail Returned to Sender",
         "text": "This is the mail system. I'm sorry to have to inform you that your message could not\n"
         "be delivered to one or more recipients.\n\n<john@acme.example>: host mx said: 550 5.1.1 user unknown"},
    ],
)  # fmt: skip
def test_what_answers_by_itself_was_written_by_nobody(parts: dict[str, str]) -> None:
    """An alert of ours, a report and a program's reply are no colleague's words, whoever stands in From."""
    one = read(**parts)
    assert answered_by_itself(one)
    assert sent_by_machine(one, OWN, None)
    assert not of_ours(one, INBOX, OWN, None)


@pytest.mark.parametrize(
    ("parts", "envelope"),
    [
        ({"Auto_Submitted": "auto-generated"}, None),
        ({}, ""),
        ({"sender": "noreply@ourcompany.example"}, None),
        ({"Sender": "cron@ourcompany.example"}, None),
    ],
)
def test_a_copy_that_a_program_made_is_no_colleagues(parts: dict[str, str], envelope: str | None) -> None:
    """What was generated, has a null return path or comes from nobody's address takes no thread from the agent."""
    one = read(**parts)
    assert not answered_by_itself(one), "in the Sent folder it may be a help desk's, with a person's words"
    assert sent_by_machine(one, OWN, envelope)
    assert not of_ours(one, INBOX, OWN, envelope)


@pytest.mark.parametrize(
    ("parts", "envelope"),
    [
        ({}, None),
        ({"in_reply_to": "<q1@acme.example>"}, "grace@ourcompany.example"),
        ({"Auto_Submitted": "no"}, None),
        ({"X_Auto_Response_Suppress": "All"}, None),
        ({"sender": "notifications@ourcompany.example"}, None),
        ({"text": "I am out of office until Monday and will have limited access to my email."}, None),
    ],
)
def test_what_a_colleague_typed_is_theirs(parts: dict[str, str], envelope: str | None) -> None:
    """Words alone, and an inbox of ours by whatever name, are no machine's."""
    one = read(**parts)
    assert not sent_by_machine(one, OWN, envelope)
    assert of_ours(one, INBOX, OWN, envelope)
