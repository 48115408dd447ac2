"""Which lines of a body are new, which are quoted, which are the signature.

Invariant: `new` is never empty when the body has text. When in doubt a line is new: to read a quote twice costs
little, to overlook an answer costs a customer.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from services.mail.message import ReplyText
from services.mail.reply_text import attribution, html_quote, own_words, shapes
from services.mail.reply_text.lines import Kind, classify

MAX_CHARACTERS = 500_000
MAX_LINES = 20_000
MAX_SMALL_PRINT_LINES = 80

_SIGNATURE_STARTS = (Kind.MARK, Kind.RULE, Kind.APP)
_WRITTEN = (Kind.TEXT, Kind.APP, Kind.RULE, Kind.MARK)
_OLDER = (Kind.QUOTE, Kind.ATTRIBUTION, Kind.SEPARATOR, Kind.HEADER)


def split_reply(text: str, html: str = "") -> ReplyText:
    """Divide a body into new text, quoted text and signature.

    `text` is the plain body; `html` is used where there is none, or where only its markup shows the quote.
    """
    plain = split_text(_without_marks(text))
    if not html or plain.quoted:
        return plain
    marked = split_text(html_quote.marked_text(html))
    if not text.strip() or (marked.quoted and _same_words(text, marked)):
        return marked
    return plain


def split_stretches(forms: Iterable[tuple[str, str]]) -> ReplyText:
    """Divide a body of stretches that are plain text, or HTML where there is none."""
    return split_text(
        "\n\n".join(html_quote.marked_text(html) if html else _without_marks(text) for text, html in forms)
    )


def _without_marks(text: str) -> str:
    return without_armour(shapes.without_marks(text))


def _same_words(text: str, marked: ReplyText) -> bool:
    """Whether the HTML's new text is the plain body's as well, and not that of another version of the mail."""
    return "".join(marked.new.split())[:200] in "".join(text.split())


def split_text(text: str) -> ReplyText:
    """Divide plain text."""
    body = text.replace("\r\n", "\n").replace("\r", "\n")
    lines = body[:MAX_CHARACTERS].split("\n", MAX_LINES)
    rest = body[MAX_CHARACTERS:]
    if len(lines) > MAX_LINES:
        rest = lines.pop() + rest
    kinds = classify(lines)
    parts = ["new"] * len(lines)
    _mark_older_mail(kinds, parts)
    _mark_signatures(lines, kinds, parts)
    _mark_quotes(lines, kinds, parts)
    _mark_furniture(kinds, parts)
    divided = {part: _joined(lines, parts, part) for part in ("new", "quoted", "signature")}
    if not any(part == "new" and kind in _WRITTEN for part, kind in zip(parts, kinds, strict=True)):
        return ReplyText(_joined(lines, parts, *divided) or body.strip())
    return ReplyText(divided["new"], divided["quoted"] + rest, divided["signature"])


def _joined(lines: Sequence[str], parts: Sequence[str], *wanted: str) -> str:
    kept = (line for line, part in zip(lines, parts, strict=True) if part in wanted and line not in shapes.KINDS)
    return "\n".join(line.rstrip() for line in kept).strip("\n")


def _set(parts: list[str], start: int, end: int, part: str) -> None:
    parts[start:end] = [part] * (end - start)


def _next(kinds: Sequence[Kind], *wanted: Kind) -> list[int]:
    """For each line the index of the first wanted one from there on; the number of lines where there is none."""
    following = [len(kinds)] * (len(kinds) + 1)
    for index in range(len(kinds) - 1, -1, -1):
        following[index] = index if kinds[index] in wanted else following[index + 1]
    return following


def _mark_older_mail(kinds: Sequence[Kind], parts: list[str]) -> None:
    """All from the first separator or header block on, unless what was added stands below its marked quote."""
    text, quote, older = _next(kinds, Kind.TEXT), _next(kinds, Kind.QUOTE), _next(kinds, Kind.SEPARATOR, Kind.HEADER)
    cut = older[text[0]]
    while cut < len(kinds) and quote[cut] < text[cut] < len(kinds):
        cut = older[text[cut]]
    _set(parts, cut, len(parts), "quoted")


def _mark_signatures(lines: Sequence[str], kinds: Sequence[Kind], parts: list[str]) -> None:
    """From a signature mark, a rule with small print, or an app's line, to the next quote or the end."""
    text, older = _next(kinds, Kind.TEXT), _next(kinds, *_OLDER)
    index = text[0]
    while index < len(kinds) and parts[index] == "new":
        end = min(older[index], _end_of_element(lines, index))
        if kinds[index] in _SIGNATURE_STARTS and _begins_signature(lines, kinds[index], index, end, text[index]):
            _set(parts, index, end, "signature")
            index = end
        else:
            index += 1


def _end_of_element(lines: Sequence[str], index: int) -> int:
    """Where the signature that HTML marks ends, if it says so: what is written behind it is the writer's again."""
    if lines[index] != shapes.SIGNATURE:
        return len(lines)
    return next((at for at in range(index, len(lines)) if lines[at] == shapes.SIGNATURE_END), len(lines))


def _begins_signature(lines: Sequence[str], kind: Kind, index: int, end: int, text: int) -> bool:
    if kind is Kind.APP:
        return text >= end
    if lines[index] == shapes.SIGNATURE:
        return True
    if end - index > MAX_SMALL_PRINT_LINES:
        return False
    if kind is Kind.RULE and own_words.underlines(lines[index], lines[index - 1]):
        return False
    return own_words.is_signature(lines[index], lines[index + 1 : end])


def _mark_quotes(lines: Sequence[str], kinds: Sequence[Kind], parts: list[str]) -> None:
    """Quotes at the end, and the one quote at the top of an answer below; quotes with answers between stay."""
    new = [index for index, part in enumerate(parts) if part == "new"]
    texts = [index for index in new if kinds[index] in (Kind.TEXT, Kind.APP)]
    older = [index for index in new if kinds[index] in (Kind.QUOTE, Kind.ATTRIBUTION)]
    if not texts or not older:
        return
    if _is_shown(lines, kinds, texts, older):
        return
    cut = _cut(lines, kinds, texts, older)
    if cut is not None:
        for index in new:
            if index >= cut:
                parts[index] = "quoted"
    elif _is_attributed(lines, kinds, older[0]) and _one_quote_on_top(kinds, older, texts):
        for index in older:
            parts[index] = "quoted"


def _is_shown(lines: Sequence[str], kinds: Sequence[Kind], texts: Sequence[int], older: Sequence[int]) -> bool:
    """Whether the only quote is what the writer's line above introduces with a colon, and no mail program's."""
    if any(kinds[index] is Kind.ATTRIBUTION for index in older) or not older[0] - 2 <= texts[-1] < older[0]:
        return False
    return own_words.shows(lines[texts[-1]])


def _cut(lines: Sequence[str], kinds: Sequence[Kind], texts: Sequence[int], older: Sequence[int]) -> int | None:
    """Where the quoted end of the mail begins, or None where its end is new text."""
    attributions = [i for i in older if kinds[i] is Kind.ATTRIBUTION and i > texts[0]]
    quotes = [i for i in older if kinds[i] is Kind.QUOTE]
    if attributions and not any(quote > attributions[0] for quote in quotes):
        return attributions[0]
    last_quote = quotes[-1] if quotes else -1
    if attributions and not any(attributions[0] < text < last_quote for text in texts):
        tail = [lines[text] for text in texts if text > last_quote]
        if not tail or own_words.is_footer(tail) or _is_marked_footer(lines, kinds, last_quote + 1):
            return attributions[0]
    if last_quote > texts[-1] or (attributions and attributions[-1] > texts[-1]):
        return next(index for index in older if index > texts[-1])
    return None


def _is_marked_footer(lines: Sequence[str], kinds: Sequence[Kind], start: int) -> bool:
    """Whether all that stands below the last quote is a signature under its mark, and not one sentence to a person."""
    first = next((index for index in range(start, len(lines)) if lines[index].strip()), len(lines))
    if first == len(lines) or kinds[first] is not Kind.MARK or len(lines) - first > MAX_SMALL_PRINT_LINES:
        return False
    return own_words.names_a_page(lines[first + 1 :]) or own_words.is_signature(lines[first], lines[first + 1 :])


def _is_attributed(lines: Sequence[str], kinds: Sequence[Kind], first: int) -> bool:
    """Whether a quote begins with an attribution, which some programs quote as well (`> On 4 March, Ann wrote:`)."""
    if kinds[first] is Kind.ATTRIBUTION:
        return True
    return attribution.is_attribution(lines[first].lstrip("> \t")[: shapes.MAX_CHARACTERS], attribution.Below.QUOTE)


def _one_quote_on_top(kinds: Sequence[Kind], older: Sequence[int], texts: Sequence[int]) -> bool:
    """Whether all that is quoted stands above what was written. A phone's own line is where its owner began to type."""
    written = next((index for index in texts if kinds[index] is not Kind.APP), texts[0])
    return any(kinds[index] is Kind.QUOTE for index in older) and older[-1] < written


def _mark_furniture(kinds: Sequence[Kind], parts: list[str]) -> None:
    """Attribution, header and separator lines are never new text."""
    for index, kind in enumerate(kinds):
        if parts[index] == "new" and kind in (Kind.ATTRIBUTION, Kind.HEADER, Kind.SEPARATOR):
            parts[index] = "quoted"


# The armour of a clear-signed text (RFC 9580, 7): what a program put around what the author wrote.
_BEGIN = "-----BEGIN PGP SIGNED MESSAGE-----"
_SIGNATURE, _END = "-----BEGIN PGP SIGNATURE-----", "-----END PGP SIGNATURE-----"
_HEADER = re.compile(r"[A-Za-z-]{1,30}: .{0,300}")
_CODED = re.compile(r"[A-Za-z0-9+/=]{0,100}")
_ESCAPE = "- "


def without_armour(text: str) -> str:
    """`text` with no armour, no signature and no escapes of dashes. What is not one whole armour stays as it is, since
    it may be what the author writes about.
    """
    if _BEGIN not in text:
        return text
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    shapes = [line.rstrip() for line in lines]
    try:
        begin = shapes.index(_BEGIN)
        body = shapes.index("", begin) + 1
        own_words = shapes.index(_SIGNATURE, body)
        end = shapes.index(_END, own_words)
    except ValueError:
        return text
    coded = all(_CODED.fullmatch(line) or _HEADER.fullmatch(line) for line in shapes[own_words + 1 : end])
    if not coded or not all(_HEADER.fullmatch(line) for line in shapes[begin + 1 : body - 1]):
        return text
    written = [line.removeprefix(_ESCAPE) for line in lines[body:own_words]]
    return "\n".join([*lines[:begin], *written, *lines[end + 1 :]])
