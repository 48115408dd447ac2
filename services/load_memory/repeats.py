"""Leaves out of a layer what a layer above it says already.

A sentence is a repeat where one sentence above has all of its words and not many more, and denies where it denies:
names of the author and small words apart, so that "plan: Enterprise" repeats "Ada Miller is on the Enterprise plan".
Only what an entry offers as its parts is ever left out. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace

from schemas.events.replies import ContextLayer
from services.load_memory.section import Entry, Section
from services.memory.wording import is_glue, says, words_of

LEAST_WORDS = 2  # one word alone says too little to be a repeat
LEAST_SHARE = 0.5  # of the words of the sentence above

_SMALL = frozenset({"customer", "from", "on", "with"})  # besides those that hold a sentence together in any language
# Of those, what says that it was so: "was on the plan" does not repeat "is on the plan".
_THEN = frozenset({
    "was", "were", "had", "did", "war", "waren", "hatte", "hatten", "wurde", "wurden", "etait", "etaient", "avait",
    "avaient", "fut", "era", "eran", "estaba", "estaban", "fue", "tenia", "tenian", "ero", "erano", "aveva", "avevano",
    "estava", "estavam", "tinha", "tinham", "foi", "byl", "byla", "bylo", "byli", "mial", "miala",
})  # fmt: skip
_SENTENCE = re.compile(r".+?(?:[.!?\u3002\uff01\uff1f][\"'»)]*(?=\s|$)\s*|\n+|$)", re.DOTALL)


def sentences(text: str) -> tuple[str, ...]:
    """The sentences and lines of a text, each with the blanks behind it: together they are the text."""
    return tuple(_SENTENCE.findall(text))


@dataclass(frozen=True, slots=True)
class Content:
    """The words of a sentence that say what it is about, and whether it denies."""

    words: frozenset[str]
    denies: bool


class Said:
    """What the layers so far say; `names` are those of the author, which every sentence about them may have."""

    def __init__(self, names: Iterable[str] = ()) -> None:
        self._small = _SMALL.union(*(words_of(name) for name in names))
        self._said: list[Content] = []

    def news(self, found: Section) -> Section:
        """The section without repeats; an entry of which nothing else is left goes."""
        entries = (self._shortened(one) if one.parts else one for one in found.entries)
        return replace(found, entries=tuple(one for one in entries if one.text))

    def add(self, layer: ContextLayer) -> None:
        """A layer as the model reads it: each sentence, each fact by key and text, each thread by subject and state."""
        pairs = (("key", "text"), ("subject", "state"))
        named = (f"{item[one]} {item[two]}" for item in layer.items for one, two in pairs if {one, two} <= item.keys())
        self._said += [self._content(one) for one in (*sentences(layer.text), *named)]

    def _shortened(self, whole: Entry) -> Entry:
        kept = [part for part in whole.parts if not self._repeats(part, whole.names)]
        if len(kept) == len(whole.parts):
            return whole
        told = "".join(kept).rstrip(";, \n") or whole.above
        return replace(whole, text=f"{whole.head}{told}{whole.tail}" if told else "")

    def _repeats(self, part: str, is_name: bool) -> bool:
        mine = self._content(part)
        if is_name:
            return any(mine.words <= said.words for said in self._said)
        return len(mine.words) >= LEAST_WORDS and any(
            mine.denies == said.denies and mine.words <= said.words and len(mine.words) >= LEAST_SHARE * len(said.words)
            for said in self._said
        )

    def _content(self, text: str) -> Content:
        words = frozenset(word for word in words_of(text) if word in _THEN or not is_glue(word))
        return Content(words - self._small, says("denials", text))
