"""Where each sentence of a draft comes from: a cited passage, a fact, the mail that is answered, or nothing. Pure.

The model cites passages for a reply as a whole, so that sentences are matched by their words, as a reader would look
for them: of the sources that hold enough of its words and all of its numbers, a sentence rests on the one that holds
most. One that says the opposite of its source rests on nothing. It is help for a person who reads the draft, never a
reason to send one. The parts put together are the text, byte for byte.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from schemas.events.replies import ContextLayer
from services.core.wording import as_read
from services.memory.wording import says

_SENTENCE = re.compile(r"[^\n.!?]{0,2000}(?:[.!?](?![\s\n])[^\n.!?]{0,2000}){0,20}[.!?]{0,20}\s{0,50}")
_WORD = re.compile(r"\w{1,60}")
SHORTEST_WORD = 4  # characters; shorter ones mean little by themselves
FEWEST_WORDS = 3  # of a sentence that says something
SHARE = 0.6  # of its words that a source has to hold
LONGEST = 40_000  # characters; the rest of a longer text rests on nothing

Kind = Literal["passage", "fact", "mail", "rule"]


@dataclass(frozen=True, slots=True)
class Ground:
    """A source. `id` is that of the passage, fact or mail, or a rule's place among the rules."""

    kind: Kind
    id: str
    title: str
    quote: str


@dataclass(frozen=True, slots=True)
class Part:
    """A sentence with the white space after it. `says` is whether it says anything that could need a source."""

    text: str
    says: bool = False
    ground: Ground | None = None

    @property
    def words(self) -> str:
        """The sentence without the white space after it."""
        return self.text.rstrip()

    @property
    def space(self) -> str:
        """The white space after it."""
        return self.text[len(self.words) :]


def grounds_of(layers: Iterable[ContextLayer], citations: Sequence[str]) -> list[Ground]:
    """What the agent was given and may have used: passages that the draft cites, facts, the mails it answers, rules."""
    found: list[Ground] = []
    for layer in layers:
        for place, item in enumerate(layer.items):
            ground = _ground(layer.name, place, item, citations)
            if ground is not None:
                found.append(ground)
    return found


def parts_of(text: str, grounds: Sequence[Ground]) -> list[Part]:
    """The text in sentences, each with the source that fits best."""
    held = [(one, _words(f"{one.title} {one.quote}"), _words(one.title)) for one in grounds]
    parts = [_part(sentence, held) for sentence in _sentences(text[:LONGEST])]
    return [*parts, Part(text[LONGEST:])] if len(text) > LONGEST else parts


def _part(sentence: str, held: Sequence[tuple[Ground, frozenset[str], frozenset[str]]]) -> Part:
    words = _words(sentence)
    heavy = {one for one in words if len(one) >= SHORTEST_WORD or one.isdigit()}
    if len(heavy) < FEWEST_WORDS:
        return Part(sentence)
    fits = [
        (len(heavy & source), -place, ground)
        for place, (ground, source, title) in enumerate(held)
        if _numbers(words) <= source and _holds(sentence, words, heavy, ground, source, title)
    ]
    best = max(fits, key=lambda one: one[:2], default=(0, 0, None))
    return Part(sentence, says=True, ground=best[2])


def _holds(
    sentence: str,
    words: frozenset[str],
    heavy: set[str],
    ground: Ground,
    source: frozenset[str],
    title: frozenset[str],
) -> bool:
    if ground.kind == "rule":  # "Promise no refund" is no source of a refund: what a rule dictates stands in it
        return " ".join(sentence.split()) in " ".join(ground.quote.split())
    if ground.kind == "fact":  # a fact is short: its whole value has to stand in the sentence
        value = _words(ground.title.partition(": ")[2])
        named = bool(value - _numbers(value)) or bool(title & heavy - value)
        same = says("denials", sentence) or not says("denials", ground.quote)
        return bool(value) and named and value <= words and same
    alike = says("denials", sentence) == says("denials", _nearest(heavy, ground.quote))
    return len(heavy & source) >= SHARE * len(heavy) and alike


def _nearest(heavy: set[str], text: str) -> str:
    """The sentence of a text that has most of these words."""
    return max(_sentences(text[:LONGEST]), key=lambda one: len(heavy & _words(one)), default="")


def _sentences(text: str) -> Iterator[str]:
    at = 0
    while at < len(text):
        found = _SENTENCE.match(text, at)
        end = max(found.end() if found else 0, at + 1)
        yield text[at:end]
        at = end


def _words(text: str) -> frozenset[str]:
    return frozenset(one.casefold() for one in _WORD.findall(as_read(text)))


def _numbers(words: Iterable[str]) -> set[str]:
    return {one for one in words if one.isdigit()}


def _ground(layer: str, place: int, item: dict[str, Any], citations: Sequence[str]) -> Ground | None:
    id, text = str(item.get("id", "")), str(item.get("text", ""))
    if layer == "knowledge" and id in citations:
        return Ground("passage", id, str(item.get("title", "")), text)
    if layer == "participant" and id and "value" in item and not item.get("ended"):
        return Ground("fact", id, f"{item.get('key', '')}: {item['value']}", text)
    if layer == "mail" and item.get("mail_id"):
        return Ground("mail", str(item["mail_id"]), str(item.get("subject", "")), text)
    if layer == "behaviours" and item.get("rule"):
        return Ground("rule", f"rule-{place}", "", str(item["rule"]))
    return None
