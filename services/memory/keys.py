"""Usual keys and the other names that models give them: one thing has one key, in any language. Pure.

A key that the table does not know stays as it is. Of two keys that it does not know as two, `same_thing` says whether
they are the same words in another order, or with others that say only that it is somebody's way or wish.
"""

from __future__ import annotations

import importlib.resources
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from services.core.wording import folded
from services.memory import wording
from services.memory.facts import HAPPENED, plain_key
from services.memory.wording import content_of, unsaid, words_of

SIDE_BY_SIDE = HAPPENED | {"relationship"}


@dataclass(frozen=True, slots=True)
class Keys:
    """The table. `names` gives the key that a name means; `person` are a person's keys, `chosen` those of a wish.

    `manner` are words of a key that say only that it is somebody's way or wish, `akin` keys with each other's names.
    """

    names: Mapping[str, str]
    generic: frozenset[str]
    person: frozenset[str]
    chosen: frozenset[str]
    manner: frozenset[str]
    akin: Mapping[str, str]


def key_of(key: str, kind: str = "") -> str:
    """The key that a fact is kept under: the usual one where the table has it, else as it was said, in plain form.

    Kinds whose values stand side by side keep their own keys: each names an occurrence.
    """
    plain = plain_key(key)
    return plain if kind in SIDE_BY_SIDE else _usual(plain)


def is_of_a_person(key: str, kind: str) -> bool:
    """Whether the key is one person's own, so that a colleague's value of it is not the author's."""
    return kind in ("contact_info", "identity") or _usual(plain_key(key)) in _table().person


def is_usual(key: str, kind: str) -> bool:
    """Whether the table knows the key of a fact that has one value."""
    return kind in ("contact_info", "customer_info", "identity") and _usual(plain_key(key)) in _table().names


def is_chosen(key: str) -> bool:
    """Whether the value is what the customer wishes, so that to wish for it says it: a language, a way of contact."""
    return _usual(plain_key(key)) in _table().chosen


def names_of(key: str) -> frozenset[str]:
    """All words of the names of a key, in any language, and of a key that is akin: a mobile is a phone."""
    usual = _usual(plain_key(key))
    meant = {usual, _table().akin.get(usual, usual)}
    names = meant.union(name for name, known in _table().names.items() if known in meant)
    return frozenset(word for name in names for word in words_of(name))


def are_akin(one: str, other: str) -> bool:
    """Whether people name one key by the names of the other."""
    return _table().akin.get(one) == other


def same_thing(one: str, other: str) -> bool:
    """Whether two keys name one thing: "format of reports" is "report format", "contact channel" "preferred contact".

    Two usual keys are two things, and so are keys of which either says a further word ("phone", "emergency phone").
    """
    first, second = _usual(plain_key(one)), _usual(plain_key(other))
    if first == second:
        return True
    known = _table().names
    if first in known and second in known:
        return False
    return any(_same_words(a, b) for a in _names(first) for b in _names(second))


def _names(usual: str) -> tuple[str, ...]:
    return (usual, *(name for name, known in _table().names.items() if known == usual and name != usual))


def _same_words(one: str, other: str) -> bool:
    first, second = (_things(name) for name in (one, other))
    return bool(first) and not unsaid(first, second) and not unsaid(second, first)


def _things(name: str) -> tuple[str, ...]:
    """The words of a key that say what it is of."""
    return tuple(word for word in content_of(name) if word not in _table().manner)


def without_name(key: str, value: str) -> str:
    """A value without the names of its key: of a plan "Team plan" is "Team", of seats "40 seats" is "40"."""
    names = names_of(key)
    kept = [one for one in value.split() if not set(words_of(one)) & names]
    return " ".join(kept) if kept else value


def _usual(plain: str) -> str:
    table = _table()
    if plain in table.names:
        return table.names[plain]
    words = [one for one in plain.split() if one not in table.generic]
    return table.names.get(" ".join(words), plain)


@cache
def _table() -> Keys:
    source = (importlib.resources.files(wording) / "keys.toml").read_text(encoding="utf-8")
    file = tomllib.loads(source)
    names = {plain_key(one): key for key, others in file["keys"].items() for one in (key, *others.split("|"))}
    manner = frozenset(folded(one) for one in file["manner"])
    return Keys(
        names, frozenset(file["generic"]), frozenset(file["person"]), frozenset(file["chosen"]), manner, file["akin"]
    )
