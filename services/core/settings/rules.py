"""Rules of the operator: behaviours that act on mail and turns, and mail that we begin."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, StringConstraints, model_validator

from schemas.events.marks import Priority, Tag
from schemas.events.memory import ParticipantState
from services.core.settings.group import Group, is_https_origin
from services.core.settings.replies import LONGEST_RULE, PersonalShaping

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


def in_force(workspace: tuple[Behaviour, ...], inbox: tuple[Behaviour, ...], moment: str) -> tuple[Behaviour, ...]:
    """The behaviours of a moment, higher priority first; an inbox's replaces the workspace's of the same name."""
    named = {one.name: one for one in (*workspace, *inbox)}
    return tuple(sorted((one for one in named.values() if one.moment == moment), key=lambda one: -one.priority))


# Mail that we begin: rules over facts and silence, and how much of it there may be.
Name = Annotated[str, StringConstraints(strip_whitespace=True, pattern=r"^[A-Za-z0-9_-]{1,40}$")]
NEVER: frozenset[ParticipantState] = frozenset({"at_risk", "churned"})  # no rule is about them


class OutreachRule(Group):
    """Whom a draft is proposed to: who meets all that the rule says. `text` may hold {name}, {date} and {goal}."""

    name: Name
    text: Annotated[str, StringConstraints(min_length=1, max_length=10_000)]
    inbox: str = Field("", description="the name of the inbox; empty: every one")
    silent_days: float = Field(0, ge=0, le=3650, description="neither they nor we have written for so long")
    fact: str = Field("", description="key of a fact whose value is a day (2026-03-14), such as `renewal date`")
    within_days: float = Field(0, ge=0, le=365, description="that day is at most so many days ahead")
    late_days: float = Field(3, ge=0, le=365, description="or so many days past; what is older is followed up no more")
    states: tuple[ParticipantState, ...] = Field((), description="where they stand as a customer; empty: anywhere")
    state_days: float = Field(0, ge=0, le=3650, description="and have stood for so long")
    without_fact: str = Field("", description="key of a fact that they do not have, such as `onboarding done`")
    goal_days: float = Field(0, ge=0, le=3650, description="a goal agreed with them has been open for so long; 0: any")

    @model_validator(mode="after")
    def _says_something(self) -> Self:
        if not (self.silent_days or self.fact or self.state_days or self.goal_days):
            raise ValueError(
                f"reach_out.rules: {self.name} holds for everybody; give it silent_days, fact, state_days or goal_days"
            )
        if unwanted := NEVER.intersection(self.states):
            raise ValueError(f"reach_out.rules: {self.name}: nobody who is {', '.join(sorted(unwanted))} is written to")
        return self


class OutreachSettings(Group):
    """Mail that we begin: off without a rule. Each is a draft, which a person approves."""

    rules: tuple[OutreachRule, ...] = Field((), description="gone through once a day, in this order, in office hours")
    per_day: int = Field(10, ge=0, le=1000, description="drafts of an inbox in a day at most")
    person_days: float = Field(30, ge=1, le=3650, description="one person gets one at most in so many days")
    answered_days: float = Field(14, gt=0, le=365, description="a mail of theirs within so many days is an answer")
    unsubscribe: str = Field(
        "You want no such mail from us? {how}",
        min_length=1,
        max_length=400,
        description="the line below; {how} is the link, or whom to write to",
    )
    public_url: str = Field(
        "", description="where everybody reaches this deployment's web server, for the link; empty: web.public_url"
    )

    @model_validator(mode="after")
    def _fits(self) -> Self:
        names = [one.name for one in self.rules]
        if twice := sorted({name for name in names if names.count(name) > 1}):
            raise ValueError(f"reach_out.rules: {', '.join(twice)} is there twice; give each its own name")
        if "{how}" not in self.unsubscribe:
            raise ValueError("reach_out.unsubscribe has to hold {how}: the way to unsubscribe")
        if self.public_url and not is_https_origin(self.public_url):
            raise ValueError("reach_out.public_url has to be an https address without a path: mail programs post to it")
        return self
