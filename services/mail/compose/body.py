"""The body: plain text first, and HTML made from it by us, with the links that the policy allows and no images."""

from __future__ import annotations

import hashlib
import html
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from email.message import EmailMessage
from email.policy import SMTP
from typing import Literal

import nh3

from services.core.wording import as_read
from services.mail.compose import wire
from services.mail.compose.links import LinkPolicy, find_links, is_web, links_in, shown, unschemed
from services.mail.compose.wire import Block, Composed, ComposeRefused, File, Outgoing, check, plain
from services.mail.message import Address

_UNSEEN = re.compile(
    r"[\x00-\x08\x0e-\x1f\x7f-\x9f\u00ad\u180e\u200b\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    r"\U000e0000-\U000e007f\ud800-\udfff]"
)
_MEDIA_TYPE = re.compile(r"[a-z0-9!#$&^_.+-]{1,127}/[a-z0-9!#$&^_.+-]{1,127}", re.I)  # RFC 6838, 4.2


def clean_text(text: str) -> str:
    """Text with LF lines, without control characters other than tab and what nobody sees; no trailing blanks.

    Joiners and direction marks that scripts need to be written stay. No gap is longer than two empty lines: who
    approves a draft would not look for more words below it.
    """
    lines = re.sub(r"\r\n?|\x0b|\x0c|\x85|\u2028|\u2029", "\n", text).split("\n")
    seen = (_UNSEEN.sub("", line).rstrip() if as_read(line).strip() else "" for line in lines)
    return re.sub(r"\n{4,}", "\n\n\n", "\n".join(seen)).strip("\n")


def safe_text(text: str, links: LinkPolicy) -> str:
    """The plain body: every link that is not allowed is replaced by `shown`.

    What one look leaves is looked at again, since the rest of a link may be another one (`a.mailto:b`). Each look that
    changes anything takes a link's sign away or puts a blank behind a colon, so that there is a last one.
    """
    before, safe = "", clean_text(text)
    while safe != before:
        before, safe = safe, clean_text(_without_links(safe, links))
    return safe


def _without_links(text: str, links: LinkPolicy) -> str:
    """The text after one look."""
    out, at = [], 0
    while found := next(find_links(text, at), None):
        kept = links.kept(found.url)
        out += [unschemed(text[at : found.start]), kept or shown(found.url)]
        at = found.start + len(kept) if kept else found.end
    return "".join([*out, unschemed(text[at:])])


def html_of(text: str, links: LinkPolicy) -> str:
    """HTML of a safe plain text: paragraphs, line breaks and allowed links, nothing else."""
    paragraphs = (p for p in re.split(r"\n{2,}", text) if p.strip())
    return "".join(f"<p>{_linked(p, links)}</p>\n" for p in paragraphs)


def _linked(paragraph: str, links: LinkPolicy) -> str:
    out, at = [], 0
    while found := next(find_links(paragraph, at), None):
        kept = links.kept(found.url) if is_web(found.url) else ""
        end = found.start + len(kept) if kept else found.end
        shown_as = html.escape(paragraph[found.start : end])
        link = f'<a href="{shown_as}">{shown_as}</a>' if kept else shown_as
        out += [html.escape(paragraph[at : found.start]), link]
        at = end
    return "".join([*out, html.escape(paragraph[at:])]).replace("\n", "<br>\n")


def mime_body(text: str, markup: str, files: Sequence[File] = ()) -> bytes:
    """MIME headers and body: a multipart/alternative, plain part first, within a multipart/mixed where files go along.

    Boundaries are hashes of what stands between them, so that the same reply gives the same bytes. Raises
    `ComposeRefused` for a file whose type is none.
    """
    message = EmailMessage(policy=SMTP)
    message.set_content(text + "\n", cte="quoted-printable")
    message.add_alternative(markup, subtype="html", cte="quoted-printable")
    digest = hashlib.sha256((text + markup).encode())
    message.set_boundary("=_" + digest.hexdigest()[:40])
    for file in files:
        if not _MEDIA_TYPE.fullmatch(file.content_type):
            raise ComposeRefused(f"{plain(file.content_type)[:80]!r} is no media type")
        maintype, _, subtype = file.content_type.partition("/")
        message.add_attachment(file.content, maintype=maintype, subtype=subtype, filename=plain(file.filename))
        digest.update(file.content)
    if files:
        message.set_boundary("=m_" + digest.hexdigest()[:40])
    return message.as_bytes()


# What a reply is put together from, top to bottom: the words, signature, footer, the mail that it answers.
#
# Each section has its own link policy: the model's words keep what the settings and the knowledge base allow, the
# operator's blocks keep their own links, the quoted mail keeps none, since anybody may have written it.
SIGNATURE_MARK = "-- \n"  # RFC 3676, section 4.3; the blank at its end is part of it
MAX_QUOTED = 20_000  # characters of the mail that is answered
_TAGS = {*"abiup", "br", "div", "em", "li", "small", "span", "strong", "table", "tbody", "td", "tr", "ul"}
_SCHEMES = {"https", "http", "mailto", "tel"}


@dataclass(frozen=True, slots=True)
class Section:
    """One part of the body, already safe: its plain text and its HTML."""

    kind: Literal["words", "signature", "footer", "quote"]
    text: str
    html: str


def sections(reply: Outgoing) -> list[Section]:
    """The parts of a reply that have something to say; the words always come first."""
    on_top = {reply.sender.addr, reply.recipient.addr, *(one.addr for one in reply.cc)} - {""}
    policy = LinkPolicy(reply.allowed_links, reply.known_links | on_top)  # its headers show these addresses anyway
    words = safe_text(reply.text, policy)
    found = [
        Section("words", words, html_of(words, policy)),
        _block("signature", reply.signature),
        _block("footer", reply.footer),
        _quote(reply),
    ]
    return found[:1] + [one for one in found[1:] if one.text.strip()]


def plain_text(parts: Sequence[Section]) -> str:
    """The whole plain body."""
    return "\n\n".join(SIGNATURE_MARK + one.text if one.kind == "signature" else one.text for one in parts)


def html_page(parts: Sequence[Section]) -> str:
    """The whole HTML body."""
    blocks = "".join(one.html for one in parts)
    return f'<!DOCTYPE html>\n<html><head><meta charset="utf-8"></head><body>\n{blocks}</body></html>\n'


def _block(kind: Literal["signature", "footer"], block: Block) -> Section:
    text = clean_text(block.text)
    markup = nh3.clean(block.html, tags=_TAGS, attributes={"a": {"href"}}, url_schemes=_SCHEMES)
    made = html_of(text, LinkPolicy(known=frozenset(links_in(text))))
    return Section(kind, text, f'<div class="{kind}">\n{markup.strip() or made.strip()}\n</div>\n')


def _quote(reply: Outgoing) -> Section:
    text = safe_text(reply.quoted[:MAX_QUOTED], LinkPolicy())
    intro = safe_text(" ".join(reply.quote_intro.split()), LinkPolicy())
    if not text.strip():
        return Section("quote", "", "")
    lines = "\n".join([*([intro] if intro else []), *(f"> {line}".rstrip() for line in text.split("\n"))])
    above = f"<p>{html.escape(intro)}</p>\n" if intro else ""
    return Section("quote", lines, f"{above}<blockquote>\n{html_of(text, LinkPolicy())}</blockquote>\n")


# A mail of the deployment to one of its own people: made by a program, to be answered by nobody (RFC 3834).
#
# Pure: the same `Notice` gives the same bytes on every attempt.


@dataclass(frozen=True, slots=True)
class Notice:
    """One notice to one address. `links` are the whole URLs that may stand in the text."""

    message_id: str  # without angle brackets
    sender: Address
    recipient: str
    subject: str
    text: str
    date: datetime
    links: frozenset[str] = frozenset()


def compose_notice(notice: Notice) -> Composed:
    """The finished message. Raises ComposeRefused where it would not be exactly what was meant."""
    recipient = wire.addr_spec(notice.recipient)
    links = LinkPolicy(known=notice.links)
    text = safe_text(notice.text, links)
    headers = [
        ("From", wire.mailbox(notice.sender)),
        ("To", recipient),
        ("Subject", wire.text_value(notice.subject[: wire.MAX_SUBJECT_CHARS], "Subject")),
        ("Date", wire.date_value(notice.date)),
        ("Message-ID", wire.id_list([notice.message_id])),
        ("Auto-Submitted", "auto-generated"),
        ("X-Auto-Response-Suppress", "All"),
    ]
    if not all(value for _, value in headers) or not text.strip():
        raise ComposeRefused("a notice needs an id, a subject and a text")
    head = "".join(f"{name}: {value}\r\n" for name, value in headers).encode("utf-8")
    raw = head + mime_body(text, html_page([Section("words", text, html_of(text, links))]))
    check(raw, headers, recipient)
    sender = wire.addr_spec(notice.sender.addr)
    utf8 = not head.isascii() or not (recipient + sender).isascii()
    return Composed(raw, notice.message_id, sender, recipient, text, (), (), utf8)
