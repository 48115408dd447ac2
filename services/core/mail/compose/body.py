"""The body: plain text first, and HTML made from it by us, with the links that the policy allows and no images."""

from __future__ import annotations

import hashlib
import html
import re
from email.message import EmailMessage
from email.policy import SMTP

from services.core.mail.compose.links import LinkPolicy, find_links, shown


def clean_text(text: str) -> str:
    """Text with LF lines and without control characters other than tab; no trailing blanks."""
    lines = re.sub(r"\r\n?|\x0b|\x0c|\x85|\u2028|\u2029", "\n", text).split("\n")
    kept = (re.sub(r"[\x00-\x08\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]", "", line) for line in lines)
    return "\n".join(line.rstrip() for line in kept).strip("\n")


def safe_text(text: str, links: LinkPolicy) -> str:
    """The plain body: every link that is not allowed is replaced by `shown`."""
    clean = clean_text(text)
    out, at = [], 0
    for found in find_links(clean):
        kept = found.url if links.allows(found.url) else shown(found.url)
        out += [clean[at : found.start], kept]
        at = found.end
    return "".join([*out, clean[at:]])


def html_of(text: str, links: LinkPolicy) -> str:
    """HTML of a safe plain text: paragraphs, line breaks and allowed links, nothing else."""
    paragraphs = (p for p in re.split(r"\n{2,}", text) if p.strip())
    blocks = "".join(f"<p>{_linked(p, links)}</p>\n" for p in paragraphs)
    return f'<!DOCTYPE html>\n<html><head><meta charset="utf-8"></head><body>\n{blocks}</body></html>\n'


def _linked(paragraph: str, links: LinkPolicy) -> str:
    out, at = [], 0
    for found in find_links(paragraph):
        if links.allows(found.url):
            target = html.escape(found.url)
            out += [html.escape(paragraph[at : found.start]), f'<a href="{target}">{target}</a>']
            at = found.end
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
