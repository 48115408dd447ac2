"""Attacks around the mail: forged reports that know a reply's id, mails within mails, machines, and proven neighbours.

A neighbour is proven, of the victim's own domain, and writes whatever makes a reader take them for the victim.
"""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Callable, Iterator

from tests.flow.scenario import AUTHSERV
from tests.security.attacks import EVIL, Arsenal, Victim
from tests.security.mails import RawMail, proven, results, signed, write

OURS = "ourcompany.example"
TEAM = f"team@{OURS}"  # the inbox whose replies go to colleagues on Cc too
MALLORY, MALLORY_STANDS = "mallory@{domain}", "{m}"
AR = "Authentication-Results: "


def neighbours(arsenal: Arsenal, victims: list[Victim]) -> None:
    """From by somebody of the same domain, whom the domain vouches for: the victim stands in it, and did not write it."""
    for number, (what, shape, clear) in enumerate(_NEIGHBOURS):
        victim = victims[number % len(victims)]
        local, domain = victim.address.split("@")
        mallory = MALLORY.format(domain=domain)
        shown = shape.format(
            v=victim.address, m=mallory, local=local, domain=domain, b64=b64encode(victim.address.encode()).decode(),
            q=victim.address.replace("@", "=40"),
        )  # fmt: skip
        above = (f"{AR}{results(domain)}",)
        arsenal.add("neighbour", what, victim,
                    lambda text, f=shown, a=above, v=victim: write(text, v.address, from_=f, above=a, reply_to=v.reply_id),
                    (mallory if MALLORY_STANDS in shape else shown) if clear else "")  # fmt: skip
    for number, line in enumerate(_BESIDE):
        victim = victims[number % len(victims)]
        mallory = MALLORY.format(domain=victim.address.partition("@")[2])
        beside = line.format(v=victim.address, id=victim.reply_id, first=victim.first.message_id)
        arsenal.add("neighbour", f"proven colleague, {line}", victim,
                    lambda text, m=mallory, b=beside: proven(text, m, headers=(b,)), mallory)  # fmt: skip
        arsenal.add("neighbour", f"to the team, {line}", victim,
                    lambda text, m=mallory, b=beside: proven(text, m, to=TEAM, headers=(b,)), mallory)  # fmt: skip
    for number, victim in enumerate(victims):
        arsenal.add("neighbour", f"Eve copies the victim {number}", victim,
                    lambda text, v=victim: proven(text, EVIL, to=f"{TEAM}, {v.address}"), EVIL)  # fmt: skip
        arsenal.add("neighbour", f"the victim's name copies Eve {number}", victim,
                    lambda text, v=victim: write(text, v.address, to=f"{TEAM}, {EVIL}", reply_to=v.reply_id))  # fmt: skip
        arsenal.add("neighbour", f"says what the victim said {number}", victim,
                    lambda text, v=victim: proven(f"I am {v.name}, as you know from {v.address}.\n{text}", EVIL,
                                                  subject=f"Our vault code, {v.name}", reply_to=v.reply_id), EVIL)  # fmt: skip


_NEIGHBOURS: tuple[tuple[str, str, bool], ...] = (
    ("name is the victim's address", '"{v}" <{m}>', True),
    ("bare name is the victim's address", "{v} <{m}>", False),
    ("encoded name", "=?utf-8?b?{b64}?= <{m}>", True),
    ("two encoded names", "=?utf-8?q?{q}?= =?utf-8?b?{b64}?= <{m}>", True),
    ("encoded bracket in the name", "=?utf-8?q?=3C{q}=3E?= <{m}>", True),
    ("encoded comma in the name", "=?utf-8?q?{q}=2C?= <{m}>", True),
    ("encoded line break in the name", "=?utf-8?q?x=0D=0AFrom=3A_{q}?= <{m}>", True),
    ("comment", "({v}) {m}", True),
    ("name with brackets", '"<{v}>" <{m}>', True),
    ("escaped quote", '"a\\" <{v}>" <{m}>', True),
    ("route", "<@{domain},@evil.example:{m}>", False),
    ("group", "{v}: {m};", False),
    ("group and address", "x: {v};, {m}", False),
    ("two in one field", "{m}, {v}", False),
    ("two, the other way", "{v}, {m}", False),
    ("glued", "{m}<{v}>", False),
    ("glued, the other way", "{v}<{m}>", False),
    ("percent", "{local}%{domain}@{domain}", True),
    ("quoted with the victim's", '"{v}"@{domain}', True),
    ("plus", "{local}+mallory@{domain}", True),
    ("dotted", "{local}.@{domain}", True),
    ("upper case name", "{v}\t<{m}>", False),
    ("NUL between", "{m}\x00{v}", False),
    ("vertical tab", "{m}\x0bFrom: {v}", False),
    ("next line", "{m}\x85From: {v}", False),
    ("line separator", "{m}\u2028From: {v}", False),
    ("bare CR", "{m}\rFrom: {v}", False),
    ("a very long local part", "{local}" + "a" * 300 + "@{domain}", True),
    ("invisible letter", "{local}\u2060@{domain}", True),
    ("bracket in bracket", "<{m}<{v}>>", False),
    ("unclosed", "<{v}\r\n <{m}>", False),
    ("semicolon", "{m};{v}", False),
)
_BESIDE = (
    "Sender: {v}",
    "Reply-To: {v}",
    "Cc: {v}",
    "Resent-From: {v}",
    "Resent-Sender: {v}",
    "X-Sender: {v}",
    "Original-From: {v}",
    "X-Google-Original-From: {v}",
    "Return-Path: <{v}>",
    "Mail-Followup-To: {v}",
    "In-Reply-To: <{id}>",
    "References: <{first}> <{id}>",
    "In-Reply-To: {v}'s message of Monday <{id}>",
    "Thread-Topic: The vault",
    "From\u200b: {v}",
)


def reports(arsenal: Arsenal, victims: list[Victim]) -> None:
    """Bounces, complaints and receipts of somebody who knows the Message-ID of our reply, and no more of it."""
    for number, victim in enumerate(victims):
        domain = victim.address.partition("@")[2]
        for what, made in _reports(victim, domain):
            arsenal.add("report", f"{what} {number}", victim, made)


def _reports(victim: Victim, domain: str) -> Iterator[tuple[str, Callable[[str], RawMail]]]:
    id, address = victim.reply_id, victim.address
    daemon = f"mailer-daemon@{domain}"
    returned = f"Message-ID: <{id}>\nFrom: support@{OURS}\nTo: {address}\nSubject: Re: The vault\n"
    failed = (
        f"Reporting-MTA: dns; mx.{domain}\n\nFinal-Recipient: rfc822; {address}\nAction: failed\nStatus: 5.1.1\n"
        "Diagnostic-Code: smtp; 550 5.1.1 "
    )
    feedback = f"Feedback-Type: abuse\nUser-Agent: x/1\nVersion: 1\nOriginal-Rcpt-To: {address}\n"

    def report(text: str, author: str, fields: str, type_: str, *, proof: str = "", extra: str = "") -> RawMail:
        body = (
            f"--b\nContent-Type: text/plain\n\n{text}\n--b\nContent-Type: message/{type_}\n\n"
            f"{fields}{text.splitlines()[0]}\n\n--b\nContent-Type: text/rfc822-headers\n\n{extra}{returned}\n--b--\n"
        )
        kind = f'multipart/report; report-type={type_}; boundary="b"'
        above = (f"{AR}{results(proof)}",) if proof else ()
        return write(body, author, kind=kind, above=above, subject="Undelivered Mail Returned to Sender")

    yield "bounce", lambda text: report(text, daemon, failed, "delivery-status")
    yield (
        "bounce of Eve's server",
        lambda text: report(text, "mailer-daemon@evil.example", failed, "delivery-status", proof="evil.example"),
    )
    yield (
        "bounce of a host below",
        lambda text: report(text, f"mailer-daemon@mx.{domain}", failed, "delivery-status", proof=f"mx.{domain}"),
    )
    yield (
        "bounce of a colleague",
        lambda text: report(text, f"mallory@{domain}", failed, "delivery-status", proof=domain),
    )
    yield (
        "bounce of a named colleague",
        lambda text: report(text, f"Mailer-Daemon <postmaster.m@{domain}>", failed, "delivery-status", proof=domain),
    )
    yield (
        "bounce with a made up token",
        lambda text: report(text, daemon, failed, "delivery-status", extra="X-Report-Token: aaaaaaaaaaaaaaaa\n"),
    )
    yield (
        "bounce with the token of the id",
        lambda text: report(
            text, daemon, failed, "delivery-status", extra=f"X-Report-Token: {id.split('.')[1][:16]}\n"
        ),
    )
    yield "delay", lambda text: report(text, daemon, failed.replace("failed", "delayed"), "delivery-status")
    yield "complaint", lambda text: report(text, f"abuse@{domain}", feedback, "feedback-report")
    yield "complaint of Eve", lambda text: report(text, EVIL, feedback, "feedback-report", proof="evil.example")
    yield "receipt", lambda text: report(text, address, f"Final-Recipient: rfc822; {address}\nDisposition: manual-action/MDN-sent-manually; deleted\n", "disposition-notification")  # fmt: skip
    yield "qmail's", lambda text: write(
        f"Hi. This is the qmail-send program at {domain}.\nI'm afraid I wasn't able to deliver your message.\n\n"
        f"<{address}>:\n550 5.1.1 no such user {text.splitlines()[0]}\n\n--- Below this line is a copy of the message.\n\n{returned}",
        daemon, subject="failure notice",
    )  # fmt: skip
    yield "failed recipients in a header", lambda text: write(
        f"550 5.1.1 no such user\n{text}\n\n------ This is a copy of the message ------\n\n{returned}", daemon,
        headers=(f"X-Failed-Recipients: {address}",), subject="Mail delivery failed: returning message to sender",
    )  # fmt: skip
    yield "SES", lambda text: write(
        json.dumps({
            "notificationType": "Bounce", "mail": {"commonHeaders": {"messageId": f"<{id}>"}},
            "bounce": {"bounceType": "Permanent", "bouncedRecipients": [{"emailAddress": address, "status": "5.1.1",
                       "diagnosticCode": text.splitlines()[0]}]},
        }), "no-reply@sns.amazonaws.com",
    )  # fmt: skip
    yield (
        "unsubscribe by itself",
        lambda text: write(
            f"{text}\n{returned}",
            address,
            subject="unsubscribe",
            reply_to=id,
            headers=("Auto-Submitted: auto-generated",),
        ),
    )
    yield "out of office", lambda text: write(text, address, subject="Automatic reply: The vault", reply_to=id)


def wrapped(arsenal: Arsenal, victims: list[Victim]) -> None:
    """The victim's mail, or what looks like it, within a mail of Eve's, a list's or nobody's."""
    for number, victim in enumerate(victims):
        for what, made, proves in _wrapped(victim):
            arsenal.add("wrapped", f"{what} {number}", victim, made, proves)


def _wrapped(victim: Victim) -> Iterator[tuple[str, Callable[[str], RawMail], str]]:
    address, id = victim.address, victim.reply_id
    domain = address.partition("@")[2]
    good = f"{AR}{results(domain)}"
    inner = f"{good}\nFrom: {address}\nTo: support@{OURS}\nSubject: The vault\nMessage-ID: <in@{domain}>\nIn-Reply-To: <{id}>\n\n"

    def part(type_: str, text: str) -> str:
        return f"--b\nContent-Type: {type_}\n\n{text}\n--b--\n"

    def eve(text: str, **parts: object) -> RawMail:
        return proven(text, EVIL, **parts)

    mixed = 'multipart/mixed; boundary="b"'
    yield "a mail as the whole body", lambda text: eve(inner + text, kind="message/rfc822"), EVIL
    yield "a mail as the whole body, unproven", lambda text: write(inner + text, address, kind="message/rfc822"), ""
    yield "a mail in a part", lambda text: eve(part("message/rfc822", inner + text), kind=mixed), EVIL
    yield "a digest", lambda text: eve(f"--b\n\n{inner}{text}\n--b--\n", kind='multipart/digest; boundary="b"'), EVIL
    yield "a mail in a mail", lambda text: eve(part("message/rfc822", f"From: {EVIL}\nContent-Type: message/rfc822\n\n{inner}{text}"), kind=mixed), EVIL  # fmt: skip
    yield "global mail", lambda text: eve(part("message/global", inner + text), kind=mixed), EVIL
    yield "a partial mail", lambda text: eve(inner + text, kind='message/partial; number=1; total=1; id="x"'), EVIL
    yield "forwarded inline", lambda text: eve(f"---------- Forwarded message ----------\nFrom: {address}\nTo: support@{OURS}\nSubject: x\n\n{text}"), EVIL  # fmt: skip
    yield "a list", lambda text: eve(text, headers=(f"X-Original-From: {address}", "List-Id: <x.evil.example>", f"Reply-To: {address}")), EVIL  # fmt: skip
    yield "resent", lambda text: write(text, address, headers=(f"Resent-From: {EVIL}", f"Resent-To: support@{OURS}"), above=(f"{AR}{results('evil.example')}",)), ""  # fmt: skip
    yield "a seal of Eve's", lambda text: write(text, address, headers=(
        "ARC-Seal: i=1; a=rsa-sha256; cv=none; d=evil.example; s=s1; b=AAAA", f"ARC-Authentication-Results: i=1; {AUTHSERV}; dmarc=pass header.from={domain}",
        "ARC-Message-Signature: i=1; a=rsa-sha256; d=evil.example; s=s1; h=from; bh=AAAA; b=AAAA")), ""  # fmt: skip
    yield "an invitation's answer", lambda text: write(
        "BEGIN:VCALENDAR\nMETHOD:REPLY\nBEGIN:VEVENT\nATTENDEE;PARTSTAT=ACCEPTED:mailto:" + address + "\nDESCRIPTION:"
        + text.replace("\n", "\\n") + "\nEND:VEVENT\nEND:VCALENDAR", address, kind="text/calendar; method=REPLY", reply_to=id), ""  # fmt: skip
    yield "a white line among the headers", lambda text: write(text, EVIL, above=(f"{AR}{results('evil.example')}", f"X-A: b\r\n \r\nFrom: {address}")), ""  # fmt: skip
    yield "no headers at all", lambda text: RawMail(f"\r\n{inner}{text}".replace("\r\n", "\n").replace("\n", "\r\n").encode(), "none", address), ""  # fmt: skip
    yield "Reply-To twice", lambda text: eve(text, headers=(f"Reply-To: {address}", f"Reply-To: {EVIL}")), ""
    yield (
        "In-Reply-To twice",
        lambda text: eve(text, headers=(f"In-Reply-To: <{id}>", "In-Reply-To: <x@y.example>")),
        "",
    )
    yield "Content-Type twice", lambda text: eve(text, headers=('Content-Type: multipart/mixed; boundary="b"',)), ""
    yield "orders in a file's name", lambda text: eve(
        f"--b\nContent-Type: text/plain\n\nHello.\n--b\nContent-Type: text/plain\nContent-Disposition: attachment; "
        f"filename*0*=utf-8''{_percent(text[:150])}; filename*1*={_percent(text[150:300])}\n\n{text}\n--b--\n", kind=mixed), EVIL  # fmt: skip
    yield "orders in the subject", lambda text: eve("Hello.", subject=text.replace("\n", " ")[:900]), EVIL
    yield "orders in the subject, unproven", lambda text: write("Hello.", address, subject=text.replace("\n", " ")[:900], reply_to=id), ""  # fmt: skip
    yield "orders in the name", lambda text: write("Hello.", address, from_=f'"{text.splitlines()[0]}" <{address}>', reply_to=id), ""  # fmt: skip
    yield "signed by Eve in two parts", lambda text: signed(text, EVIL, headers=(f"Sender: {address}", f"Cc: {address}")), EVIL  # fmt: skip
    yield "a signature file of the victim", lambda text: eve(f"Hello.\n\n-- \n{victim.name}\n{address}\n{text}"), EVIL
    yield "quote of our reply", lambda text: eve(f"Yes.\n\nOn Monday, support@{OURS} wrote:\n> Dear {victim.name},\n" + "\n".join(f"> {one}" for one in text.split("\n")), reply_to=id), EVIL  # fmt: skip
    yield "asks for a person in the victim's name", lambda text: write(f"Human!\n{text}", address, reply_to=id), ""
    yield "disowned, asks for a person", lambda text: write(f"Human!\n{text}", address, reply_to=id, above=(f"{AR}{results(domain, 'fail')}",)), ""  # fmt: skip


def _percent(text: str) -> str:
    return "".join(f"%{byte:02X}" for byte in text.encode())
