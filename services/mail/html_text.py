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
from services.mail.text_writer import TextWriter

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
    styles = html_hidden.style_rules(root)
    around: list[tuple[html_hidden.Look, TextWriter]] = [(html_hidden.Look(), visible)]
    skipping: HtmlElement | None = None
    for event, element in etree.iterwalk(root, events=("start", "end")):
        if event == "start" and skipping is None:
            if element.tag in _SKIPPED:
                skipping = element
                continue
            look = html_hidden.look(element, around[-1][0], styles)
            around.append(around[-1] if look is around[-1][0] else (look, hidden if look.hidden else visible))
            deepest = max(deepest, len(around))
            visible.open(element)
            around[-1][1].put(element.text)
        elif event == "end" and skipping in (None, element):
            if skipping is None:
                around.pop()
                visible.close(element)
            skipping = None
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
