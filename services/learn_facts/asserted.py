"""Whether a claim is asserted by its author, of a kind that it may be said of in that mood. Pure.

A goal is wished for, a preference may be put as a request, and who asks for an order names its number.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType

from services.core.wording import folded
from services.learn_facts.assertion import REASONS, Mood, mood_of
from services.learn_facts.claim import Claim
from services.learn_facts.keys import is_of_a_person
from services.learn_facts.literal import sentence_around
from services.learn_facts.wording import said_of, says

_ALL: frozenset[Mood] = frozenset(REASONS)
_HAPPENED: frozenset[Mood] = frozenset({"asks", "supposes"})
_WANTED: frozenset[Mood] = frozenset({"hearsay", "was so"})
_ENDING: frozenset[Mood] = frozenset({"asks", "supposes", "wishes", "hearsay"})  # what ends nothing
BARRED: Mapping[str, frozenset[Mood]] = MappingProxyType(
    {
        "goal": frozenset(),
        "issue_history": frozenset(),
        "interaction": frozenset(),
        "resolution": frozenset(),
        "preference": _WANTED,
        "constraint": _WANTED,
        "event": _HAPPENED,
        "note": _HAPPENED,
        "action": _HAPPENED,
        "relationship": _ALL - {"another's"},
    }
)
"""The moods in which no fact of a kind is said; of every other kind none of them."""

_IDENTIFIERS = re.compile(r"(?:order|invoice|tracking|ticket|serial|customer|contract) number")
_NAMED = re.compile(r"[^\W\d_]{4,30}\W{1,3}(?:(?:no|nr|number|nummer|numero|num|numer|n)\W{1,3})?$")
_EQUATED = re.compile(r"\b(?:is|ist|est|es|e|to|as|als|comme|como|come|jako)\W{1,3}$")


def asserted(claim: Claim) -> Claim | str:
    """The claim where its author says so; else why not, in words."""
    mood = mood_of_claim(claim)
    return claim if mood is None else REASONS[mood]


def mood_of_claim(claim: Claim) -> Mood | None:
    """The mood in which no such fact is said; None where it is asserted."""
    proposal = claim.proposal
    if claim.source.is_ours:
        return None
    theirs = is_of_a_person(proposal.key, proposal.kind) and not _names_another(claim)
    mood = mood_of(proposal.value, claim.span, claim.source.text, of_a_person=theirs)
    return mood if mood in _barred(claim) and not _excused(claim, mood) else None


def _barred(claim: Claim) -> frozenset[Mood]:
    if claim.proposal.op == "delete":
        return _ENDING & BARRED.get(claim.proposal.kind, _ALL)
    return BARRED.get(claim.proposal.kind, _ALL)


def _names_another(claim: Claim) -> bool:
    """Whether the key says whose it is ("wife's name"), or the author what they are ("I am the manager")."""
    sentence = sentence_around(claim.span, claim.source.text)
    return says("others", claim.proposal.key) or says("i_am", sentence)


def _excused(claim: Claim, mood: Mood | None) -> bool:
    proposal = claim.proposal
    match mood:
        case "denies":
            denied = said_of("denials", f"{proposal.key} {proposal.value}") or not proposal.value
            return bool(denied or claim.parents)
        case "was so":
            return claim.is_over
        case "asks":
            return _is_named_by_it(claim)
        case _:
            return False


def _is_named_by_it(claim: Claim) -> bool:
    """Whether a question about an order, an invoice or the like takes its number for granted."""
    key, value = claim.proposal.key, folded(claim.proposal.value)
    if claim.proposal.kind != "order_info" and _IDENTIFIERS.fullmatch(key) is None:
        return False
    words = folded(" ".join(claim.source.text[: claim.span.end].split()))
    before = (
        words[: words.rfind(value)][-60:] if value and any(one.isdigit() for one in value) and value in words else ""
    )
    return bool(_NAMED.search(before)) and _EQUATED.search(before) is None
