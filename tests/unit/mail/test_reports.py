"""read_report: bounces, complaints, receipts and automatic replies of many makers, and what is none of these."""

from __future__ import annotations

import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.mail.mime import read_mail
from services.mail.reports import Report, read_report
from services.mail.reports.bounces import failures, read_status
from services.mail.reports.report import enhanced_code, severity
from tests.benchmarks import mail_judging
from tests.support.corpora import corpus

RETURNED = """Return-Path: <support@shop.example>
Received: from a by b
Message-ID: <ours@shop.example>
From: support@shop.example
To: gone@customer.example
Subject: Re: Order 4711
"""


def report(raw: str | bytes) -> Report | None:
    """The report that a raw mail is."""
    data = raw.encode() if isinstance(raw, str) else raw
    return read_report(read_mail(data), data)


def plain(body: str, subject: str = "failure notice", sender: str = "MAILER-DAEMON@mx.example", extra: str = "") -> str:
    """A plain-text mail to support."""
    return f"From: {sender}\nTo: support@shop.example\nSubject: {subject}\n{extra}\n{body}"


def dsn(groups: str, mta: str = "Reporting-MTA: dns; mx.customer.example", returned: str = RETURNED) -> str:
    """A delivery status notification as RFC 3464 has it."""
    return (
        "From: MAILER-DAEMON@mx.customer.example\nTo: support@shop.example\nSubject: Undelivered\nMIME-Version: 1.0\n"
        'Content-Type: multipart/report; report-type=delivery-status; boundary="b"\n\n'
        f"--b\n\nIt failed.\n--b\nContent-Type: message/delivery-status\n\n{mta}\n\n{groups}\n"
        f"--b\nContent-Type: message/rfc822\n\n{returned}\nHello\n--b--\n"
    )


def test_standard_notification() -> None:
    """Kind, recipient, status, diagnostic, original Message-ID and reporting MTA are read from RFC 3464's fields."""
    found = report(
        dsn(
            "Final-Recipient: rfc822; gone@customer.example\nAction: failed\nStatus: 5.1.1\n"
            "Diagnostic-Code: smtp; 550 5.1.1 No such user\n here"
        )
    )
    assert found
    assert (found.kind, found.severity, found.addresses, found.status) == (
        "bounce",
        "hard",
        ("gone@customer.example",),
        "5.1.1",
    )
    assert found.diagnostic == "550 5.1.1 No such user here"
    assert found.original_message_id == "ours@shop.example"
    assert found.reporting_mta == "mx.customer.example"


def test_a_null_byte_in_a_notification_reaches_no_field() -> None:
    """Postgres stores no null character, so a notification that holds one would be a mail that cannot be read."""
    found = report(
        dsn("Final-Recipient: rfc822; go\0ne@customer.example\nStatus: 5.1.1\nDiagnostic-Code: smtp; 550\0 gone\0")
    )
    assert found
    assert "\0" not in repr(dataclasses.asdict(found)).replace("\\x00", "\0")
    assert found.diagnostic.startswith("550")


def test_several_recipients_each_with_its_own_fate() -> None:
    """Delivered recipients are left out; the worst of the others is the report's severity."""
    found = report(
        dsn(
            "Final-Recipient: rfc822; a@x.example\nAction: delayed\nStatus: 4.4.1\n\n"
            "Final-Recipient: rfc822; b@x.example\nAction: relayed\nStatus: 2.0.0\n\n"
            "Original-Recipient: rfc822; c@x.example\nFinal-Recipient: rfc822; c@y.example\nAction: failed\nStatus: 5.2.2"
        )
    )
    assert found
    assert [(r.address, r.severity) for r in found.recipients] == [("a@x.example", "delayed"), ("c@y.example", "soft")]
    assert found.severity == "soft"


def test_groups_without_blank_lines() -> None:
    """A recipient field seen again begins a new group, blank line or not."""
    found = report(
        dsn(
            "Final-Recipient: <a@x.example>\nAction: failed\nStatus: 5.1.1\n"
            "Final-Recipient: b@x.example\nAction: failed\nStatus: 5.1.1"
        )
    )
    assert found
    assert found.addresses == ("a@x.example", "b@x.example")


def test_success_is_a_receipt() -> None:
    """A report that says delivered is no bounce."""
    found = report(dsn("Final-Recipient: rfc822; a@x.example\nAction: delivered\nStatus: 2.0.0"))
    assert found
    assert (found.kind, found.recipients) == ("receipt", ())


PLAIN_BOUNCES = {
    "qmail": "Hi. This is the qmail-send program at mx.example.\nI'm afraid I wasn't able to deliver your message to the "
    "following addresses.\n\n<gone@customer.example>:\n1.2.3.4 does not like recipient.\nRemote host said: 550 5.1.1 no such "
    f"user\n\n--- Below this line is a copy of the message.\n\n{RETURNED}",
    "exim": "A message that you sent could not be delivered to one or more of its\nrecipients. This is a permanent error. "
    "The following address(es) failed:\n\n  gone@customer.example\n    SMTP error from remote mail server after RCPT TO:"
    "<gone@customer.example>:\n    550 5.1.1 unknown user\n\n------ This is a copy of the message, including all the "
    f"headers. ------\n\n{RETURNED}",
    "old sendmail": "   ----- Transcript of session follows -----\n550 <gone@customer.example>... User unknown\n\n"
    f"   ----- Unsent message follows -----\n{RETURNED}",
    "exchange": "Your message\n\n  To:      gone@customer.example\n  Subject: Order\n\ndid not reach the following "
    "recipient(s):\n\ngone@customer.example on Thu, 29 Apr 2010\n    The recipient name is not recognized\n",
    "courier": "UNDELIVERABLE MAIL\n\nYour message to the following recipients cannot be delivered:\n\n"
    "<gone@customer.example>:\n    mx.customer.example [192.0.2.1]:\n>>> RCPT TO:<gone@customer.example>\n"
    "<<< 550 5.1.1 User unknown\n",
    "mailmarshal": "Your message:\n   From:    support@shop.example\n   Subject: Order\nCould not be delivered because of\n\n"
    "550 5.1.1 User unknown\n\nThe following recipients were affected:\n    gone@customer.example\n",
    "german": "Ihre Nachricht konnte nicht zugestellt werden.\n\n<gone@customer.example>\n\nDas Postfach existiert nicht.\n",
    "full-width brackets": "抱歉，您的邮件被退回来了。\n收件人 gone@customer.example\n"
    "退信原因：收件人邮件地址（gone@customer.example）不存在，邮件无法送达。550 Mailbox not found\n",
    "japanese": "以下の宛先にメールを配信できませんでした。\n\n<gone@customer.example>\n\n宛先が存在しません。\n",
}


@pytest.mark.parametrize("maker", PLAIN_BOUNCES)
def test_plain_bounces(maker: str) -> None:
    """Makers that never read RFC 3464 are recognised and the failed address is found, and only it."""
    found = report(plain(PLAIN_BOUNCES[maker]))
    assert found
    assert (found.kind, found.addresses) == ("bounce", ("gone@customer.example",))


@pytest.mark.parametrize("maker", ["qmail", "exim", "old sendmail"])
def test_plain_bounces_name_the_returned_mail(maker: str) -> None:
    """The Message-ID comes from the returned headers in the text."""
    found = report(plain(PLAIN_BOUNCES[maker]))
    assert found
    assert (found.original_message_id, found.severity) == ("ours@shop.example", "hard")


INNOCENT = """Message-ID: <ours@shop.example>
From: support@shop.example
To: ann@customer.example, bob@customer.example
Subject: Order
"""


def test_a_report_names_only_whom_it_names() -> None:
    """Whom else the mail was addressed to has not failed, in the returned headers or in a copy of them in the text."""
    groupwise = (
        "The message that you sent was undeliverable to the following:\n\n\tgone@customer.example (user not found)\n\n"
        f"Possibly truncated original message follows:\n\n{INNOCENT}"
    )
    listed = f"Your message could not be delivered.\n\n  To: ann@customer.example, bob@customer.example\n\n{INNOCENT}"
    found, unnamed = report(plain(groupwise)), report(plain(listed))
    assert found
    assert found.addresses == ("gone@customer.example",)
    assert unnamed
    assert unnamed.addresses == ()


def test_the_only_addressee_is_who_failed() -> None:
    """Where a report names nobody, and the mail went to one address alone, that is the one."""
    found = report(plain(f"Your message could not be delivered.\n\n--- original message follows ---\n\n{RETURNED}"))
    assert found
    assert found.addresses == ("gone@customer.example",)


@pytest.mark.parametrize("label", ["smtp=", "SMTP=", "rfc822=", "rcpt=", ""])
def test_an_address_is_read_without_its_label(label: str) -> None:
    """`smtp=user@host` is the way of some gateways to write user@host, in the fields and in the text."""
    named = f"{label}gone@customer.example"
    for raw in (
        dsn(f"Final-Recipient: rfc822; {named}\nAction: failed\nStatus: 5.1.1"),
        plain(f"Your message could not be delivered to {named}: user unknown"),
    ):
        found = report(raw)
        assert found
        assert found.addresses == ("gone@customer.example",)


def test_an_address_that_begins_an_indented_line_is_who_failed() -> None:
    """Of addresses without a label, those that begin a line are meant, indented or listed; the others explain."""
    for lead in ("", "  ", "\t", "> ", " * ", "- "):
        told = f"{lead}gone@customer.example: 550 5.1.1 no such user, ask <desk@customer.example> at x.example\n"
        found = report(plain(f"Your message could not be delivered.\n\n{told}"))
        assert found
        assert (lead, found.addresses) == (lead, ("gone@customer.example",))


def test_a_message_id_is_no_recipient() -> None:
    """An id in a copy of the headers looks like an address, and nobody lives there."""
    copied = "Message-ID:<123.456@shop.example>\nDate:Fri, 12 Dec 2014 10:46:23 +0000\nTo:<gone@customer.example>\n"
    found = report(plain(f"It could not be delivered.\n\ngone@customer.example Invalid Address\n\n{copied}"))
    assert found
    assert found.addresses == ("gone@customer.example",)


def test_whom_we_wrote_to_is_known_behind_an_alias() -> None:
    """The final recipient failed, the original one is whom the mail was sent to: both names belong to one fate."""
    fields = (
        "Original-Recipient: rfc822; ann@customer.example\nFinal-Recipient: rfc822; a1@host.example\nAction: failed\n"
    )
    found = report(
        dsn(f"{fields}Status: 5.1.1\n\nFinal-Recipient: rfc822; bob@x.example\nAction: failed\nStatus: 4.2.2")
    )
    assert found
    assert found.addresses == ("a1@host.example", "bob@x.example")
    assert found.named == ("a1@host.example", "ann@customer.example", "bob@x.example")
    fates = [found.fate_of(one) for one in ("ANN@customer.example", "bob@x.example", "eve@x.example")]
    assert [one and one.severity for one in fates] == ["hard", "soft", None]


def test_failed_recipients_header() -> None:
    """X-Failed-Recipients names them, whatever the text says."""
    found = report(plain("Sorry.", extra="X-Failed-Recipients: a@x.example,\n b@x.example\n"))
    assert found
    assert found.addresses == ("a@x.example", "b@x.example")


def test_delay_is_no_failure() -> None:
    """A warning that a mail waits is `delayed`."""
    text = "Your message has been delayed and is still being retried.\n\n<gone@customer.example>: connection timed out"
    found = report(plain(text, "Warning: message delayed 4 hours"))
    assert found
    assert found.severity == "delayed"


def test_complaint() -> None:
    """An ARF report gives its type, the complaining address and our Message-ID."""
    found = report(
        "From: feedback@isp.example\nTo: abuse@shop.example\nSubject: FW: offer\nMIME-Version: 1.0\n"
        'Content-Type: multipart/report; report-type=feedback-report; boundary="b"\n\n--b\n\nThis is a report.\n'
        "--b\nContent-Type: message/feedback-report\n\nFeedback-Type: abuse\nUser-Agent: x/1\nVersion: 1\n"
        f"Original-Rcpt-To: gone@customer.example\n--b\nContent-Type: message/rfc822\n\n{RETURNED}\n--b--\n"
    )
    assert found
    assert (found.kind, found.diagnostic, found.addresses) == ("complaint", "abuse", ("gone@customer.example",))
    assert found.original_message_id == "ours@shop.example"


def test_unsubscribing_mail_program_is_a_complaint() -> None:
    """A mail program that unsubscribes for its reader means: no more mail."""
    found = report(plain("Unsubscribe me.", "unsubscribe", "ann@customer.example", "Auto-Submitted: auto-replied\n"))
    assert found
    assert found.kind == "complaint"


def test_read_receipt() -> None:
    """A disposition notification is a receipt and names the mail that was read."""
    found = report(
        "From: ann@customer.example\nTo: support@shop.example\nSubject: Read: Order\nMIME-Version: 1.0\n"
        'Content-Type: multipart/report; report-type=disposition-notification; boundary="b"\n\n--b\n\nRead.\n'
        "--b\nContent-Type: message/disposition-notification\n\nFinal-Recipient: rfc822;ann@customer.example\n"
        "Original-Message-ID: <ours@shop.example>\nDisposition: manual-action/MDN-sent-manually; displayed\n--b--\n"
    )
    assert found
    assert (found.kind, found.diagnostic, found.original_message_id) == ("receipt", "displayed", "ours@shop.example")


SES = """{"Type":"Notification","Message":"{\\"notificationType\\":\\"Bounce\\",\\"bounce\\":{\\"bounceType\\":\\"Permanent\\",
\\"bouncedRecipients\\":[{\\"emailAddress\\":\\"gone@customer.example\\",\\"status\\":\\"5.1.1\\",
\\"diagnosticCode\\":\\"smtp; 550 5.1.1 user unknown\\"}]},\\"mail\\":{\\"commonHeaders\\":{\\"messageId\\":\\"<ours@shop.example>\\"}}}"}"""


def test_ses_notice() -> None:
    """Amazon's JSON notice is a bounce like any other; JSON from somebody else is not."""
    found = report(plain(SES, "AWS Notification Message", "no-reply@sns.amazonaws.com"))
    assert found
    assert (found.kind, found.severity, found.addresses) == ("bounce", "hard", ("gone@customer.example",))
    assert found.original_message_id == "ours@shop.example"
    assert report(plain(SES, "Look at this", "ann@customer.example")) is None


@pytest.mark.parametrize(
    ("subject", "body"),
    [
        ("Order 4711", "Where is it?"),
        ("Fwd: failure notice", PLAIN_BOUNCES["qmail"]),
        ("Re: Undelivered Mail Returned to Sender", f"I got this:\n\n{PLAIN_BOUNCES['exim']}"),
        ("My mail came back", PLAIN_BOUNCES["qmail"]),
        ("Delivery status", "Has my parcel left? It should not be delivered before Monday."),
        ("Failed delivery", "The parcel could not be delivered, says the carrier. Order 550 of 5.1.2026."),
    ],
)
def test_people_who_write_about_deliveries(subject: str, body: str) -> None:
    """A customer who quotes or forwards a bounce, or writes of a parcel, is not a mail system."""
    found = report(plain(body, subject, "Ann Lee <ann@customer.example>"))
    assert found is None or found.kind != "bounce"


@pytest.mark.parametrize("sender", ["System Administrator <it@x.example>", "delivery@courier.example"])
def test_departments_are_no_mail_systems(sender: str) -> None:
    """A department named after administration or delivery may say that an account is disabled."""
    assert report(plain("My account is disabled and the address does not exist any more.", "Account", sender)) is None


def test_forwarded_notification_with_all_its_parts() -> None:
    """A person who forwards a whole notification as an attachment is not one."""
    attached = dsn("Final-Recipient: rfc822; gone@customer.example\nAction: failed\nStatus: 5.1.1")
    raw = (
        "From: Ann <ann@customer.example>\nTo: support@shop.example\nSubject: what is this\nMIME-Version: 1.0\n"
        f'Content-Type: multipart/mixed; boundary="o"\n\n--o\n\nWhat is this?\n--o\nContent-Type: message/rfc822\n\n{attached}\n--o--\n'
    )
    assert report(raw) is None


@pytest.mark.parametrize(
    ("status", "diagnostic", "action", "expected"),
    [
        ("5.1.1", "user unknown", "failed", "hard"),
        ("5.1.10", "", "failed", "hard"),
        ("5.2.1", "mailbox disabled", "failed", "hard"),
        ("5.2.2", "mailbox full", "failed", "soft"),
        ("5.7.1", "blocked by policy", "failed", "soft"),
        ("5.3.4", "message too big", "failed", "soft"),
        ("5.4.4", "host not found", "failed", "hard"),
        ("5.4.7", "expired", "failed", "soft"),
        ("4.2.2", "mailbox full", "failed", "soft"),
        ("4.4.1", "", "delayed", "delayed"),
        ("5.0.0", "no such user here", "failed", "hard"),
        ("5.0.0", "rejected as spam", "failed", "soft"),
        ("", "550 unknown user", "", "hard"),
        ("", "450 try again later", "", "soft"),
    ],
)
def test_severity(status: str, diagnostic: str, action: str, expected: str) -> None:
    """Only what says that a mailbox is gone for good is hard; it suppresses the address."""
    assert severity(status, diagnostic, action) == expected


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("550 5.1.1 no", "5.1.1"),
        ("5.0.0 then 5.2.2", "5.2.2"),
        ("2.0.0 ok", ""),
        ("host 10.5.1.1.9", ""),
        ("(#5.7.1)", "5.7.1"),
    ],
)
def test_enhanced_code(text: str, code: str) -> None:
    """A code is three numbers that begin with 4 or 5 and are no part of an IP address; the telling one wins."""
    assert enhanced_code(text) == code


HOSTILE = [
    "\n",
    "a",
    "a@",
    "<a@b ",
    "- ",
    "Received: x\n",
    "To: x\n",
    "user",
    "5.1.1 ",
    "> ",
    "a.",
    "(",
    "not deliver ",
]


@pytest.mark.parametrize("unit", HOSTILE)
def test_long_hostile_bodies_are_read(unit: str) -> None:
    """A hundred thousand characters of what a pattern begins with are read in the test's time."""
    assert report(plain(unit * (100_000 // len(unit)), "Undelivered")) is not None


@given(st.binary(max_size=400))
def test_any_bytes_are_read(data: bytes) -> None:
    """Nothing that arrives raises."""
    for raw in (
        data,
        b"From: mailer-daemon@x\nSubject: Undelivered\nContent-Type: multipart/report; boundary=b\n\n--b\n" + data,
    ):
        report(raw)


def test_corpus_targets() -> None:
    """On the corpus: bounces >= 98 %, their recipients >= 92 %, complaints and automatic replies all."""
    lines = mail_judging.measure_reports(corpus("bounces"))
    assert {line.name: line.met for line in lines} == dict.fromkeys((line.name for line in lines), True)
    assert len(lines) == 4


def test_reports_are_values() -> None:
    """Two readings of one mail are equal and cannot be changed."""
    raw = plain(PLAIN_BOUNCES["qmail"])
    found = report(raw)
    assert found == report(raw)
    with pytest.raises(dataclasses.FrozenInstanceError):
        found.kind = "receipt"  # type: ignore[misc, union-attr]


def test_a_name_that_looks_like_an_address_was_taken_for_the_one_that_failed() -> None:
    """A recipient field with a display name, against RFC 3464: the address in the angle brackets failed, no other."""
    field = 'Final-Recipient: rfc822; "innocent@good.example" <ann@customer.example>'
    part = read_status(f"Reporting-MTA: dns; mx.example\n\n{field}\nAction: failed\nStatus: 5.1.1\n")
    assert [one.address for one in failures(part)] == ["ann@customer.example"]
