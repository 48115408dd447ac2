"""Users' names: when two look the same, and whom a note names. Pure.

A note names somebody by `@` and a user's name, or the first word of it where no other name begins with that word:
`@grace` is Grace Hopper as long as she is the only Grace. A team's name is called so, too, and stands for its members.
An address (`ann@grace.example`) names nobody, and what is nobody's name stays text.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Collection, Mapping
from types import MappingProxyType

MOST = 20  # people that one note names
NO_TEAMS: Mapping[str, Collection[str]] = MappingProxyType({})


def name_key(name: str) -> str:
    """A name, or a text, in one width, one case and with single spaces."""
    return " ".join(unicodedata.normalize("NFKC", name).casefold().split())


def mentioned(
    text: str, names: Collection[str], *, but: str = "", teams: Mapping[str, Collection[str]] = NO_TEAMS
) -> tuple[str, ...]:
    """The names, each once, in the order of the text, those of members for a team of `teams`; nobody is asked by
    themselves (`but`).
    """
    handles = _handles((*names, *teams))
    before, *after = name_key(text).split("@")
    found: dict[str, None] = {}
    for said in after:
        name = None if _in_a_word(before[-1:]) else _name_at(said, handles)
        if name:
            found |= dict.fromkeys(teams.get(name, (name,)))
        before = said
    return tuple(name for name in found if name != but)[:MOST]


def _handles(names: Collection[str]) -> dict[str, str]:
    """Names by what a note may call them, the longest first."""
    firsts = Counter(name_key(name).partition(" ")[0] for name in names)
    found = {first: name for name in names if firsts[first := name_key(name).partition(" ")[0]] == 1}
    found |= {name_key(name): name for name in names}
    return dict(sorted(found.items(), key=lambda one: -len(one[0])))


def _name_at(said: str, handles: dict[str, str]) -> str | None:
    begins = (handle for handle in handles if said.startswith(handle) and _ends(said[len(handle) :]))
    return handles.get(next(begins, ""))


def _ends(rest: str) -> bool:
    """Whether a name is over where this follows it: not inside of a longer word, nor of a host's name."""
    if rest[:1] in (".", "-"):
        return not rest[1:2].isalnum()
    return not _in_a_word(rest[:1])


def _in_a_word(character: str) -> bool:
    return character.isalnum() or character == "_"
