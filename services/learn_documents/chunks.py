"""Markdown cut into passages: at headings, then at paragraphs, each short enough to be shown whole."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import chain

MAX_WORDS = 180

_HEADING = re.compile(r"^(#{1,6})\s+(.+?)\s*#*\s*$")


@dataclass(frozen=True, slots=True)
class Chunk:
    """One passage, under the headings that lead to it ("Billing > Refunds")."""

    heading: str
    text: str


def title_of(markdown: str, default: str) -> str:
    """The first heading of the first level, else `default`."""
    found = re.search(r"^#\s+(.+?)\s*#*\s*$", markdown, re.MULTILINE)
    return found.group(1) if found else default


def chunk(markdown: str) -> list[Chunk]:
    """The passages in order. A paragraph longer than `MAX_WORDS` is cut between sentences, a sentence between words."""
    found: list[Chunk] = []
    path: list[tuple[int, str]] = []
    lines: list[str] = []

    def close() -> None:
        heading = " > ".join(text for _, text in path)
        found.extend(Chunk(heading, text) for text in _passages("\n".join(lines)))
        lines.clear()

    in_code = False
    for line in markdown.splitlines():
        in_code ^= line.lstrip().startswith("```")
        heading = None if in_code else _HEADING.match(line)
        if heading:
            close()
            level = len(heading.group(1))
            path[:] = [(depth, text) for depth, text in path if depth < level] + [(level, heading.group(2))]
        else:
            lines.append(line)
    close()
    return found


def _passages(text: str) -> list[str]:
    passages: list[str] = []
    for paragraph in re.split(r"\n\s*\n", text):
        for piece in _sentences(paragraph.strip()):
            if passages and _words(passages[-1]) + _words(piece) <= MAX_WORDS:
                passages[-1] = f"{passages[-1]}\n\n{piece}"
            elif piece:
                passages.append(piece)
    return passages


def _sentences(paragraph: str) -> list[str]:
    """The paragraph whole, or in pieces of whole sentences where it is too long."""
    if _words(paragraph) <= MAX_WORDS:
        return [paragraph]
    pieces = [""]
    for sentence in chain.from_iterable(map(_short, re.split(r"(?<=[.!?])\s+", paragraph))):
        if pieces[-1] and _words(pieces[-1]) + _words(sentence) > MAX_WORDS:
            pieces.append("")
        pieces[-1] = f"{pieces[-1]} {sentence}".strip()
    return pieces


def _short(sentence: str) -> list[str]:
    """The sentence, in pieces where it alone is too long: a table, a list of words."""
    words = sentence.split()
    if len(words) <= MAX_WORDS:
        return [sentence]
    return [" ".join(words[at : at + MAX_WORDS]) for at in range(0, len(words), MAX_WORDS)]


def _words(text: str) -> int:
    return len(text.split())
