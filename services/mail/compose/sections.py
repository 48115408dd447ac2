"""What a reply is put together from, top to bottom: the words, signature, footer, the mail that it answers.

Each section has its own link policy: the model's words keep what the settings and the knowledge base allow, the
operator's blocks keep their own links, the quoted mail keeps none, since anybody may have written it.
"""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import nh3

from services.mail.compose.body import clean_text, html_of, safe_text
from services.mail.compose.links import LinkPolicy, links_in
from services.mail.compose.outgoing import Block, Outgoing

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
