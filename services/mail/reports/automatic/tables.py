"""Wording tables, of all languages or of one, indexed by the words with which their phrases begin."""

from __future__ import annotations

import importlib.resources
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from services.core.wording import folded, lines_of
from services.mail.reports.automatic.phrases import (
    KEY,
    Phrase,
    Row,
    follows,
    holds,
    keys_of,
    pieces_of,
    read_line,
    stands,
)
from services.mail.reports.automatic.sentences import Sentence, is_unspaced

Begun = tuple[tuple[Row, Phrase], ...]


@dataclass(frozen=True, slots=True)
class Tables:
    """Phrases by what they begin with, so that a word is compared with few of them."""

    words: Mapping[str, Begun]
    stems: Mapping[str, Begun]
    parts: tuple[tuple[str, Row], ...]  # (kind, the pieces of an unspaced script)
    inside: tuple[tuple[str, str], ...]  # (kind, a part of a word)
    ascii_inside: tuple[tuple[str, str], ...]  # those of them that a text in ASCII can hold

    def kinds(self, sentence: Sentence) -> frozenset[str]:
        """The kinds of phrases that a sentence holds."""
        ascii_only = sentence.text.isascii()
        found = {kind for kind, part in (self.ascii_inside if ascii_only else self.inside) if part in sentence.text}
        words, keys = sentence.words, keys_of(sentence.words)
        for at, word in enumerate(words):
            for row, phrase in self.words.get(word, ()):
                if phrase.kind in found or not phrase.may_stand(keys):
                    continue
                if (len(row) == 1 or stands(row, words, at)) and follows(phrase.rest, words, at + len(row)):
                    found.add(phrase.kind)
            for (stem,), phrase in self.stems.get(word[:KEY], ()):
                if phrase.kind in found or not phrase.may_stand(keys):
                    continue
                if word.startswith(stem) and follows(phrase.rest, words, at + 1):
                    found.add(phrase.kind)
        if not ascii_only and is_unspaced(sentence.text):
            found.update(kind for kind, pieces in self.parts if kind not in found and holds(sentence.text, pieces))
        return frozenset(found)

    def opening(self, words: Sequence[str]) -> str:
        """The kind of the first phrase with which a row of words begins, or ""."""
        if not words:
            return ""
        begun = [one for one in self.words.get(words[0], ()) if stands(one[0], words, 0)]
        begun += [one for one in self.stems.get(words[0][:KEY], ()) if words[0].startswith(one[0])]
        return next((phrase.kind for row, phrase in begun if follows(phrase.rest, words, len(row))), "")


@cache
def tables(package: str, kinds: tuple[str, ...]) -> Tables:
    """The tables `<kind>.txt` of a package, in one."""
    return _indexed((name, folded(line)) for name in kinds for line in lines_of(package, name))


@cache
def language_tables(package: str, language: str) -> Tables:
    """The table `<language>.txt` of a package, whose lines are `kind: phrase`; empty for a language without one."""
    if language not in _languages(package):
        return _indexed(())
    lines = (line.partition(":") for line in lines_of(package, language))
    return _indexed((kind, folded(phrase.strip())) for kind, _, phrase in lines)


@cache
def _languages(package: str) -> frozenset[str]:
    names = (one.name for one in importlib.resources.files(package).iterdir())
    return frozenset(name.removesuffix(".txt") for name in names if name.endswith(".txt"))


def _indexed(lines: Iterable[tuple[str, str]]) -> Tables:
    words, stems = defaultdict[str, list[tuple[Row, Phrase]]](list), defaultdict[str, list[tuple[Row, Phrase]]](list)
    parts, inside = list[tuple[str, Row]](), list[tuple[str, str]]()
    for kind, line in lines:
        if line.startswith("*"):
            inside.append((kind, line[1:].strip()))
        elif is_unspaced(line):
            parts += [(kind, pieces) for pieces in pieces_of(line)]
        else:
            for row, rest in read_line(line):
                stem = row[0].removesuffix("*")
                if stem != row[0]:  # only the last word of a row may be a stem: this row is one
                    stems[stem[:KEY]].append(((stem,), Phrase.of(kind, rest)))
                else:
                    words[row[0]].append((row, Phrase.of(kind, rest)))
    in_ascii = tuple(one for one in inside if one[1].isascii())
    return Tables(_frozen(words), _frozen(stems), tuple(parts), tuple(inside), in_ascii)


def _frozen(index: Mapping[str, list[tuple[Row, Phrase]]]) -> Mapping[str, Begun]:
    return {key: tuple(phrases) for key, phrases in index.items()}
