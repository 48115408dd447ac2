"""What each line of a body is, seen on its own and with its neighbours."""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import Enum

from services.mail.reply_text import attribution, header_block, own_words, shapes

WRAPPED_QUOTE_WIDTH = 60
MAX_WRAP_WIDTH = 100
LEAST_WRAPPED = 2
MAX_TRIED = 2_000  # lines of a mail that may end an attribution; no mail of a person has so many


class Kind(Enum):
    """The kinds of line."""

    EMPTY = "empty"
    TEXT = "text"
    QUOTE = "quote"
    ATTRIBUTION = "attribution"
    SEPARATOR = "separator"  # announces an older mail
    HEADER = "header"  # of an older mail
    MARK = "mark"  # the signature's own separator
    RULE = "rule"
    APP = "app"  # Sent from my ...


_QUOTE = re.compile(r"[ \t\u00a0]*(?:(?:[A-Z]{0,3}|[a-z]{1,2})>|›|»|＞|\|(?![^\n]*\|)(?:\s|\Z))")
_JOINED = (
    Kind.TEXT,
    Kind.QUOTE,
    Kind.RULE,
    Kind.EMPTY,
    Kind.ATTRIBUTION,
)  # what an attribution may be put together from
_FENCE = re.compile(r"\s*(?:```|~~~)")


def classify(lines: Sequence[str]) -> list[Kind]:
    """The kind of each line; linear in the number of lines."""
    kinds = [_alone(line) for line in lines]
    _keep_code(lines, kinds)
    _keep_own_words(lines, kinds)
    _find_app_lines(lines, kinds)
    _find_blocks(lines, kinds)
    _find_attributions(lines, kinds)
    _join_wrapped_quotes(lines, kinds)
    return kinds


def without_quoted(text: str) -> str:
    """The text with line breaks in place of each line that is quoted, or of a mail that is passed on below.

    What is left stands where it stood, a paragraph apart.
    """
    lines = text.split("\n")
    if not any(_QUOTE.match(line) or header_block.is_separator(line) for line in lines):
        return text
    kinds = classify(lines)
    older = _passed_on(lines, kinds)
    quoted = (kind is Kind.QUOTE or index >= older for index, kind in enumerate(kinds))
    return "\n".join("\n" * len(line) if hidden else line for line, hidden in zip(lines, quoted, strict=True))


def _passed_on(lines: Sequence[str], kinds: Sequence[Kind]) -> int:
    """Where a mail begins that the writer passes on: a separator with its head below; else the end.

    Above all words of the writer it may be what they answer below: there the quote signs tell whose each line is.
    """
    written = next((at for at, kind in enumerate(kinds) if kind is Kind.TEXT), len(kinds))
    first = written if Kind.QUOTE in kinds else 0
    separators = (at for at in range(first, len(kinds)) if kinds[at] is Kind.SEPARATOR)
    return next((at for at in separators if _has_head(lines, _filled_below(kinds, at))), len(kinds))


def _has_head(lines: Sequence[str], below: int | None) -> bool:
    return below is not None and bool(header_block.role(lines[below]))


def _filled_below(kinds: Sequence[Kind], index: int) -> int | None:
    """The line next below a line that is not empty, over at most two empty ones; None for nothing."""
    below = range(index + 1, min(index + 4, len(kinds)))
    return next((at for at in below if kinds[at] is not Kind.EMPTY), None)


def is_only_a_head(quoted: str) -> bool:
    """Whether what was quoted is only the head of an older mail: what stands below it is that mail, passed on."""
    kinds = {kind for kind in classify(quoted.split("\n")) if kind is not Kind.EMPTY}
    return bool(kinds & {Kind.SEPARATOR, Kind.HEADER}) and kinds <= {Kind.SEPARATOR, Kind.HEADER, Kind.ATTRIBUTION}


def _alone(line: str) -> Kind:
    """The kind of a line by itself. The patterns are asked only where the first character lets them match."""
    said = line.strip()
    if not said:
        return Kind.EMPTY
    if line in shapes.KINDS:
        return Kind[shapes.KINDS[line]]
    if header_block.is_between_quote_signs(line):
        return Kind.SEPARATOR
    first = said[0]
    if (first in "›»＞|" or ">" in said[:4]) and _QUOTE.match(line):
        return Kind.QUOTE
    if not first.isalnum():
        if own_words.is_mark(line):
            return Kind.MARK
        if own_words.is_rule(line):
            return Kind.RULE
    return Kind.SEPARATOR if header_block.is_separator(line) else Kind.TEXT


def _keep_code(lines: Sequence[str], kinds: list[Kind]) -> None:
    """What stands between two fences is text, whatever it looks like."""
    fences = [index for index, line in enumerate(lines) if _FENCE.match(line)]
    for opening, closing in zip(fences[::2], fences[1::2], strict=False):
        kinds[opening : closing + 1] = [Kind.TEXT] * (closing + 1 - opening)


def _keep_own_words(lines: Sequence[str], kinds: list[Kind]) -> None:
    """Prompts, comparisons and separators that are spoken of are text."""
    quotes = [index for index, kind in enumerate(kinds) if kind is Kind.QUOTE]
    prompts = own_words.prompts([lines[index] for index in quotes])
    compared = all(own_words.is_comparison(lines[index]) for index in quotes)
    for index in quotes:
        if compared or (prompts and own_words.is_prompt(lines[index])):
            kinds[index] = Kind.TEXT
    for index, kind in enumerate(kinds):
        if kind is Kind.SEPARATOR and lines[index] not in shapes.KINDS and own_words.is_named(lines, index):
            kinds[index] = Kind.TEXT


def _find_app_lines(lines: Sequence[str], kinds: list[Kind]) -> None:
    """What a phone or an app appended begins or ends a paragraph."""
    for index, line in enumerate(lines):
        begins = index == 0 or kinds[index - 1] is not Kind.TEXT
        ends = index + 1 == len(lines) or kinds[index + 1] is not Kind.TEXT
        if kinds[index] is Kind.TEXT and (begins or ends) and own_words.is_app_line(line):
            kinds[index] = Kind.APP


def _find_blocks(lines: Sequence[str], kinds: list[Kind]) -> None:
    """Header blocks; the rule above one announces it."""
    index = 0
    while index < len(lines):
        columns = header_block.columns(lines, index) if kinds[index] is Kind.TEXT else None
        if columns:
            kinds[slice(*columns)] = [Kind.HEADER] * (columns[1] - columns[0])
        if kinds[index] is Kind.TEXT and header_block.announces(lines, index):
            kinds[index] = Kind.SEPARATOR
        end = index
        if kinds[index] is Kind.TEXT and header_block.role(lines[index]):
            above = _filled_above(kinds, index)
            announced = above is not None and (
                kinds[above] is Kind.SEPARATOR or header_block.is_outlook_rule(lines[above])
            )
            end = header_block.block_end(lines, index, announced)
            if end > index and own_words.is_pasted(lines, index, end):
                index = end
                continue
            kinds[index:end] = [Kind.HEADER] * (end - index)
            if end > index and above is not None and kinds[above] in (Kind.RULE, Kind.MARK):
                kinds[above] = Kind.SEPARATOR
        index = max(end, index + 1)


def _filled_above(kinds: Sequence[Kind], index: int) -> int | None:
    """The line above that is not empty, over at most three empty ones."""
    return next((at for at in range(index - 1, max(index - 5, -1), -1) if kinds[at] is not Kind.EMPTY), None)


def _find_attributions(lines: Sequence[str], kinds: list[Kind]) -> None:
    tried = 0
    for end, line in enumerate(lines):
        if not _may_hold_attribution(line, kinds[end]) or not attribution.may_end(line, _continued(kinds, end)):
            continue
        tried += 1
        if tried > MAX_TRIED:
            break
        start = attribution.first_line(lines, end, _below(kinds, end))
        if start is not None and all(kind in _JOINED for kind in kinds[start:end]):
            kinds[start : end + 1] = [Kind.ATTRIBUTION] * (end + 1 - start)


def _may_hold_attribution(line: str, kind: Kind) -> bool:
    """A line of text, or the rest of a broken mailbox (`jp> wrote:`), which looks like a quote's."""
    return kind is Kind.TEXT or (
        kind is Kind.QUOTE and (line.lstrip()[:1].isalpha() or attribution.closes_bracket(line))
    )


def _continued(kinds: Sequence[Kind], index: int) -> bool:
    return index + 1 < len(kinds) and kinds[index + 1] is Kind.TEXT


def _below(kinds: Sequence[Kind], index: int) -> attribution.Below:
    """What stands next below a line, over at most two empty ones where it is a quote."""
    below = _filled_below(kinds, index)
    near = None if below is None else kinds[below]
    if near is Kind.QUOTE:
        return attribution.Below.QUOTE
    if near is None and all(kind is Kind.EMPTY for kind in kinds[index + 1 :]):
        return attribution.Below.NOTHING
    return attribution.Below.TEXT


def _join_wrapped_quotes(lines: Sequence[str], kinds: list[Kind]) -> None:
    """Short lines below long quoted ones are the rest of those, where a mail program broke them at one width.

    Once proves nothing: an answer may stand below a long line. The first word of each rest did not fit above it.
    """
    width = max((len(line) for line, kind in zip(lines, kinds, strict=True) if kind is Kind.QUOTE), default=0)
    rests = [index for index in range(1, len(lines)) if _is_rest(lines, kinds, index, min(width, MAX_WRAP_WIDTH))]
    if len(rests) >= LEAST_WRAPPED:
        for index in rests:
            kinds[index] = Kind.QUOTE


def _is_rest(lines: Sequence[str], kinds: Sequence[Kind], index: int, width: int) -> bool:
    above, line = lines[index - 1].rstrip(), lines[index].strip()
    if kinds[index] is not Kind.TEXT or kinds[index - 1] is not Kind.QUOTE or len(above) < WRAPPED_QUOTE_WIDTH:
        return False
    if index + 1 < len(lines) and kinds[index + 1] not in (Kind.QUOTE, Kind.EMPTY):
        return False
    whole = above.endswith((".", "!", "?", ":", "。", "？", "！"))
    fits = len(above) + 1 + len(line.split(maxsplit=1)[0]) <= width
    return not (whole or fits or line[:1].isupper() or len(line) >= len(above) // 2)
