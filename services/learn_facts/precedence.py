"""Whose word ends whose: human over authenticated over inferred, then time; what we did only we take back. Pure.

A newer word that only an inference makes a value ("nach München umgezogen" as `Munich`) ends no literal one at once: it
may be a translation, and it may be a mistake. It makes the standing fact unsure, so that the agent asks; what is unsure
gives way to the next word of the customer, in whatever words.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from types import MappingProxyType

from schemas.events.memory import Trust
from services.learn_facts.participant import Fact
from services.learn_facts.policy import OURS

RANK: Mapping[Trust, int] = MappingProxyType({"inferred": 0, "ours": 0, "authenticated": 1, "human": 2})


def objection_to_ending(known: Fact, trust: Trust, since: datetime) -> str:
    """Why a word of this trust, said at `since`, does not end a fact that is believed, in words; "" if it does.

    A fact that has expired by then is over by itself: nothing of it stands against what comes after.
    """
    if known.is_over(since):
        return ""
    against = _of_rank(known, trust)
    if not against and known.confirmed_at > since:
        against = "what stands is newer"
    return f"{against}: {known.value!r}" if against else ""


def _of_rank(known: Fact, trust: Trust) -> str:
    if trust == "human":
        return ""
    if known.trust == "human":
        return "a person here said otherwise"
    if known.trust == "ours" and trust != "ours":
        return "only we can take this back"
    if trust == "ours" and known.kind not in OURS:
        return "our own words say nothing of a customer"
    return "what stands was said in so many words" if RANK[known.trust] > RANK[trust] and not known.stale else ""
