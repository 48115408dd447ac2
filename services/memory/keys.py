"""Usual keys and the other names that models give them: one thing has one key, in any language. Pure.

A key that the table does not know stays as it is. Of two keys that it does not know as two, `same_thing` says whether
they are the same words in another order, or with others that say only that it is somebody's way or wish.
"""

from __future__ import annotations

import importlib.resources
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, lru_cache

from services.core.wording import folded
from services.memory import wording
from services.memory.facts import HAPPENED, plain_key
from services.memory.wording import content_of, unsaid, words_of

NUMBER = frozenset({"number", "no", "nr", "id", "code", "nummer", "numero", "numer", "номер", "番号"})
_COUNT = re.compile(r"^(?:number of|anzahl(?: der)?|nombre d(?:e |['’])|numero d[ie]|aantal|liczba) ?")
LEAST_NAME = 4  # letters of a key
KEPT = 4096  # keys of which what follows from their words is kept: a decision asks it of every key that stands
SIDE_BY_SIDE = HAPPENED | {"relationship"}


@dataclass(frozen=True, slots=True)
class Keys:
    """The table. `names` gives the key that a name means, `named` all names of a key, its own first.

    `person` are a person's keys, `chosen` those of a wish, `manner` words of a key that say only that it is somebody's
    way or wish, `akin` keys with each other's names, `said` the verbs by which people say a key, `kin` the words for a
    relative, `of_a_child` keys of one's own child.
    """

    names: Mapping[str, str]
    named: Mapping[str, tuple[str, ...]]
    generic: frozenset[str]
    person: frozenset[str]
    chosen: frozenset[str]
    manner: frozenset[str]
    akin: Mapping[str, str]
    said: Mapping[str, frozenset[str]]
    kin: Mapping[str, frozenset[str]]
    of_a_child: frozenset[str]


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
    """All words by which people name a key, in any language, or one that is akin: a mobile is a phone.

    So do the verbs that say it: "I drive a ..." of a vehicle.
    """
    return _words_of_names(_usual(plain_key(key))) | verbs_of(key)


def relatives_of(key: str) -> frozenset[str]:
    """The words for whoever a key names ("wife's name"), and for the author's child of a key that is a child's."""
    table, words = _table(), set(words_of(_usual(plain_key(key))))
    meant = [some for some in table.kin.values() if some & words]
    if is_of_a_child(key):
        meant += [table.kin["son"], table.kin["daughter"]]
    return frozenset().union(*meant)


@cache
def relatives() -> frozenset[str]:
    """The words for any relative, in any language."""
    return frozenset().union(*_table().kin.values())


def verbs_of(key: str) -> frozenset[str]:
    """The verbs that say a key: "I drive a ..." of a vehicle."""
    return _table().said.get(_usual(plain_key(key)), frozenset())


def is_of_a_child(key: str) -> bool:
    """Whether a key is told of the author's own child: "her teacher" is the one of the author's daughter."""
    return bool(set(words_of(_usual(plain_key(key)))) & _table().of_a_child)


@lru_cache(maxsize=KEPT)
def _words_of_names(usual: str) -> frozenset[str]:
    names = (*_names(usual), *_names(_table().akin.get(usual, usual)))
    return frozenset(word for name in names for word in words_of(name))


def are_akin(one: str, other: str) -> bool:
    """Whether people name one key by the names of the other."""
    return _table().akin.get(one) == other


@lru_cache(maxsize=KEPT)
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


@lru_cache(maxsize=KEPT)
def known_names(key: str) -> tuple[tuple[str, ...], ...]:
    """What each name of a key in the table is about, its own first; of itself where the table does not have it."""
    return tuple(content_of(name) for name in _names(_usual(plain_key(key))))


def same_but_for_number(one: str, other: str) -> bool:
    """Whether either key is the other one with a word for a number behind it: "meter number" and "meter"."""
    shorter, longer = sorted((folded(plain_key(one)), folded(plain_key(other))), key=len)
    return len(shorter) >= LEAST_NAME and longer.startswith(shorter) and longer[len(shorter) :].strip() in NUMBER


def _names(usual: str) -> tuple[str, ...]:
    return _table().named.get(usual, (usual,))


def _same_words(one: str, other: str) -> bool:
    first, second = (_things(name) for name in (one, other))
    return bool(first) and not unsaid(first, second) and not unsaid(second, first)


@lru_cache(maxsize=KEPT)
def _things(name: str) -> tuple[str, ...]:
    """The words of a key that say what it is of."""
    counted = _COUNT.sub("", name)
    return tuple(word for word in content_of(counted) if word not in _table().manner)


def without_name(key: str, value: str) -> str:
    """A value without the names of its key: of a plan "Team plan" is "Team", of seats "40 seats" is "40"."""
    names = _words_of_names(_usual(plain_key(key)))
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
    words = {table: {key: frozenset(words_of(some)) for key, some in file[table].items()} for table in ("said", "kin")}
    named: dict[str, tuple[str, ...]] = {}
    for name, key in names.items():
        named[key] = (*named.get(key, (key,)), *((name,) if name != key else ()))
    return Keys(
        names,
        named,
        frozenset(file["generic"]),
        frozenset(file["person"]),
        frozenset(file["chosen"]),
        manner,
        file["akin"],
        words["said"],
        words["kin"],
        frozenset(words_of(file["of_a_child"])),
    )
