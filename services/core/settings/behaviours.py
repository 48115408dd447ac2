"""Behaviours: rules of the operator that act before the model writes, and after a turn has been learned from."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, StringConstraints, model_validator

from schemas.events.marks import Priority, Tag
from services.core.settings.group import Group
from services.core.settings.shaping import LONGEST_RULE, PersonalShaping

Phrase = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200)]
Words = Annotated[str, StringConstraints(strip_whitespace=True, max_length=LONGEST_RULE)]


class When(Group):
    """All conditions must hold; of a list, one entry is enough. Those about the author need an authenticated one."""

    subject_contains: tuple[Phrase, ...] = Field((), description="in a subject of the turn; case is ignored")
    text_contains: tuple[Phrase, ...] = Field((), description="in the new text of a mail of the turn")
    from_domains: tuple[Phrase, ...] = Field((), description="the author's domain, or one above it")
    languages: tuple[Phrase, ...] = Field((), description="such as 'de'")
    participant_states: tuple[Phrase, ...] = Field((), description="such as 'vip' or 'at_risk'")
    participant_tags: tuple[Phrase, ...] = ()
    risks: tuple[Literal["low", "medium", "high"], ...] = ()
    thread_tags: tuple[Tag, ...] = ()
    priorities: tuple[Priority, ...] = ()
    authenticated: bool | None = Field(None, description="whether the author is known to be who they say")
    outcomes: tuple[Literal["sent", "no_reply", "human_took_over", "escalated", "failed", "rejected"], ...] = Field(
        (), description="after: how the turn ended"
    )
    intents: tuple[Phrase, ...] = Field((), description="after: what the mail was for, such as 'complaint'")


class Then(Group):
    """What a behaviour does."""

    say: Words = Field("", description="before: an instruction to the model")
    escalate: Words = Field("", description="before: a person answers, and no model is asked; the reason")
    set: PersonalShaping = Field(PersonalShaping(), description="before: what shapes this reply")
    tag: tuple[Tag, ...] = ()
    untag: tuple[Tag, ...] = ()
    priority: Priority | None = None
    note: Words = Field("", description="after: a note on the thread, for people")


class Behaviour(Group):
    """A rule: when it holds, and what it does. Higher priority goes first."""

    name: Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9 _-]{0,59}$")]
    moment: Literal["before", "after"] = "before"
    priority: int = Field(0, ge=-1000, le=1000)
    when: When = When()
    then: Then = Then()

    @model_validator(mode="after")
    def _fits_its_moment(self) -> Self:
        who = f"behaviour {self.name!r}"
        if self.then == Then():
            raise ValueError(f"{who} does nothing: say what under `then`")
        if self.moment == "after" and (self.then.say or self.then.escalate or self.then.set != PersonalShaping()):
            raise ValueError(f"{who}: `say`, `escalate` and `set` act before the model writes, not after")
        if self.moment == "before" and (self.then.note or self.when.outcomes or self.when.intents):
            raise ValueError(f"{who}: `note`, `outcomes` and `intents` are known after the turn alone")
        if self.then.set.quiet_s is not None:
            raise ValueError(f"{who}: the quiet period is over when behaviours act")
        return self


def in_force(workspace: tuple[Behaviour, ...], mailbox: tuple[Behaviour, ...], moment: str) -> tuple[Behaviour, ...]:
    """The behaviours of a moment, higher priority first; a mailbox's replaces the workspace's of the same name."""
    named = {one.name: one for one in (*workspace, *mailbox)}
    return tuple(sorted((one for one in named.values() if one.moment == moment), key=lambda one: -one.priority))
