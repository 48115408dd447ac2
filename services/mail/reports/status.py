"""Enhanced status codes (RFC 3463) and what they mean for an address: hard, soft or delayed.

A hard bounce suppresses the address for ever, so only what says "this mailbox does not exist or
is closed" is hard. A full mailbox, a policy, a size limit or a dead route says nothing about the person.
"""

from __future__ import annotations

import re

from services.mail.reports.report import Severity

_ENHANCED = re.compile(r"(?<![\d.])([245])\.(\d{1,3})\.(\d{1,3})(?![\d.])")
_BASIC = re.compile(r"(?<![\d.:])([45]\d\d)(?=[ \-:])")
_HARD_SUBJECTS = {
    "1": {"0", "1", "2", "3", "4", "6", "10"},
    "2": {"0", "1"},
    "4": {"4"},
    "5": set[str](),
}
_GONE = re.compile(
    r"(user|recipient|mailbox|account|address|addressee|alias|name)\S{0,80}\s{1,9}(is |was |has been |does |could )?"
    r"(unknown|not (exist|found|known|recognized|listed|be found|a known)|invalid|disabled|unavailable|inactive|closed|"
    r"suspended|rejected|discontinued|unrouteable)"
    r"|(unknown|no such|invalid|non.?existent|bad|unrouteable|undeliverable|not a valid) {1,9}(local |mail ?)?"
    r"(user|recipient|mailbox|account|address|domain|host|person)"
    r"|does(n't| not) (exist|have an? \S{1,80} account|like recipient)|host (or domain name )?not found|no mailbox here"
    r"|not our customer|user not exist|unrouteable|couldn't find any host|no mx",
    re.I,
)
_FOR_NOW = re.compile(
    r"quota|full|exceed|too (large|big|many)|over ?(size|limit)|insufficient|spam|block|black ?list|reputation|policy|"
    r"greylist|temporar|try again|timed? ?out|refused|too long|denied|virus|banned|spf|dkim|dmarc|deferred|loop",
    re.I,
)


def enhanced_code(text: str) -> str:
    """The most telling enhanced code in a text: the first 5.x.x or 4.x.x with detail, else the first, else ""."""
    codes = [m.group(0) for m in _ENHANCED.finditer(text) if m.group(1) != "2"]
    return next((c for c in codes if not c.endswith(".0.0")), codes[0] if codes else "")


def basic_code(text: str) -> str:
    """The first SMTP reply code (RFC 5321, 4xx or 5xx) that stands as one in a text, else ""."""
    found = _BASIC.search(text)
    return found.group(1) if found else ""


def severity(status: str, diagnostic: str, action: str = "") -> Severity:
    """Hard, soft or delayed, from RFC 3464's action, the status code and the words, in that order."""
    if action == "delayed":
        return "delayed"
    if status.startswith("4.") or (not status and basic_code(diagnostic).startswith("4")):
        return "soft"
    subject, _, detail = status[2:].partition(".")
    if status.startswith("5.") and (subject, detail) not in {("0", "0"), ("", "")}:
        return "hard" if detail in _HARD_SUBJECTS.get(subject, ()) and not _says_for_now(diagnostic) else "soft"
    return "hard" if _GONE.search(diagnostic) and not _says_for_now(diagnostic) else "soft"


def _says_for_now(diagnostic: str) -> bool:
    return bool(_FOR_NOW.search(diagnostic)) and not _GONE.search(diagnostic)
