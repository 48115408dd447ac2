"""The marks that mail clients leave around quotes and signatures in HTML, turned into lines of text.

A quote becomes a blockquote (and so lines with `> `), everything below an Outlook header becomes a separator line, a
signature its mark. Then the rules for plain text decide.
"""

from __future__ import annotations

import re
from itertools import islice

from lxml import etree
from lxml.html import HtmlElement

from services.mail.html_text import element_to_text, parse_html
from services.mail.reply_text import shapes

_QUOTE_CLASSES = {"yahoo_quoted", "protonmail_quote", "tutanota_quote", "zmail_extra", "gmail_quote_container"} | {
    "quoted",
    "mail_quote",
    "cite",
    "freebirdQuoted",
    "front-blockquote",
    "hs_reply",
    "intercom-quote",
    "mailmaster_quote",
}
_ATTRIBUTION_CLASSES = {"gmail_attr", "moz-cite-prefix", "protonmail_quote_header", "mail-quote-header", "cite-prefix"}
_SIGNATURE_CLASSES = {
    "gmail_signature",
    "moz-signature",
    "protonmail_signature_block",
    "signature",
    "ms-outlook-mobile-signature",
}
_OLDER_MAIL_IDS = {
    "divRplyFwdMsg",
    "stopSpelling",
    "appendonsend",
    "OLK_SRC_BODY_SECTION",
    "reply-intro",
    "mail-editor-reference-message-container",
}
_SIGNATURE_IDS = {"Signature", "signature", "ms-outlook-mobile-signature", "AppleMailSignature", "x_Signature"}
_BORDER_TOP = re.compile(r"border-top(?:-\w{1,10})?\s{0,9}:[^;]{0,80}\b(?:solid|1(?:\.0)?p[tx])\b")
_NO_BORDER = re.compile(
    r"border(?:-left)?\s{0,9}:\s{0,9}(?:none|0)|border-left-(?:width|style)\s{0,9}:\s{0,9}(?:none|0)"
)
_OUTLOOK_HEADER_TEXTS = 30
_OUTLOOK_HEADER_COLONS = 3


def marked_text(html: str) -> str:
    """The visible text of a document, its quotes prefixed and its separators and signatures marked."""
    root = parse_html(shapes.without_marks(html))
    if root is None:
        return ""
    for element in list(root.iter(etree.Element)):
        _mark(element)
    return element_to_text(root).text


def _mark(element: HtmlElement) -> None:
    classes = set((element.get("class") or "").removeprefix("ecx").split())
    name = (element.get("id") or "").removeprefix("x_")
    if element.tag == "blockquote":
        if _is_indentation(element):
            element.tag = "div"
    elif classes & _QUOTE_CLASSES:
        element.tag = "blockquote"
    elif classes & _ATTRIBUTION_CLASSES and not _holds_more(element):
        _line_before(element, shapes.ATTRIBUTION)
        element.tag = "blockquote"
    elif classes & _SIGNATURE_CLASSES or name in _SIGNATURE_IDS:
        _line_before(element, shapes.SIGNATURE)
        _line_after(element, shapes.SIGNATURE_END)
    elif name in _OLDER_MAIL_IDS or _is_outlook_border(element):
        _line_before(element, shapes.OLDER_MAIL)


def _holds_more(attribution: HtmlElement) -> bool:
    """Whether an attribution is the head of a forwarded mail, or has lines that the writer typed into it."""
    begins = next((text for text in attribution.itertext() if text.strip()), "").lstrip()
    return begins.startswith("--") or any(child.tag == "br" and (child.tail or "").strip() for child in attribution)


def _is_indentation(quote: HtmlElement) -> bool:
    """Whether a blockquote only moves text to the right, as the editors of Gmail and Outlook do."""
    return quote.get("type") != "cite" and not quote.get("class") and bool(_NO_BORDER.search(quote.get("style") or ""))


def _is_outlook_border(element: HtmlElement) -> bool:
    """Outlook's div with a line above it, around the header of the older mail."""
    style = (element.get("style") or "").lower()
    if element.tag != "div" or not _BORDER_TOP.search(style):
        return False
    beginning = " ".join(islice(element.itertext(), _OUTLOOK_HEADER_TEXTS))
    return beginning.count(":") >= _OUTLOOK_HEADER_COLONS


def _line_before(element: HtmlElement, mark: str) -> None:
    """Put a line of its own before an element, behind what was said before it."""
    if element.getparent() is not None:
        line = etree.Element("div")
        line.text = mark
        element.addprevious(line)


def _line_after(element: HtmlElement, mark: str) -> None:
    """Put a line of its own behind an element, before what is said after it."""
    if element.getparent() is not None:
        line = etree.Element("div")
        line.text = mark
        element.addnext(line)
