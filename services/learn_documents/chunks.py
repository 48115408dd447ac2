"""Markdown cut into passages: at headings, then at blocks, each short enough to be shown whole.

Invariants: no word is lost; a passage stands under the headings that lead to it; a table that is cut keeps its head
over each piece, and a list or a program is cut between its lines. Blocks are those of CommonMark with tables.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from markdown_it import MarkdownIt
from markdown_it.token import Token

MAX_WORDS = 180
MAX_WORD_CHARACTERS = 400  # a longer one is no word of anybody's question, and is cut
LONGEST_HEADING = 300  # characters; what is longer is text: each passage below would begin with it
WORD_CHARACTERS = 10  # with its blank; words are shorter as a rule

_PARSER = MarkdownIt("commonmark").enable("table").disable("inline")
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])")


@dataclass(frozen=True, slots=True)
class Chunk:
    """One passage, under the headings that lead to it ("Billing > Refunds")."""

    heading: str
    text: str


@dataclass(frozen=True, slots=True)
class _Block:
    """Lines that belong together; a heading has a level from 1 to 6, anything else 0."""

    kind: str
    text: str
    level: int = 0


def title_of(markdown: str, default: str) -> str:
    """The first heading of the first level, else `default`, as far as an index holds it."""
    return next((one.text for one in _blocks(markdown) if one.level == 1 and one.text), default[:LONGEST_HEADING])


def chunk(markdown: str) -> list[Chunk]:
    """The passages in order. What is longer than `MAX_WORDS` is cut at its own seams: sentences, rows, lines, words."""
    found: list[Chunk] = []
    path: list[_Block] = []
    blocks: list[_Block] = []
    for block in [*_blocks(markdown), _Block("end", "", 1)]:
        if not block.level:
            blocks.append(block)
            continue
        found += [Chunk(" > ".join(one.text for one in path), text) for text in _passages(blocks)]
        path = [*(one for one in path if one.level < block.level), block]
        blocks = []
    return found


def _blocks(markdown: str) -> Iterator[_Block]:
    """The document's blocks at the top, in order; lines that no block claims (link definitions) are a paragraph."""
    lines = markdown.splitlines()
    source = "\n".join(lines)
    parsed = _PARSER.parse(source)
    tokens = [one for one in parsed if one.level == 0 and one.map]
    inline = {one.map[0]: one.content for one in parsed if one.type == "inline" and one.map}
    starts = [one.map[0] for one in tokens if one.map] + [len(lines)]
    if starts[0] > 0:
        yield _Block("paragraph", "\n".join(lines[: starts[0]]))
    for token, (start, end) in zip(tokens, pairwise(starts), strict=True):
        yield from _block(token, lines[start:end], inline.get(start, ""))


def _block(token: Token, lines: list[str], content: str) -> Iterator[_Block]:
    assert token.map is not None
    length = token.map[1] - token.map[0]
    if token.type == "heading_open" and len(content.strip()) <= LONGEST_HEADING:
        yield _Block("heading", content.strip(), int(token.tag[1:]))
        lines = lines[length:]
        kind = "paragraph"
    else:
        kind = token.type.removesuffix("_open").replace("heading", "paragraph")
    if any(line.strip() for line in lines):
        yield _Block(kind, "\n".join(lines).strip("\n"))


def _passages(blocks: list[_Block]) -> list[str]:
    passages: list[str] = []
    for block in blocks:
        for piece in _pieces(block):
            if passages and _words(passages[-1]) + _words(piece) <= MAX_WORDS:
                passages[-1] = f"{passages[-1]}\n\n{piece}"
            elif piece:
                passages.append(piece)
    return passages


def _pieces(block: _Block) -> list[str]:
    """The block whole, or in pieces where it is too long."""
    text = block.text.strip("\n") if block.kind in ("fence", "code_block") else block.text.strip()
    if _words(text) <= MAX_WORDS:
        return [text]
    lines = text.split("\n")
    if block.kind == "table":
        head = lines[:2] if sum(map(_words, lines[:2])) <= MAX_WORDS // 3 else []
        rows = _joined([short for line in lines[len(head) :] for short in _short(line)], "\n", _words(" ".join(head)))
        return ["\n".join([*head, piece]) for piece in rows]
    if block.kind == "paragraph" and len(lines) < 2 * len(_SENTENCE_END.split(text)):
        return _joined([short for one in _SENTENCE_END.split(text) for short in _short(one)], " ")
    return _joined([short for line in lines for short in _short(line)], "\n")


def _joined(parts: list[str], seam: str, taken: int = 0) -> list[str]:
    """Neighbouring parts put together as long as they are not too long, `taken` words being spoken for."""
    pieces: list[list[str]] = []
    length = 0
    for part in filter(str.strip, parts):
        more = _words(part)
        if pieces and length + more + taken <= MAX_WORDS:
            pieces[-1].append(part)
            length += more
        else:
            pieces.append([part])
            length = more
    return [seam.join(piece) for piece in pieces]


def _short(part: str) -> list[str]:
    """A sentence or line, in pieces where it alone is too long: a list of words, a number of a thousand digits."""
    if _words(part) <= MAX_WORDS // 2:
        return [part]
    words = [piece for word in part.split() for piece in _cut(word)]
    return _joined(words, " ", taken=MAX_WORDS // 2)


def _cut(word: str) -> list[str]:
    return [word[at : at + MAX_WORD_CHARACTERS] for at in range(0, len(word), MAX_WORD_CHARACTERS)]


def _words(text: str) -> int:
    """How long a text is in words; scripts without blanks, and long strings, count by their characters."""
    return max(len(text.split()), math.ceil(len(text) / WORD_CHARACTERS))
