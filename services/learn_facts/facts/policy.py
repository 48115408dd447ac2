"""The typed policy of facts: how many values a key may have, who may say what, what is worth storing.

Everything here is a table or a formula, so that each decision can be explained. Operators extend the tables per
inbox (`inboxes.memory` in the settings).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from types import MappingProxyType
from typing import Literal

from schemas.model_output import is_plausible
from services.core.settings import LearningSettings, MemorySettings, Settings
from services.learn_facts.participant import Fact
from services.memory.facts import plain_key
from services.memory.keys import key_of
from services.memory.wording import is_said, says, words_of

Arity = Literal["single", "multi", "append"]
"""`single`: the newer value replaces the older. `multi`: values stand side by side, and each can be taken back.
`append`: it happened, and is ended only by who names it."""

KINDS: Mapping[str, Arity] = MappingProxyType(
    {
        "identity": "single",
        "contact_info": "single",
        "customer_info": "single",
        "order_info": "single",
        "preference": "single",
        "constraint": "single",
        "goal": "single",
        "relationship": "multi",
        "issue_history": "append",
        "event": "append",
        "interaction": "append",
        "resolution": "append",
        "note": "append",
        "action": "append",
    }
)
KEYS: Mapping[str, Arity] = MappingProxyType({"uses": "multi", "colleague": "multi"})

OURS = frozenset({"issue_history", "resolution", "action"})  # kinds that our own words and acts may source
OCCURRENCES = frozenset({"event", "interaction", "resolution", "action"})  # kinds of what happens: twice is not once
ONLY_OURS = frozenset({"action"})  # kinds that no customer may source
WISHING = frozenset({"goal", "preference", "issue_history"})  # kinds that may name a grant: it is wanted, or missed
STATING = frozenset({"identity", "contact_info", "customer_info", "order_info", "constraint"})  # kinds of what is so
SETTLING = frozenset({"resolution"})  # kinds in which to name a grant is to claim it, in whatever words

FLOORS: Mapping[str, float] = MappingProxyType({"identity": 0.85, "goal": 0.75, "constraint": 0.65, "preference": 0.60})
STORE_FROM = 0.3  # importance below which nothing is stored
LEARNING = LearningSettings()


@dataclass(frozen=True, slots=True)
class Policy:
    """The tables in force for one inbox. `values` are by key, by a key's first word, or by kind.

    `learning` are the numbers that hold for all inboxes. A named day is over at midnight in `zone`.
    """

    values: Mapping[str, Arity] = field(default_factory=lambda: MappingProxyType({**KINDS, **KEYS}))
    kinds: frozenset[str] = frozenset(KINDS)
    reserved: frozenset[str] = frozenset()
    floors: Mapping[str, float] = field(default_factory=lambda: FLOORS)
    store_from: float = STORE_FROM
    learning: LearningSettings = LEARNING
    zone: tzinfo = UTC

    def arity(self, kind: str, key: str) -> Arity:
        """How values of a key stand to each other: the key decides, then its kind; one value by default."""
        for name in (key, key.partition(" ")[0], kind):
            if name in self.values:
                return self.values[name]
        return "single"

    def has_one(self, known: Fact) -> bool:
        """Whether a fact is the value of a key that has one, or stands over it for a while (`rivals`)."""
        return known.single_valued or self.arity(known.kind, known.key) == "single"

    def importance(self, kind: str, said: int) -> float:
        """The model's 1..10 as 0..1, not below the floor of its kind."""
        return max(min(said, 10) / 10, self.floors.get(kind, 0.0))

    def is_ours_to_say(self, kind: str, key: str, value: str = "", text: str = "") -> bool:
        """Whether only we can establish it: what we did, and what we grant, by its key or by its `value`.

        `text` is how it is put: a resolution may name a grant anywhere.
        """
        if kind in ONLY_OURS:
            return True
        if kind in WISHING:
            return False
        named = f"{key} {value} {text}" if kind in SETTLING else key
        return self._is_grant(named.replace("_", " ")) or (kind in STATING and says("granted", value))

    def _is_grant(self, words: str) -> bool:
        said = words_of(words)
        reserved = (words_of(one.replace("_", " ")) for one in self.reserved)
        return says("grants", words) or any(one and all(is_said(word, said) for word in one) for one in reserved)


STANDARD = Policy()


def extended(*over: MemorySettings, learning: LearningSettings = LEARNING, zone: tzinfo = UTC) -> Policy:
    """The standard tables with the entries of inboxes put over them; where two differ, the first one's holds."""
    values, floors = dict(STANDARD.values), dict(STANDARD.floors)
    for one in reversed(over):
        forms = ((form, arity) for name, arity in one.values.items() for form in (key_of(name), plain_key(name), name))
        values.update(forms)
        floors.update(one.floors)
    return Policy(
        values=values,
        kinds=STANDARD.kinds.union(*(one.kinds for one in over)),
        reserved=frozenset(word for one in over for word in one.reserved),
        floors=floors,
        store_from=min((one.store_from for one in over), default=STORE_FROM),
        learning=learning,
        zone=zone,
    )


def policy_of(settings: Settings, inbox: str) -> Policy:
    """The tables and the zone of an inbox; the standard ones for an inbox that is no longer there."""
    known = settings.known_inbox(inbox)
    zone = settings.hours_of(inbox).zone
    return extended(*([known.memory] if known else []), learning=settings.learning, zone=zone)


def policy_of_all(settings: Settings) -> Policy:
    """The tables of all inboxes together, for what a person here asks: a participant is of every inbox."""
    tables = (one.memory for one in settings.inboxes)
    return extended(*tables, learning=settings.learning, zone=settings.office_hours.zone)


def valid_from(
    sent_at: datetime | None, received_at: datetime, *, history: bool, learning: LearningSettings = LEARNING
) -> datetime:
    """Since when a fact of a mail is so: its Date where that is plausible, else the receipt."""
    if sent_at is None:
        return received_at
    before, after = timedelta(days=learning.date_before_days), timedelta(hours=learning.date_after_hours)
    plausible = received_at - before <= sent_at <= received_at + after
    return sent_at if plausible or (history and sent_at <= received_at) else received_at


def end_of_day(day: date | None, zone: tzinfo = UTC) -> datetime | None:
    """The moment, in UTC, at which a date is over where `zone` is; None for no date, and for one that means "never"."""
    if day is None or not is_plausible(day):
        return None
    return datetime.combine(day + timedelta(days=1), time.min, zone).astimezone(UTC)
