"""What each line of a body is, seen on its own and with its neighbours."""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import Enum

from services.core.mail.reply_text import attribution, header_block, marks, signature

WRAPPED_QUOTE_WIDTH = 60


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
_FENCE = re.compile(r"\s*(?:```|~~~)")


def classify(lines: Sequence[str]) -> list[Kind]:
    """The kind of each line; linear in the number of lines."""
    kinds = [_alone(line) for line in lines]
    _keep_code(lines, kinds)
    _find_app_lines(lines, kinds)
    _find_blocks(lines, kinds)
    _find_attributions(lines, kinds)
    _join_wrapped_quotes(lines, kinds)
    return kinds


def without_quoted(text: str) -> str:
    """The text with line breaks in place of each quoted line: what is left stands where it stood, a paragraph apart."""
    lines = text.split("\n")
    if not any(_QUOTE.match(line) for line in lines):
        return text
    kept = zip(lines, classify(lines), strict=True)
    return "\n".join("\n" * len(line) if kind is Kind.QUOTE else line for line, kind in kept)


def _alone(line: str) -> Kind:
    if not line.strip():
        return Kind.EMPTY
    if line in marks.KINDS:
        return Kind[marks.KINDS[line]]
    if _QUOTE.match(line):
        return Kind.QUOTE
    if signature.is_mark(line):
        return Kind.MARK
    if signature.is_rule(line):
        return Kind.RULE
    if header_block.is_separator(line):
        return Kind.SEPARATOR
    return Kind.TEXT


def _keep_code(lines: Sequence[str], kinds: list[Kind]) -> None:
    """What stands between two fences is text, whatever it looks like."""
    fences = [index for index, line in enumerate(lines) if _FENCE.match(line)]
    for opening, closing in zip(fences[::2], fences[1::2], strict=False):
        kinds[opening : closing + 1] = [Kind.TEXT] * (closing + 1 - opening)


def _find_app_lines(lines: Sequence[str], kinds: list[Kind]) -> None:
    """What a phone or an app appended begins or ends a paragraph."""
    for index, line in enumerate(lines):
        begins = index == 0 or kinds[index - 1] is not Kind.TEXT
        ends = index + 1 == len(lines) or kinds[index + 1] is not Kind.TEXT
        if kinds[index] is Kind.TEXT and (begins or ends) and signature.is_app_line(line):
            kinds[index] = Kind.APP


def _find_blocks(lines: Sequence[str], kinds: list[Kind]) -> None:
    """Header blocks; the rule above one announces it."""
    index = 0
    while index < len(lines):
        if kinds[index] is Kind.TEXT and header_block.announces(lines, index):
            kinds[index] = Kind.SEPARATOR
        end = header_block.block_end(lines, index) if kinds[index] is Kind.TEXT else index
        if end > index:
            kinds[index:end] = [Kind.HEADER] * (end - index)
            above = index - 1
            while above >= 0 and kinds[above] is Kind.EMPTY:
                above -= 1
            if above >= 0 and kinds[above] in (Kind.RULE, Kind.MARK):
                kinds[above] = Kind.SEPARATOR
        index = max(end, index + 1)


def _find_attributions(lines: Sequence[str], kinds: list[Kind]) -> None:
    for end, line in enumerate(lines):
        if kinds[end] not in (Kind.TEXT, Kind.QUOTE):
            continue
        if attribution.ends_like_one(line):
            start = attribution.first_line(lines, end)
        else:
            start = end if kinds[end] is Kind.TEXT and attribution.is_attribution(line) else None
        if start is None and kinds[end] is Kind.TEXT and _next_filled(kinds, end) is Kind.QUOTE:
            start = end if attribution.is_short_attribution(line) else None
        if start is not None:
            kinds[start : end + 1] = [Kind.ATTRIBUTION] * (end + 1 - start)


def _next_filled(kinds: Sequence[Kind], index: int) -> Kind | None:
    return next((kind for kind in kinds[index + 1 : index + 4] if kind is not Kind.EMPTY), None)


def _join_wrapped_quotes(lines: Sequence[str], kinds: list[Kind]) -> None:
    """A short line between two quoted ones, the first of them long, is the rest of the first, broken on its way."""
    for index in range(1, len(lines) - 1):
        if (
            kinds[index] is Kind.TEXT
            and kinds[index - 1] is kinds[index + 1] is Kind.QUOTE
            and len(lines[index - 1]) >= WRAPPED_QUOTE_WIDTH
            and len(lines[index]) < len(lines[index - 1]) // 2
            and not lines[index][:1].isupper()
        ):
            kinds[index] = Kind.QUOTE
