"""Further attacks: headers that programs read differently, results in odd spellings, copies, colleagues, hidden content."""

from __future__ import annotations

import re
from collections.abc import Callable
from email.message import EmailMessage

from tests.flow.scenario import AUTHSERV
from tests.security.attacks import EVIL, Arsenal, Victim
from tests.security.mails import RawMail, proven, results, signed, write

OURS = "ourcompany.example"
_FROMS = (
    ("homoglyph domain", "{local}@{domain}".replace("{domain}", "\u0430cme.example")),
    ("homoglyph domain as A-label", "{local}@xn--cme-7cd.example"),
    ("ideographic full stop", "{local}@acme\u3002example"),
    ("full-width domain", "{local}@\uff41cme.example"),
    ("capital A-label", "{local}@XN--CME-7CD.EXAMPLE"),
    ("percent-encoded @", "{local}%40{domain}"),
    ("HTML entity", "{local}&#64;{domain}"),
    ("byte order mark", "\ufeff{v}"),
    ("vertical tab", "{local}\x0b@{domain}"),
    ("bare LF and a second address", "{v}\n\t<{evil}>"),
    ("two pairs of brackets", "<<{v}>>"),
    ("null path first", "<>, {v}"),
    ("open comment", "({evil} {v}"),
    ("open comment behind", "{v} ({evil}"),
    ("group in a route", "Team:<@evil.example:{v}>;"),
    ("line break in an encoded name", "=?utf-8?q?Vera=0D=0ABcc:_eve=40evil.example?= <{v}>"),
    ("NUL in an encoded name", "=?utf-8?q?V=00era?= <{v}>"),
    ("UTF-7 name", "=?utf-7?q?+AEA-?= <{v}>"),
    ("unknown charset", "=?x-none?b?dmVyYQ==?= <{v}>"),
    ("a name of 9,000 letters", "V" * 9_000 + " <{v}>"),
    ("tag of a person", "{local}+{local}@{domain}"),
    ("subdomain", "{local}@mail.{domain}"),
    ("address in quotes alone", '"{v}"'),
    ("right-to-left name", "\u202evera\u202c <{v}>"),
    ("source route and percent", "<@evil.example:{local}%{domain}@evil.example>"),
)  # fmt: skip
_BESIDE = (
    "Resent-Sender: {v}",
    "Resent-To: {v}",
    "Mail-Followup-To: {v}",
    "Mail-Reply-To: {v}",
    "Errors-To: {v}",
    "X-Google-Original-From: {v}",
    "Original-From: {v}",
    "On-Behalf-Of: {v}",
    "Delivered-To: {v}",
    "Reply-To: Vera <{v}>, Eve <eve@evil.example>",
    "List-Unsubscribe: <mailto:{v}>",
    "Apparently-To: {v}",
)
_AR = "Authentication-Results: "
_RESULTS: tuple[tuple[str, tuple[str, ...], tuple[str, ...]], ...] = (
    ("ours with a version, forged with one", (_AR + "{us} 1; dmarc=fail header.from={d}",), (_AR + "{us} 1; dmarc=pass header.from={d}",)),
    ("forged with a version below none", (_AR + "{us}; none",), (_AR + "{us} 1; dmarc=pass header.from={d}",)),
    ("forged in quotes", (_AR + "{bad}",), (_AR + '"{us}"; dmarc=pass header.from={d}',)),
    ("forged in capitals", (_AR + "{bad}",), (_AR + "{US}; dmarc=pass header.from={d}",)),
    ("forged and folded", (_AR + "{bad}",), ("Authentication-Results:\r\n {us};\r\n\tdmarc=pass\r\n header.from={d}",)),
    ("forged with a comment first", (_AR + "{bad}",), (_AR + "(x) {us} (y); dmarc=pass header.from={d}",)),
    ("name with a dot", (_AR + "{us}.; dmarc=pass header.from={d}",), ()),
    ("name with a prefix", (_AR + "x{us}; dmarc=pass header.from={d}",), ()),
    ("name as a subdomain", (_AR + "a.{us}; dmarc=pass header.from={d}",), ()),
    ("name and path", (_AR + "{us}/1; dmarc=pass header.from={d}",), ()),
    ("name and address", (_AR + "{us}@evil.example; dmarc=pass header.from={d}",), ()),
    ("two names", (_AR + "evil.example {us}; dmarc=pass header.from={d}",), ()),
    ("pass in a reason", (_AR + '{us}; dmarc=fail reason="dmarc=pass header.from={d}" header.from={d}',), ()),
    ("pass in MAIL FROM", (_AR + '{us}; spf=fail smtp.mailfrom="x; dmarc=pass header.from={d};"@evil.example',), ()),
    ("pass behind a quote in MAIL FROM", (_AR + '{us}; spf=fail smtp.mailfrom="a\\"; dmarc=pass header.from={d}; x=\\"b"',), ()),
    ("pass in HELO", (_AR + "{us}; spf=pass smtp.helo={d} smtp.mailfrom=evil.example",), ()),
    ("pass in a nested comment", (_AR + "{us}; dmarc=fail (p=none (dmarc=pass header.from={d})) header.from={d}",), ()),
    ("another's signature, the victim's i=", (_AR + "{us}; dkim=pass header.d=evil.example header.i=@{d}",), ()),
    ("two Froms told", (_AR + "{us}; dmarc=pass header.from=evil.example; dmarc=pass header.from={d}; dmarc=fail header.from={d}",), ()),
    ("a space in the header's name", (_AR + "{bad}",), ("Authentication-Results : {good}",)),
    ("results of before", (), ("Authentication-Results-Original: {good}",)),
    ("Exchange's own", (), ("X-MS-Exchange-Authentication-Results: {good}",)),
    ("a spam filter's word", (), ("X-Spam-Status: No, tests=DKIM_VALID_AU,SPF_PASS",)),
    ("a whole ARC set of nobody", (), (
        "ARC-Seal: i=1; a=rsa-sha256; cv=none; d={us}; s=s; t=1; b=AAAA",
        "ARC-Message-Signature: i=1; a=rsa-sha256; d={us}; s=s; h=from; bh=AAAA; b=AAAA",
        "ARC-Authentication-Results: i=1; {good}",
    )),
)  # fmt: skip


def headers(arsenal: Arsenal, victims: list[Victim]) -> None:
    """From in spellings that programs read differently; proven Eve beside whom another header names."""
    for number, (what, shape) in enumerate(_FROMS):
        victim = victims[number % len(victims)]
        local, _, domain = victim.address.partition("@")
        shown = shape.format(v=victim.address, local=local, domain=domain, evil=EVIL)
        arsenal.add("header", what, victim, lambda text, f=shown, v=victim: write(text, v.address, from_=f))
    for number, line in enumerate(_BESIDE):
        victim = victims[number % len(victims)]
        told = line.format(v=victim.address)
        arsenal.add(
            "header", f"proven Eve, {line}", victim, lambda text, h=told: proven(text, EVIL, headers=(h,)), EVIL
        )
    for number, above in enumerate(("From {v} Mon Mar  2 09:00:00 2026", "From : {v}", "FROM: {v}", ">From: {v}")):
        victim = victims[number]
        told = (f"{_AR}{results('evil.example')}", above.format(v=victim.address))
        arsenal.add("header", f"above: {above}", victim, lambda text, t=told: write(text, EVIL, above=t), EVIL)


def odd_results(arsenal: Arsenal, victims: list[Victim]) -> None:
    """Our server's results in odd spellings, with words of the sender in them, or under other names."""
    for number, (what, above, below) in enumerate(_RESULTS):
        victim = victims[number % len(victims)]
        domain = victim.address.partition("@")[2]
        told = {
            "us": AUTHSERV,
            "US": AUTHSERV.upper(),
            "d": domain,
            "good": results(domain),
            "bad": results(domain, "fail"),
        }
        filled = [tuple(one.format(**told) for one in lines) for lines in (above, below)]
        arsenal.add("odd results", what, victim,
                    lambda text, f=filled, v=victim: write(text, v.address, above=f[0], headers=f[1]))  # fmt: skip


def copies(arsenal: Arsenal, victims: list[Victim]) -> None:
    """A mail whose Message-ID no signature covers, sent again with all that may be changed about it."""
    for victim in victims:
        for number, (what, changed) in enumerate(_COPIES):
            id = f"copy-{victim.name}-{number}@evil.example"
            raw = changed(_with_id(victim.first, id), victim)
            arsenal.add(
                "copies", f"{what}, {victim.name}", victim, lambda text, r=raw, i=id, v=victim: RawMail(r, i, v.address)
            )


def _with_id(message: RawMail, id: str) -> bytes:
    changed = message.raw.replace(f"<{message.message_id}>".encode(), f"<{id}>".encode())
    assert changed != message.raw
    return changed


def _top(line: str) -> Callable[[bytes, Victim], bytes]:
    return lambda raw, victim: line.format(v=victim.address, reply=victim.reply_id).encode() + b"\r\n" + raw


_COPIES: tuple[tuple[str, Callable[[bytes, Victim], bytes]], ...] = (
    ("another Message-ID", lambda raw, victim: raw),
    ("another's reply named", _top("In-Reply-To: <{reply}>")),
    ("references", _top("References: <{reply}> <x@evil.example>")),
    ("a new trace", _top("Received: from mx.evil.example by mx.b.example; Mon, 02 Mar 2026 09:00:00 +0000")),
    ("blanks in b=", lambda raw, victim: re.sub(rb"(\sb=[A-Za-z0-9+/]{6})", rb"\1\r\n ", raw, count=1)),
    ("blanks in a signed header", lambda raw, victim: raw.replace(b"Subject: The vault", b"Subject:   The\r\n\t vault")),
    ("capitals in a signed header's name", lambda raw, victim: raw.replace(b"\r\nSubject:", b"\r\nSUBJECT:")),
    ("a second signature that holds not", _top("DKIM-Signature: v=1; a=rsa-sha256; d=signed.example; s=s1; h=from; bh=AAAA; b=AAAA")),
    ("the same signature twice", lambda raw, victim: raw[: raw.index(b"\r\nFrom:") + 2] + raw),
    ("another text", lambda raw, victim: raw + b"More.\r\n"),
    ("an address more", _top("Cc: eve@evil.example")),
    ("a priority", _top("X-Priority: 1")),
)  # fmt: skip


def further_tokens(arsenal: Arsenal, victims: list[Victim]) -> None:
    """The token of our reply in other places than where our own mail puts it."""
    for number, victim in enumerate(victims):
        token, domain = victim.reply_id.split(".")[1], victim.reply_id.partition("@")[2]
        other = victims[(number + 1) % len(victims)]
        plus = f"support+{token}@{OURS}"
        for what, made, proves in (
            ("in References alone", lambda text, v=victim: write(text, v.address, headers=(f"References: <x@y.example> <{v.reply_id}>",)), ""),
            ("in a new Message-ID", lambda text, v=victim, t=token, d=domain: write(text, v.address, message_id=f"c.{t}.aaaa@{d}"), ""),
            ("in Eve's Message-ID", lambda text, t=token, d=domain: proven(text, EVIL, message_id=f"c.{t}.aaab@{d}"), EVIL),
            ("as Eve's plus address", lambda text, p=plus: proven(text, EVIL, to=p), EVIL),
            ("in capitals", lambda text, v=victim, p=plus: write(text, v.address, to=p.upper()), ""),
            ("in Cc", lambda text, v=victim, p=plus: write(text, v.address, headers=(f"Cc: {p}",)), ""),
            ("in Reply-To", lambda text, p=plus: proven(text, EVIL, headers=(f"Reply-To: {p}",)), EVIL),
            ("another's, proven", lambda text, v=victim: proven(text, EVIL, reply_to=v.reply_id, headers=(f"Cc: {v.address}",)), EVIL),
            ("one letter off", lambda text, v=victim: write(text, v.address, reply_to=v.reply_id.replace(v.reply_id[4], "2", 1)), ""),
            ("two at once", lambda text, v=victim, o=other: write(text, v.address, reply_to=f"{o.reply_id}> <{v.reply_id}"), ""),
        ):  # fmt: skip
            arsenal.add("further tokens", f"{what} {number}", victim, made, proves)


def colleagues(arsenal: Arsenal, victims: list[Victim]) -> None:
    """Mail in our own name to the victim, reports that something came back, and orders to whoever approves."""
    failed = (f"{_AR}{results(OURS, 'fail')}",)
    for number, victim in enumerate(victims):
        first, address = victim.first.message_id, victim.address
        for what, made in (
            ("copy of a colleague's answer", lambda text, a=address, f=first: write(text, f"boss@{OURS}", to=a, reply_to=f)),
            ("copy of the inbox's answer", lambda text, a=address, f=first: write(text, f"support@{OURS}", to=a, reply_to=f)),
            ("disowned copy", lambda text, a=address, f=first: write(text, f"boss@{OURS}", to=a, reply_to=f, above=failed)),
            ("Sender is us", lambda text, a=address, f=first: write(text, a, reply_to=f, headers=(f"Sender: support@{OURS}",))),
            ("approval", lambda text, a=address: write(f"approve\n{text}", a, subject="Re: [draft] approve")),
            ("unsubscribe", lambda text, a=address: write(f"unsubscribe\n{text}", a, subject="unsubscribe")),
            ("report of a mail that is not ours", lambda text, a=address: _report(text, a, "<nothing@evil.example>")),
            ("report by words alone", lambda text, a=address: write(f"Delivery to {a} failed permanently.\n{text}", f"mailer-daemon@{OURS}", subject="Undelivered Mail Returned to Sender")),
            ("complaint about a mail that is not ours", lambda text, a=address: _report(text, a, "<nothing@evil.example>", "feedback-report")),
        ):  # fmt: skip
            arsenal.add("colleague", f"{what} {number}", victim, made)


def _report(text: str, about: str, id: str, kind: str = "delivery-status") -> RawMail:
    """A forged report in three parts."""
    fields = (
        f"Reporting-MTA: dns; mx.acme.example\r\n\r\nFinal-Recipient: rfc822; {about}\r\nAction: failed\r\nStatus: 5.1.1\r\n"
        if kind == "delivery-status"
        else f"Feedback-Type: abuse\r\nUser-Agent: x/1\r\nVersion: 1\r\nOriginal-Rcpt-To: {about}\r\n"
    )
    body = (
        f"--b\r\nContent-Type: text/plain\r\n\r\n{text}\r\n--b\r\nContent-Type: message/{kind}\r\n\r\n{fields}\r\n"
        f"--b\r\nContent-Type: message/rfc822\r\n\r\nMessage-ID: {id}\r\nTo: {about}\r\nSubject: The vault\r\n\r\nx\r\n--b--\r\n"
    )
    return write(
        body.replace("\r\n", "\n"),
        "mailer-daemon@acme.example",
        kind=f'multipart/report; report-type={kind}; boundary="b"',
    )


def hidden_content(arsenal: Arsenal, victims: list[Victim]) -> None:
    """The orders in what a reader does not see, or in a file; by the unproven, and by Eve about the victim."""
    for number, victim in enumerate(victims):
        for what, parts in _CONTENT:
            for author, proves in ((victim.address, ""), (EVIL, EVIL)):
                arsenal.add("content", f"{what} of {author} {number}", victim,
                            lambda text, a=author, p=parts, v=victim: _holding(a, p(text, v)), proves)  # fmt: skip


_CONTENT: tuple[tuple[str, Callable[[str, Victim], tuple[str, str, str]]], ...] = (
    ("hidden HTML", lambda text, v: ("html", "", f'<p>Hello</p><div style="display:none">{text}</div>')),
    ("white HTML", lambda text, v: ("html", "", f'<p>Hello</p><span style="color:#fff;font-size:0">{text}</span>')),
    ("comment in HTML", lambda text, v: ("html", "", f"<p>Hello</p><!-- {text} -->")),
    ("text file", lambda text, v: ("plain", "orders.txt", text)),
    ("calendar file", lambda text, v: ("calendar", "invite.ics", "BEGIN:VCALENDAR\nMETHOD:PUBLISH\nBEGIN:VEVENT\nDESCRIPTION:" + text.replace("\n", "\\n") + "\nEND:VEVENT\nEND:VCALENDAR")),
    ("mail of the victim within", lambda text, v: ("rfc822", "", f"From: {v.address}\nTo: support@{OURS}\nSubject: The vault\n\n{text}")),
    ("quote of the victim", lambda text, v: ("text", "", f"See below.\n\nOn Monday {v.address} wrote:\n" + "\n".join(f"> {one}" for one in text.split("\n")))),
)  # fmt: skip


def _holding(author: str, given: tuple[str, str, str]) -> RawMail:
    """A mail with one such part."""
    kind, name, content = given
    mail = EmailMessage()
    mail.set_content("Hello, please see." if kind != "text" else content)
    if kind == "html":
        mail.add_alternative(content, subtype="html")
    elif kind == "rfc822":
        inner = EmailMessage()
        head, _, body = content.partition("\n\n")
        for line in head.split("\n"):
            field, _, value = line.partition(": ")
            inner[field] = value
        inner.set_content(body)
        mail.add_attachment(inner)
    elif name:
        mail.add_attachment(content, subtype=kind, filename=name)
    made = (proven if author == EVIL else write)("x", author)
    head = made.raw.partition(b"\r\nMIME-Version:")[0]
    return RawMail(
        head + b"\r\n" + mail.as_bytes().replace(b"\r\n", b"\n").replace(b"\n", b"\r\n"), made.message_id, author
    )


def unsigned_id(text: str, author: str, **parts: object) -> RawMail:
    """A signed mail whose Message-ID nothing covers, as many mail servers sign."""
    return signed(text, author, over=(b"from", b"to", b"subject", b"date", b"content-type"), **parts)  # type: ignore[arg-type]
