"""Automatic replies (RFC 3834): vacation notices, acknowledgements, "this address is no longer in use"."""

from __future__ import annotations

import re

from services.mail.message import ParsedMail
from services.mail.reports.automatic.judgement import Judgement, is_answer, judge_automatic
from services.mail.reports.report import Report

_NAMED = re.compile(  # by whatever maker: X-Autoreply, X-Mail-Autoreply, X-Auto-Reply-From, X-Sieve-Vacation
    r"(?:X-)?(?:\w{1,20}-){0,3}?(?:auto-?(?:repl(?:y|ied)|respond(?:er)?|response|generated)|vacation|out-?of-?office|oof|ooo)"
    r"(?:-(?:from|to|message|id|by|type|text))?",
    re.I,
)
_OF_SETTINGS = re.compile(  # "X-Send-Auto-Response: yes" asks for one
    r"(?:^|-)(?:no|not|never|suppress|disable|disabled|enable|enabled|allow|send|accept)(?:-|$)", re.I
)
_PRESENT = ("X-Away", "X-Cron-Env", "X-FC-MachineGenerated", "X-Ms-Exchange-Generated-Message-Source")
_NOTHING = ("", "no", "false", "0", "none", "off")
_COMMENT = re.compile(r"\([^()]{0,500}\)")
_VALUES = (
    ("Precedence", re.compile(r"auto[-_ ]?reply", re.I)),
    ("Preference", re.compile(r"auto[-_ ]?reply", re.I)),
    ("X-Precedence", re.compile(r"auto[-_ ]?reply", re.I)),
    ("X-Apple-Action", re.compile(r"vacation", re.I)),
    ("X-POST-MessageClass", re.compile(r"autoresponder", re.I)),
    ("Delivered-To", re.compile(r"^\W{0,5}autoresponder\W{0,5}$", re.I)),
    ("Message-ID", re.compile(r"^[^@]{0,200}(autoreply|vacation|autorespon)[^@]{0,200}@", re.I)),
    ("X-Mailer", re.compile(r"vacation|auto[-_ ]?(repl|respon)", re.I)),
    ("User-Agent", re.compile(r"vacation|auto[-_ ]?(repl|respon)", re.I)),
    ("X-Generated-By", re.compile(r"vacation|auto[-_ ]?(repl|respon)", re.I)),
    ("Return-Path", re.compile(r"^\W{0,5}auto[-_]?(reply|respond(er)?)\b[^@]{0,200}@", re.I)),
)
_RESPONDER = re.compile(r"auto[-_]?(reply|respond(er)?)\b", re.I)


def auto_submitted(mail: ParsedMail) -> str:
    """The keyword of Auto-Submitted in lower case ("auto-replied"); "" for none and for "no" (RFC 3834 section 5)."""
    for value in mail.all("Auto-Submitted"):
        keyword = _COMMENT.sub(" ", value).partition(";")[0].strip().casefold()
        if keyword and keyword != "no":
            return keyword
    return ""


def responder_header(mail: ParsedMail) -> str:
    """The header by which a responder of some make says what it is, or ""."""
    names = dict.fromkeys(name for name, _ in mail.headers)
    named = [name for name in names if _NAMED.fullmatch(name) and not _OF_SETTINGS.search(name)]
    for name in (*named, *_PRESENT):
        if any(value.strip().casefold() not in _NOTHING for value in mail.all(name)):
            return name
    if any(_RESPONDER.match(one.addr) for one in mail.from_):
        return "From"
    return next((name for name, wanted in _VALUES if any(wanted.search(v) for v in mail.all(name))), "")


def read_auto_reply(mail: ParsedMail) -> Report | None:
    """The automatic reply a mail is, by its headers or its words, or None; `diagnostic` says by which."""
    found = _judged(mail)
    if not found.why:
        return None
    answered = mail.in_reply_to or mail.references[-1:]
    about = answered[0] if answered else ""
    return Report(kind="auto_reply", diagnostic=found.why, original_message_id=about, doubtful=not found.sure)


def _judged(mail: ParsedMail) -> Judgement:
    keyword = auto_submitted(mail)
    if keyword == "auto-replied" or (keyword and is_answer(mail)):
        return Judgement(f"Auto-Submitted: {keyword}", sure=True)
    if header := responder_header(mail):
        return Judgement(f"header {header}", sure=True)
    return judge_automatic(mail)
