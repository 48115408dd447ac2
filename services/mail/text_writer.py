"""Lines of plain text, written from the elements of an HTML document as they open and close."""

from __future__ import annotations

from lxml.html import HtmlElement

MAX_DEPTH = 20

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
        depth = min(self._quotes, MAX_DEPTH)
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
