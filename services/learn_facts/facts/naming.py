"""The key of a proposal in the customer's own words. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import chain

from schemas.events.replies import FactProposal
from services.learn_facts.facts.clauses import PLACE, clauses_saying, questions_in
from services.learn_facts.facts.values import sentence_around
from services.learn_facts.participant import Fact, Participant, Source
from services.mail.reply_text import without_quoted
from services.memory.keys import are_akin, is_usual, known_names, same_but_for_number, same_thing, verbs_of
from services.memory.quotes import find_quote
from services.memory.wording import content_of, is_plain_verb, is_small, unsaid, words_of

CALLED = frozenset({"contact_info", "customer_info", "identity"})  # kinds of what the customer has a name for
ANSWER = 8  # words of a mail that only answers
_DIGIT, _LETTER = re.compile(r"\d"), re.compile(r"[^\W\d_]")


def key_told(who: Participant, key: str, proposal: FactProposal, source: Source | None) -> str:
    """The key of a fact that stands, where it is the proposed one in other words, or the words of the value name it.

    "Day of delivery" is the delivery day, "meter" the meter number that looks the same; "our warehouse code is LX-9",
    proposed as a "depot code", is the warehouse code, and "our delivery address is", proposed as an address, is no
    other one.
    """
    kind = proposal.kind
    if source is None or kind not in CALLED or any(one.key == key for one in who.facts):
        return key
    current = [one for one in who.facts if one.kind == kind and one.single_valued and not who.has_apart(key, one.key)]
    alike = [one.key for one in current if same_thing(key, one.key) or _is_numbered(key, one, proposal.value)]
    own = words_of(without_quoted(source.text))
    told = ([one.key for one in current if _names(one, key, said, own, proposal)] for said in _said(proposal, source))
    for named in chain([alike], told):
        if len(set(named)) == 1:
            return named[0]
    return key


def _said(proposal: FactProposal, source: Source) -> Iterator[tuple[str, ...]]:
    """The words of each clause that says the value; of one that says no more, of what it goes on with or answers."""
    own = without_quoted(source.text)
    span = find_quote(proposal.quote, own)
    if span is None:
        return
    told = clauses_saying(proposal.value, sentence_around(span, own), "", proposal.quote)
    saying = [clause for _, clause in told if PLACE in clause.part]
    yield from (words_of(one.part) for one in saying)
    bare = [one for one in saying if all(is_small(word) or is_plain_verb(word) for word in words_of(one.part))]
    yield from (words_of(one.before[-1]) for one in bare if one.before)
    if bare and len(words_of(own)) <= ANSWER:
        yield from (words_of(one) for one in list(questions_in(source.our_words))[-1:])  # the last thing that we asked


def _is_numbered(key: str, known: Fact, value: str) -> bool:
    """Whether either key only says of the other that it is a number, and the values look the same: 88120, 88210."""
    return same_but_for_number(key, known.key) and _shape(known.value) == _shape(value)


def _names(known: Fact, key: str, said: tuple[str, ...], own: tuple[str, ...], proposal: FactProposal) -> bool:
    """Whether the words name the key of a fact, and the proposed one is a part of that name, or is not named at all.

    `said` are the words of the clause, `own` those of the mail. A key that says more than such a name was meant to be
    another one, where the mail says so much as well: an emergency phone is no phone.
    """
    if _kind_of_value(known.value) != _kind_of_value(proposal.value):
        return False
    names = known_names(known.key)
    told = [name for name in names if name and not unsaid(name, said)]
    if not told and not (verbs_of(known.key) & set(said)):
        return False
    if is_usual(key, proposal.kind):
        more = unsaid({word for name in known_names(key) for word in name}, [one for name in names for one in name])
        beside = said if are_akin(key, known.key) else own  # "a new mobile: my phone is" tells of the phone
        return len(unsaid(more, beside)) == len(more)
    return _is_part(content_of(key), names, told, said, own, usual=is_usual(known.key, known.kind))


def _is_part(
    proposed: tuple[str, ...],
    names: Sequence[tuple[str, ...]],
    told: Sequence[tuple[str, ...]],
    said: tuple[str, ...],
    own: tuple[str, ...],
    *,
    usual: bool,
) -> bool:
    """Whether an unknown key is a part of a name that is told, or not named itself; of a `usual` key's everyday names,
    no word of it may be said beside them.
    """
    missing = unsaid(proposed, said)
    for name in names:
        if name and not unsaid(name, proposed):
            more = unsaid(proposed, name)
            return len(missing) < len(proposed) and len(unsaid(more, own)) == len(more)
    if missing and not usual:
        return True
    return len(missing) == len(proposed) or any(not unsaid(proposed, name) for name in (names if told else ()))


def _kind_of_value(value: str) -> tuple[bool, bool]:
    return bool(_DIGIT.search(value)), "@" in value


def _shape(value: str) -> str:
    return _LETTER.sub("a", _DIGIT.sub("0", value))
