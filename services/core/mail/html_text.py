"""HTML to plain text with its structure kept: paragraphs, lists, tables, links, quotes; hidden text taken out.

Invariants: nothing raises, no script, style or remote content is read, the walk is not recursive, and text that a
reader cannot see is in `HtmlText.hidden` and not in `HtmlText.text` (it is where instructions to a model are hidden).
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from lxml import etree
from lxml.html import HtmlElement, HTMLParser, document_fromstring

from services.core.mail import html_hidden

MAX_HTML_CHARACTERS = 5_000_000
MAX_HIDDEN_CHARACTERS = 20_000
MAX_DEPTH = 20

_CELL_END = " | "

_SKIPPED = {"head", "script", "style", "title", "meta", "link", "template", "noscript", "object", "embed", "iframe"} | {
    "svg",
    "math",
    "audio",
    "video",
    "canvas",
    "select",
}
_SPACED = {"p", "h1", "h2", "h3", "h4", "h5", "h6", "ul", "ol", "table", "pre", "blockquote", "dl"}
_BLOCKS = (
    _SPACED
    | {"address", "article", "aside", "body", "center", "dd", "details", "div", "dt", "fieldset"}
    | {"figcaption", "figure", "footer", "form", "header", "hr", "li", "main", "nav", "section", "summary", "tr"}
)
_SPACES = re.compile(r"[ \t\r\n\f]+")
_ENCODING_DECLARATION = re.compile(r"<\?xml[^>]{0,200}\?>", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class HtmlText:
    """The visible text of a document and the text that it hides."""

    text: str
    hidden: str = ""


def html_to_text(html: str) -> HtmlText:
    """Visible and hidden text of a document or fragment."""
    root = parse_html(html)
    return element_to_text(root) if root is not None else HtmlText("")


def parse_html(html: str) -> HtmlElement | None:
    """The element tree of any text, or None where nothing can be read."""
    text = _ENCODING_DECLARATION.sub("", html[:MAX_HTML_CHARACTERS]).replace("\x00", "")
    if not text.strip():
        return None
    try:
        return document_fromstring(text, parser=HTMLParser(remove_comments=True, remove_pis=True, huge_tree=True))
    except (etree.LxmlError, ValueError, AssertionError):
        return None


def element_to_text(root: HtmlElement) -> HtmlText:
    """Visible and hidden text of an element, without the text after it."""
    visible, hidden = _Writer(), _Writer()
    _walk(root, visible, hidden)
    text, spelled = html_hidden.without_invisible_characters(visible.text())
    unseen = " ".join(f"{hidden.text()} {spelled}".split())
    return HtmlText(text.strip("\n"), unseen[:MAX_HIDDEN_CHARACTERS])


def _walk(root: HtmlElement, visible: _Writer, hidden: _Writer) -> None:
    """Depth first, in document order, without recursion; text goes to the writer that its look asks for."""
    styles = html_hidden.style_rules(root)
    looks = [html_hidden.Look()]
    writers = [visible]
    skipping: HtmlElement | None = None
    for event, element in etree.iterwalk(root, events=("start", "end")):
        if skipping is None and event == "start":
            if element.tag in _SKIPPED:
                skipping = element
                continue
            looks.append(html_hidden.look(element, looks[-1], styles))
            writers.append(_writer(looks, writers, visible, hidden))
            visible.open(element)
            _put(writers[-1], element.text)
        elif event == "end" and skipping is None:
            looks.pop()
            writers.pop()
            visible.close(element)
        elif element is skipping:
            skipping = None
        if event == "end" and skipping is None and element is not root:
            _put(writers[-1], element.tail)


def _writer(looks: list[html_hidden.Look], writers: list[_Writer], visible: _Writer, hidden: _Writer) -> _Writer:
    """The writer for text with the newest look; that of the text around it where the look is the same."""
    if looks[-1] is looks[-2]:
        return writers[-1]
    return hidden if looks[-1].hidden else visible


def _put(writer: _Writer, text: str | None) -> None:
    if text:
        writer.put(text)


class _Writer:
    """Lines under construction, with the quote depth and list state that prefix them.

    The open line is a list of pieces, and depths are bounded: both keep the work linear.
    """

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._pieces: list[str] = []
        self._gap = False
        self._quotes = 0
        self._depth_above = 0
        self._lists: list[int | None] = []
        self._pre = 0
        self._links: list[tuple[str, int]] = []

    def put(self, text: str) -> None:
        """Add inline text, white space collapsed unless inside `pre`."""
        if self._pre:
            *whole, last = text.split("\n")
            for line in whole:
                self._pieces.append(line)
                self._break(force=True)
            self._pieces.append(last)
            return
        text = _SPACES.sub(" ", text)
        if not self._pieces or self._pieces[-1].endswith(" "):
            text = text.lstrip(" ")
        if text:
            self._pieces.append(text)

    def open(self, element: HtmlElement) -> None:
        """Begin an element: line breaks, quote prefix, bullet, rule, the text that stands for a picture."""
        tag = element.tag
        if tag == "br":
            self._break(force=True)
        elif tag in _BLOCKS:
            self._block(tag)
        if tag == "blockquote":
            self._quotes += 1
        elif tag in ("ul", "ol"):
            self._lists.append(1 if tag == "ol" else None)
        elif tag == "li":
            self._pieces = ["  " * min(max(len(self._lists) - 1, 0), MAX_DEPTH), self._bullet()]
        elif tag == "pre":
            self._pre += 1
        elif tag == "hr":
            self._pieces = ["-" * 20]
            self._break()
        elif tag == "img" and element.get("alt"):
            self.put(f"[{element.get('alt')}]")
        elif tag == "a":
            self._links.append((element.get("href") or "", len(self._pieces)))

    def close(self, element: HtmlElement) -> None:
        """End an element: its link's target, a cell's bar, its line, its prefix."""
        tag = element.tag
        if tag == "a" and self._links:
            self._link(*self._links.pop())
        elif tag in ("td", "th") and any(piece.strip() for piece in self._pieces[-1:]):
            self._pieces.append(_CELL_END)
        if tag in _BLOCKS:
            self._block(tag)
        if tag == "blockquote":
            self._quotes -= 1
        elif tag in ("ul", "ol"):
            self._lists.pop()
        elif tag == "pre":
            self._pre -= 1

    def text(self) -> str:
        """Everything written, without blank lines at either end."""
        self._break()
        return "\n".join(self._lines).strip("\n")

    def _bullet(self) -> str:
        if not self._lists or self._lists[-1] is None:
            return "- "
        number = self._lists[-1]
        self._lists[-1] = number + 1
        return f"{number}. "

    def _link(self, href: str, start: int) -> None:
        """Write a web link's target behind its text, unless the text says it already."""
        shown = "".join(self._pieces[start:]).strip()
        bare = href.partition("://")[2].rstrip("/")
        if href.lower().startswith(("http://", "https://")) and shown and bare not in shown:
            self._pieces.append(f" <{href}>")

    def _block(self, tag: str) -> None:
        self._break()
        self._gap = self._gap or (tag in _SPACED and not self._lists)

    def _break(self, force: bool = False) -> None:
        """End the line; an empty one is written only when `force` asks for it."""
        line = "".join(self._pieces).removesuffix(_CELL_END).rstrip()
        self._pieces = []
        if not line and not force:
            return
        depth = min(self._quotes, MAX_DEPTH)
        if self._gap and self._lines and self._lines[-1].strip("> "):
            self._lines.append(("> " * min(depth, self._depth_above)).rstrip())
        self._gap, self._depth_above = False, depth
        self._lines.append(("> " * depth + line).rstrip())
