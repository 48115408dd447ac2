"""A web page as Markdown: what it is about, without the menus around it and without what it hides."""

from __future__ import annotations

import re
from dataclasses import dataclass

from lxml.html import HtmlElement

from services.mail import charsets
from services.mail.html_text import element_to_text, parse_html

_DECLARED = re.compile(rb"<meta[^>]{0,200}charset\s{0,9}=\s{0,9}[\"']?\s{0,9}([\w.:-]{1,40})", re.IGNORECASE)
_AROUND = ("nav", "aside", "footer", "form", "button")
_MAIN = ".//main | .//*[@role='main'] | .//article"
LEAST_SHARE = 0.3  # of the page's text that its main part has to hold to stand for it


@dataclass(frozen=True, slots=True)
class Page:
    """A page's Markdown, its title, and the text that a reader cannot see."""

    text: str
    title: str = ""
    hidden: str = ""


def page_to_markdown(content: bytes, charset: str = "") -> Page:
    """Read a page; `charset` is what its server said of it, else it is told from the page. Never raises."""
    declared = _DECLARED.search(content[:2048])
    root = parse_html(charsets.decode(content, charset or (declared[1].decode("ascii") if declared else "")))
    if root is None:
        return Page("")
    title = " ".join((root.findtext(".//title") or "").split())
    for element in list(root.iter(*_AROUND)):
        if element is not root:
            element.drop_tree()
    seen = element_to_text(_main_part(root), markdown=True)
    return Page(seen.text, title, seen.hidden)


def _main_part(root: HtmlElement) -> HtmlElement:
    """The element that says it is the page's matter, where it holds enough of the page; else the whole."""
    parts = root.xpath(_MAIN)
    best = max(parts, key=_size, default=root)
    return best if _size(best) >= LEAST_SHARE * _size(root) else root


def _size(element: HtmlElement) -> int:
    return len(" ".join(element.itertext()))
