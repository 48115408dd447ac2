"""The body: plain text first, and HTML made from it by us.

A link is made only where its host or prefix is allowed. Any other address on the web is shown as its
host alone, with the dots bracketed: no mail program makes it clickable, and no path or query carries
anything out. There are no images.
"""

from __future__ import annotations

import hashlib
import html
import re
from collections.abc import Sequence
from email.message import EmailMessage
from email.policy import SMTP
from urllib.parse import urlsplit

_URL = re.compile(
    r"(?:[a-z][a-z0-9+.-]{1,20}:/{1,3}|www\.)[^\s<>\"']+|\b(?:javascript|data|vbscript):[^\s<>\"']+"
    r"|(?<![\w@.-])(?:[a-z0-9-]+\.)+[a-z]{2,24}(?::\d+)?/[^\s<>\"']*",
    re.I,
)
_TRAILING = ".,;:!?)]}'\"*_…»”’>"


def clean_text(text: str) -> str:
    """Text with LF lines and without control characters other than tab; no trailing blanks."""
    lines = re.sub(r"\r\n?|\x0b|\x0c|\x85|\u2028|\u2029", "\n", text).split("\n")
    kept = (re.sub(r"[\x00-\x08\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]", "", line) for line in lines)
    return "\n".join(line.rstrip() for line in kept).strip("\n")


def is_allowed(url: str, allowed: Sequence[str]) -> bool:
    """Whether a URL may be a link: http(s), no user part, and its host or a prefix of it is on the list."""
    try:
        parts = urlsplit(url)
        host, userinfo = (parts.hostname or "").casefold(), "@" in parts.netloc
    except ValueError:
        return False
    if parts.scheme not in ("http", "https") or userinfo or not host or "\\" in url:
        return False
    return any(host == a.casefold() if "/" not in a else _under(url, a) for a in allowed)


def _under(url: str, prefix: str) -> bool:
    """Whether `url` lies at or below `prefix`, by whole path segments."""
    return "/.." not in url and (url == prefix or url.startswith(prefix if prefix[-1] in "/?#" else prefix + "/"))


def shown(url: str) -> str:
    """How a link that is not allowed is written: `evil[.]example`, its host alone."""
    if re.match(r"(?:javascript|data|vbscript):", url, re.I):
        return "[link removed]"
    try:
        host = urlsplit(url if "://" in url else "//" + url).hostname or ""
    except ValueError:
        host = ""
    return host.replace(".", "[.]") or "[link removed]"


def safe_text(text: str, allowed: Sequence[str]) -> str:
    """The plain body: every link that is not allowed is replaced by `shown`."""
    return _URL.sub(lambda m: _kept(m.group(0), allowed), clean_text(text))


def _kept(found: str, allowed: Sequence[str]) -> str:
    url = found.rstrip(_TRAILING)
    return (url if is_allowed(url, allowed) else shown(url)) + found[len(url) :]


def html_of(text: str, allowed: Sequence[str]) -> str:
    """HTML of a safe plain text: paragraphs, line breaks and allowed links, nothing else."""
    paragraphs = (p for p in re.split(r"\n{2,}", text) if p.strip())
    blocks = "".join(f"<p>{_linked(p, allowed)}</p>\n" for p in paragraphs)
    return f'<!DOCTYPE html>\n<html><head><meta charset="utf-8"></head><body>\n{blocks}</body></html>\n'


def _linked(paragraph: str, allowed: Sequence[str]) -> str:
    out, at = [], 0
    for found in _URL.finditer(paragraph):
        url = found.group(0).rstrip(_TRAILING)
        if is_allowed(url, allowed):
            target = html.escape(url)
            out += [html.escape(paragraph[at : found.start()]), f'<a href="{target}">{target}</a>']
            at = found.start() + len(url)
    return "".join([*out, html.escape(paragraph[at:])]).replace("\n", "<br>\n")


def mime_body(text: str, markup: str) -> bytes:
    """MIME headers and body of a multipart/alternative, plain part first; its boundary is the text's hash."""
    message = EmailMessage(policy=SMTP)
    message.set_content(text + "\n", cte="quoted-printable")
    message.add_alternative(markup, subtype="html", cte="quoted-printable")
    message.set_boundary("=_" + hashlib.sha256((text + markup).encode()).hexdigest()[:40])
    return message.as_bytes()


def with_quote(text: str, quoted: str) -> str:
    """The reply, and below it the quoted original, each line marked."""
    if not quoted.strip():
        return text
    return text + "\n\n" + "\n".join(f"> {line}".rstrip() for line in clean_text(quoted).split("\n"))
