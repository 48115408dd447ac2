"""A layer's content before its budget is held: entries in the order of their worth."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from schemas.events.replies import ContextLayer
from schemas.words import BYTES_A_WORD
from services.mail.masking import mask
from services.model.usage import estimate_tokens, tokens_in

Item = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Entry:
    """One line or passage of a layer, and the same as data.

    `parts` are those of the text that may be left out where they were said before, between `head` and `tail`:
    sentences, or names. Where all of them were, `above` stands for them; without it the entry goes.
    The data stay whole.
    """

    text: str
    item: Item
    head: str = ""
    parts: tuple[str, ...] = ()
    tail: str = ""
    above: str = ""
    names: bool = False


@dataclass(frozen=True, slots=True)
class Section:
    """What a layer found: entries, the most valuable first.

    `newest_first` entries are shown oldest first, after the budget has been held; `by` names the datum that entries
    are shown together by: those without it first, then `groups` in their order, then others. `published` is what we
    publish, whoever wrote it: fenced like theirs, and not masked.
    """

    entries: tuple[Entry, ...] = ()
    newest_first: bool = False
    by: str = ""
    groups: tuple[str, ...] = ()
    published: bool = False


def entry(text: str, /, **item: Any) -> Entry:
    """An entry from its text and its data."""
    return Entry(text, item)


def entry_of(
    parts: Iterable[str], head: str = "", tail: str = "", /, *, above: str = "", names: bool = False, **item: Any
) -> Entry:
    """An entry from parts that may be left out where they were said before."""
    told = tuple(parts)
    return Entry(f"{head}{''.join(told)}{tail}", item, head, told, tail, above, names)


def section(
    entries: Iterable[Entry],
    *,
    newest_first: bool = False,
    by: str = "",
    groups: tuple[str, ...] = (),
    published: bool = False,
) -> Section:
    """A section from entries in the order of their worth."""
    return Section(tuple(entries), newest_first, by, groups, published)


def room_for(words: int) -> int:
    """Tokens that hold so many words of any script: what was held to its words when it was written is never cut."""
    return tokens_in(words * BYTES_A_WORD)


def fit(name: str, found: Section, budget: int | None, *, shared: bool, trusted: bool, about: str = "") -> ContextLayer:
    """The layer within `budget` tokens: whole entries, the first ones first; an entry too large alone is cut.

    Without a budget all of it is kept: what our own people say to the model is never shortened. In text that other
    people wrote, card numbers, IBANs and keys are masked.
    """
    entries = found.entries if trusted or found.published else tuple(map(_masked, found.entries))
    kept = entries if budget is None else _kept(entries, budget)
    shown = _arranged(kept, found)
    text = "\n".join(one.text for one in shown)
    return ContextLayer(
        name=name,
        text=text,
        items=tuple(dict(one.item) for one in shown),
        shared=shared,
        trusted=trusted,
        tokens=estimate_tokens(text),
        left_out=len(found.entries) - len(kept),
        about=about,
    )


def _arranged(kept: Sequence[Entry], found: Section) -> Sequence[Entry]:
    """The entries as they are read: together by what `by` names, a further group where its first entry stood."""
    if found.newest_first:
        return kept[::-1]
    if not found.by:
        return kept
    groups = dict.fromkeys(["", *found.groups, *(one.item.get(found.by, "") for one in kept)])
    return [one for group in groups for one in kept if one.item.get(found.by, "") == group]


def _kept(entries: Iterable[Entry], room: int) -> list[Entry]:
    kept: list[Entry] = []
    for one in entries:
        cost = _cost(one.text)
        if room <= 0 or (cost > room and kept):
            break
        kept.append(one if cost <= room else Entry(_cut(one.text, room), one.item))
        room -= cost
    return kept


def _cost(text: str) -> int:
    """Tokens of a line with its line feed."""
    return estimate_tokens(f"{text}\n")


def _cut(text: str, tokens: int) -> str:
    """As much of `text` as `tokens` hold, in whole characters."""
    return text.encode("utf-8", "ignore")[: 3 * tokens].decode("utf-8", "ignore")


def _masked(one: Entry) -> Entry:
    return Entry(mask(one.text).text, {name: _masked_value(value) for name, value in one.item.items()})


def _masked_value(value: Any) -> Any:
    if isinstance(value, str):
        return mask(value).text
    if isinstance(value, Mapping):
        return {name: _masked_value(inner) for name, inner in value.items()}
    return [_masked_value(inner) for inner in value] if isinstance(value, list | tuple) else value
