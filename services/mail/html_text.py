"""HTML to plain text with its structure kept: paragraphs, lists, tables, links, quotes; hidden text taken out.

Invariants: nothing raises, no script, style or remote content is read, the walk is not recursive, and text that a
reader cannot see is in `HtmlText.hidden` and not in `HtmlText.text` (it is where instructions to a model are hidden).
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from lxml import etree
from lxml.html import HtmlElement, HTMLParser, document_fromstring

from services.mail import charsets, html_hidden
from services.mail.style_sheet import Styles

# Lines of plain text, written from the elements of an HTML document as they open and close.
MAX_INDENT = 20

_CELL_END = " | "
_HEADINGS = {"h1", "h2", "h3", "h4", "h5", "h6"}
_WHITE = "\t\r\n\f"
_SPACED = {"p", "h1", "h2", "h3", "h4", "h5", "h6", "ul", "ol", "table", "pre", "blockquote", "dl"}
_BLOCKS = (
    _SPACED
    | {"address", "article", "aside", "body", "center", "dd", "details", "div", "dt", "fieldset"}
    | {"figcaption", "figure", "footer", "form", "header", "hr", "li", "main", "nav", "section", "summary", "tr"}
)


class TextWriter:
    """Lines under construction, with the quote depth and list state that prefix them.

    The open line is a list of pieces, and depths are bounded: both keep the work linear. With `markdown`, headings
    and the first rows of tables are marked as CommonMark has them.
    """

    def __init__(self, *, markdown: bool = False) -> None:
        self._markdown = markdown
        self._cells = 0
        self._first_row = False
        self._lines: list[str] = []
        self._pieces: list[str] = []
        self._gap = False
        self._quotes = 0
        self._depth_above = 0
        self._lists: list[int | None] = []
        self._pre = 0
        self._links: list[tuple[str, int]] = []

    def put(self, text: str | None) -> None:
        """Add inline text, white space collapsed unless inside `pre`."""
        if not text:
            return
        if self._pre:
            *whole, last = text.split("\n")
            for line in whole:
                self._pieces.append(line)
                self._break(force=True)
            self._pieces.append(last)
            return
        text = _collapsed(text)
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
        self._mark(tag)
        if tag == "blockquote":
            self._quotes += 1
        elif tag in ("ul", "ol"):
            self._lists.append(1 if tag == "ol" else None)
        elif tag == "li":
            self._pieces = ["  " * min(max(len(self._lists) - 1, 0), MAX_INDENT), self._bullet()]
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
            self._cells += 1
        if tag in _BLOCKS:
            self._block(tag)
        if tag == "tr" and self._markdown:
            self._rule_below_the_first_row()
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

    def _mark(self, tag: str) -> None:
        if tag in _HEADINGS and self._markdown:
            self._pieces = ["#" * int(tag[1]) + " "]
        elif tag in ("table", "tr"):
            self._first_row, self._cells = self._first_row or tag == "table", 0

    def _rule_below_the_first_row(self) -> None:
        if self._first_row and self._cells > 1:
            self._pieces = [_CELL_END.join(["---"] * self._cells)]
            self._break()
        self._first_row = False

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
        depth = min(self._quotes, MAX_INDENT)
        if self._gap and self._lines and self._lines[-1].strip("> "):
            self._lines.append(("> " * min(depth, self._depth_above)).rstrip())
        self._gap, self._depth_above = False, depth
        self._lines.append(("> " * depth + line).rstrip())


def _collapsed(text: str) -> str:
    """White space as one space each. Not `re.sub`, which keeps a list of all pieces: eight times a text of `a a a`."""
    for one in _WHITE:
        text = text.replace(one, " ")
    while "  " in text:
        text = text.replace("  ", " ")
    return text


MAX_HTML_CHARACTERS = 5_000_000
MAX_WORK = 60_000  # elements of a document, one with a style of its own counting as five
MAX_DEPTH = 1_000  # elements in each other; parsers leave out what is nested twice as deep
STYLED = 4  # how much longer than an element a style takes to be read
MAX_HIDDEN_CHARACTERS = 20_000

_SKIPPED = {"head", "script", "style", "title", "meta", "link", "template"} | {
    "object",
    "embed",
    "iframe",
    "svg",
    "math",
    "audio",
    "video",
    "canvas",
    "select",
}
_ENCODING_DECLARATION = re.compile(r"<\?xml[^>]{0,200}\?>", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class HtmlText:
    """The visible text of a document and the text that it hides."""

    text: str
    hidden: str = ""
    over: str = ""  # the limit that the document passes, in words; nothing of it is to be relied on then


def _work(html: str) -> int:
    """How much work a document is, in elements: known before it is parsed, so that none has to be stopped in it."""
    html = html[:MAX_HTML_CHARACTERS]
    return html.count("<") - html.count("</") + STYLED * (html.count("style=") + html.count("STYLE="))


def html_to_text(html: str) -> HtmlText:
    """Visible and hidden text of a document or fragment."""
    if _work(html) > MAX_WORK:
        return HtmlText("", over=f"HTML of more than {MAX_WORK} elements and styles")
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


def element_to_text(root: HtmlElement, *, markdown: bool = False) -> HtmlText:
    """Visible and hidden text of an element, without the text after it; with `markdown`, headings and tables marked."""
    visible, hidden = TextWriter(markdown=markdown), TextWriter()
    deepest = _walk(root, visible, hidden)
    over = f"HTML of more than {MAX_DEPTH} elements in each other" if deepest > MAX_DEPTH else ""
    text, spelled = html_hidden.without_invisible_characters(visible.text())
    unseen = " ".join(f"{hidden.text()} {spelled}".split())
    return HtmlText(text.strip("\n"), unseen[:MAX_HIDDEN_CHARACTERS], over)


def _walk(root: HtmlElement, visible: TextWriter, hidden: TextWriter) -> int:
    """Depth first, in document order, without recursion; text goes to the writer that its look asks for.

    Gives how deep the elements stand in each other.
    """
    deepest = 0
    styles, looks = Styles(root), html_hidden.Looks()
    around: list[tuple[html_hidden.Look, TextWriter]] = [(html_hidden.Look(), visible)]
    skipping: HtmlElement | None = None
    for event, element in etree.iterwalk(root, events=("start", "end")):
        if event == "start" and skipping is None:
            declared = styles.enter(element) if styles.any else None
            if element.tag in _SKIPPED:
                skipping = element
                continue
            look = looks.of(element, around[-1][0], declared)
            around.append(around[-1] if look is around[-1][0] else (look, hidden if look.hidden else visible))
            deepest = max(deepest, len(around))
            visible.open(element)
            around[-1][1].put(element.text)
        elif event == "end" and skipping in (None, element):
            if skipping is None:
                around.pop()
                visible.close(element)
            skipping = None
            if styles.any:
                styles.leave()
            if element is not root:
                around[-1][1].put(element.tail)
    return deepest


# A web page as Markdown: what it is about, without the menus around it and without what it hides.
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
