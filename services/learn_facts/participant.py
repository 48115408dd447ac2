"""What learn_facts knows of a participant when it decides: a value, read under the participant's lock."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cached_property
from typing import Any
from uuid import UUID

from schemas.events.memory import ParticipantState, Trust
from services.memory.support import Support

LONG_AGO = datetime(1, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Fact:
    """A fact that is believed now, or was.

    `superseded_at` is since when it is not believed any more; `withdrawn_at` says that it never was so. `kept_key` is
    the key as its row has it: rows of older versions may have another form than the one that decisions compare.
    `supports` and `members` are as the view says that shows the fact (`Participant.facts`, `Participant.past`).
    """

    fact_id: UUID
    kind: str
    key: str
    value: str
    trust: Trust
    valid_from: datetime
    single_valued: bool
    supports: tuple[Support, ...] = ()
    text: str = ""
    kept_key: str = ""
    valid_to: datetime | None = None
    expires_at: datetime | None = None
    pinned: bool = False
    stale: bool = False
    parents: tuple[UUID, ...] = ()
    members: tuple[UUID, ...] = ()
    apart_from: tuple[UUID, ...] = ()
    recorded_at: datetime = LONG_AGO
    superseded_at: datetime | None = None
    superseded_by: UUID | None = None
    withdrawn_at: datetime | None = None
    merged_into: UUID | None = None

    @property
    def confirmed_at(self) -> datetime:
        """When it was last said to be so (valid time)."""
        return max((one.said_at for one in self.supports if one.said_at), default=self.valid_from)

    @property
    def for_a_while(self) -> bool:
        """Whether it stands, until its end, over the one value that its key has (`rivals`)."""
        return self.expires_at is not None and not self.single_valued

    def is_over(self, at: datetime) -> bool:
        """Whether it has ended by itself by then."""
        return self.expires_at is not None and self.expires_at <= at


@dataclass(frozen=True, slots=True)
class KnownIssue:
    """A trouble that the participant reported."""

    issue_key: str
    reports: int
    resolved: bool
    thread_id: UUID
    last_at: datetime = LONG_AGO


@dataclass(frozen=True, slots=True)
class Session:
    """The last hours with a participant, until `expires_at`."""

    thread_id: UUID
    summary: str
    entities: tuple[str, ...]
    actions: tuple[str, ...]
    expires_at: datetime


@dataclass(frozen=True, slots=True)
class Brief:
    """The brief that holds, empty where it was deleted, and what is to be merged into it (`beside`, oldest first)."""

    text: str
    beside: tuple[str, ...] = ()


@dataclass(frozen=True)
class Participant:
    """A participant as they stand. `exists` is False before their first authenticated mail.

    Times are valid times: `standing_at` is when somebody last said or showed where they stand. `every_fact` is each
    that was ever kept, oldest first, with its own supports. `alias_of` is whom they were merged into.
    """

    participant_id: UUID
    exists: bool = False
    name: str = ""
    space: str = ""
    state: ParticipantState = "unknown"
    standing_at: datetime | None = None
    first_seen_at: datetime | None = None
    last_seen_at: datetime | None = None
    sentiment: float = 0.0
    frustrated_in_row: int = 0
    tags: tuple[str, ...] = ()
    every_fact: tuple[Fact, ...] = ()
    issues: tuple[KnownIssue, ...] = ()
    session: Session | None = None
    brief: Brief | None = None
    alias_of: UUID | None = None

    @property
    def briefed(self) -> bool:
        """Whether there is a brief, or something to be merged into it."""
        return self.brief is not None and bool(self.brief.text or self.brief.beside)

    @cached_property
    def facts(self) -> tuple[Fact, ...]:
        """What is believed now, oldest first; each with the supports of what was merged into it."""
        return tuple(self._with_members(self._keyed(one)) for one in self.every_fact if one.superseded_at is None)

    @cached_property
    def past(self) -> tuple[Fact, ...]:
        """What is not current any more, by valid time; not what is shown in the fact that it was merged into."""
        past = (one for one in self.every_fact if one.superseded_at and (one.merged_into is None or one.withdrawn_at))
        return tuple(
            replace(self._keyed(one), members=tuple(self._members.get(one.fact_id, ())))
            for one in sorted(past, key=lambda one: (one.valid_from, one.fact_id))
        )

    def key_for(self, kind: str, key: str) -> str:
        """The key under which this person's facts of a key stand: another one where facts of both became one.

        Without a `kind` the key is looked for among all of them.
        """
        seen = {key}
        while (further := self._aliases.get((kind, key), "")) and further not in seen:
            seen.add(key := further)
        return key

    def has_apart(self, key: str, other: str) -> bool:
        """Whether facts of two keys had become one, and a person took them apart."""
        keys = {one.fact_id: self.key_for(one.kind, one.key) for one in self.every_fact}
        pairs = ((keys[one.fact_id], keys.get(id)) for one in self.every_fact for id in one.apart_from)
        return any({*pair} == {key, other} for pair in pairs)

    @cached_property
    def _aliases(self) -> Mapping[tuple[str, str], str]:
        """By kind and key, and by the key alone, the key of the fact that one of that key was merged into."""
        shown = ((one, self._by_id.get(one.merged_into)) for one in self.every_fact if one.merged_into)
        other = [(one, into.key) for one, into in shown if into is not None and into.key != one.key]
        return {(kind, one.key): key for one, key in other for kind in (one.kind, "")}

    def _keyed(self, fact: Fact) -> Fact:
        key = self.key_for(fact.kind, fact.key)
        return fact if key == fact.key else replace(fact, key=key)

    def _with_members(self, fact: Fact) -> Fact:
        members = self._members.get(fact.fact_id, ())
        if not members:
            return fact
        supports = (*fact.supports, *(said for one in members for said in self._by_id[one].supports))
        return replace(fact, members=tuple(members), supports=supports)

    @cached_property
    def _by_id(self) -> dict[UUID, Fact]:
        return {one.fact_id: one for one in self.every_fact}

    @cached_property
    def _members(self) -> dict[UUID, list[UUID]]:
        """Which facts were merged into each, or into one of those."""
        members: dict[UUID, list[UUID]] = {}
        for one in self.every_fact:
            shown = one.merged_into
            while shown is not None:
                members.setdefault(shown, []).append(one.fact_id)
                shown = self._by_id[shown].merged_into if shown in self._by_id else None
        return members


@dataclass(frozen=True, slots=True)
class Source:
    """The mail that a proposal cites: where its quote has to stand.

    `mail_id` is None for a mail of our own, which is then `reply_id`. `our_words` is what we wrote to its
    author before it. `passed_on`: its text is an older mail of somebody's that the author sent on without a word.
    """

    mail_id: UUID | None
    thread_id: UUID
    message_id: str
    text: str
    received_at: datetime
    sent_at: datetime | None
    history: bool
    trusted: bool
    reply_id: UUID | None = None
    our_words: tuple[str, ...] = ()
    passed_on: bool = False

    @property
    def is_ours(self) -> bool:
        """Whether we wrote it."""
        return self.reply_id is not None


Evolve = Callable[[Participant, Any, datetime], Participant]
"""What one type of event, recorded at a moment, makes of a participant."""
