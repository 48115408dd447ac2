"""Random histories of participants: what customers write and models propose, and what people ask, step by step."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any
from uuid import UUID, uuid5

from hypothesis import strategies as st

from schemas.events import EventData
from schemas.events.lifecycle import ParticipantStateRequested
from schemas.events.memory import FactRequested, MailSignals, RelationProposal
from schemas.events.merging import ParticipantMergeRequested, ParticipantSplitRequested
from schemas.events.profile import ProfileRequested
from schemas.events.replies import FactProposal, ReplyDrafted
from schemas.events.retention import MemoryRetentionDue
from schemas.events.threads import StateChanged
from services.core.bus.runner import enter
from services.core.clock import random_id
from tests.support.remembering import Memory, day

KEPT_DAYS = 38  # the fewest that settings take
SENTENCES = {
    "plan": "We are on the {} plan.",
    "seats": "We have {} seats.",
    "uses": "We use {} every day.",
    "export": "The {}.",
    "city": "We moved to {} today.",
    "report format": "Our reports come as {}.",
    "format of reports": "Our reports still come as {}.",
}
WORDED = {"export": ("export is slow", "exporting is slow"), "city": ("Munich", "München")}  # one thing in two forms
KINDS = {"uses": "preference", "export": "issue_history"}
VALUES = ("Team", "Pro", "40")
DENIED = "We do not have {} any more."

people = st.integers(0, 1)
values = st.sampled_from(VALUES)
picks = st.sampled_from((0, 0, 0, 1, 1, 2, 3, 9))  # which of the known facts, or none
days = st.sampled_from((None, None, None, -3, 0, 3, 30))


@dataclass(frozen=True, slots=True)
class Told:
    """A proposal of a model; `named` and `derived` pick facts that are known."""

    op: Any
    key: str
    form: int
    named: int
    derived: int | None
    until: int | None

    @property
    def value(self) -> str:
        """What the model makes of it."""
        forms = WORDED.get(self.key, VALUES)
        return forms[self.form % len(forms)]

    @property
    def words(self) -> str:
        """What the mail says of it."""
        said = "München" if self.key == "city" else self.value
        return (DENIED if self.op == "delete" else SENTENCES[self.key]).format(said)


@dataclass(frozen=True, slots=True)
class Turn:
    """A mail and what is made of it, in a reflection or by the agent at once; `late` days after it was sent."""

    person: int
    told: tuple[Told, ...]
    noted: bool
    imported: bool
    late: int
    state: str
    signals: MailSignals


@dataclass(frozen=True, slots=True)
class Asked:
    """What a person asks about a fact."""

    person: int
    op: Any
    named: int
    key: str
    value: str
    derived: int | None
    until: int | None


@dataclass(frozen=True, slots=True)
class Step:
    """Anything else that happens to one participant, or to two."""

    what: str
    person: int
    state: str


tellings = st.builds(
    Told,
    op=st.sampled_from(("add", "add", "update", "delete")),
    key=st.sampled_from(tuple(SENTENCES)),
    form=st.integers(0, 2),
    named=picks,
    derived=st.sampled_from((None, None, None, 0, 0, 1)),
    until=days,
)
states = st.sampled_from(("", "prospect", "customer", "at_risk", "churned"))
turns = st.builds(
    Turn,
    person=people,
    told=st.lists(tellings, min_size=1, max_size=5).map(tuple),
    noted=st.booleans(),
    imported=st.sampled_from((False, False, True)),
    late=st.integers(0, 6),
    state=states,
    signals=st.builds(
        MailSignals,
        sentiment=st.none() | st.sampled_from((-1.0, 0.0, 0.5)),
        frustrated=st.none() | st.booleans(),
        intent=st.sampled_from(("other", "purchase", "cancellation")),
        issue_key=st.sampled_from(("", "csv export timeout", "login fails")),
        issue_resolved=st.booleans(),
        tags=st.sampled_from(((), ("billing",), ("api", "billing"))),
    ),
)
asked = st.builds(
    Asked,
    person=people,
    op=st.sampled_from(("add", "correct", "pin", "unpin", "forget", "forget", "unmerge")),
    named=picks,
    key=st.sampled_from(tuple(SENTENCES)),
    value=values,
    derived=st.sampled_from((None, None, None, 0, 0, 1)),
    until=days,
)
steps = st.builds(
    Step,
    what=st.sampled_from(("merge", "merge", "unmerge", "split", "state", "resolved", "retention", "profile")),
    person=people,
    state=states,
)
histories = st.lists(st.one_of(turns, turns, turns, asked, asked, steps), min_size=2, max_size=12)


def _told(key: str, form: int, *, late: int = 0, imported: bool = False, issue: str = "") -> Turn:
    one = Told("add", key, form, named=9, derived=None, until=None)
    return Turn(0, (one,), noted=False, imported=imported, late=late, state="", signals=MailSignals(issue_key=issue))


def _asked(op: str, named: int, derived: int | None = None) -> Asked:
    return Asked(0, op, named, "uses", "Pro", derived, until=None)


OF_EACH = [
    _told("plan", 0),
    _asked("add", 9, derived=0),  # goes stale by the next step
    _asked("forget", 1),
    _told("plan", 1),
    _told("export", 0, issue="login fails"),
    _told("plan", 2),
    _told("plan", 0, late=2),  # was so between the two before it
    _asked("forget", 1),  # gives the one before it back
    _told("export", 1, late=6, imported=True, issue="login fails"),  # says the same as the first
    _asked("unmerge", 3),
    _asked("pin", 0),
]
"""A history in which a fact goes stale, ends late, is restored, is merged and unmerged: chance seldom brings these."""

ACROSS_KEYS = [
    _told("report format", 0),
    _told("format of reports", 0),  # one with the first, so that its key is that of the first from now on
    _told("format of reports", 1),
    _told("report format", 0, late=2),
    _asked("unmerge", 2),
    _told("format of reports", 2),
    _told("report format", 2),
    _asked("forget", 0),
]
"""A history in which a fact becomes one with another of another key, gets a newer value under either, and is taken apart."""


class Story:
    """One history of two participants and mails of their own, told to a deployment, a day for each step."""

    def __init__(self, memory: Memory, name: str) -> None:
        self.memory = memory
        self.people = [f"ada@{name}.example", f"ada@home.{name}.example"]
        self.ids = [memory.person(one) for one in self.people]
        self._threads: list[UUID] = []
        self._on = 1.0

    async def begin(self) -> None:
        """Both write for the first time."""
        for one in self.people:
            await self.memory.mail("Hello.", on=self._on, sender=one)

    async def play(self, step: Turn | Asked | Step) -> None:
        """Do what one step says, and all that comes of it."""
        self._on += 1
        if isinstance(step, Turn):
            await self._turn(step)
        elif isinstance(step, Asked):
            await self._ask(step)
        else:
            await self._step(step)

    async def _turn(self, turn: Turn) -> None:
        text = "\n".join(["Hello.", *(one.words for one in turn.told)])
        mail = await self.memory.mail(
            text,
            on=self._on,
            sent_on=self._on - turn.late,
            sender=self.people[turn.person],
            history_mode=turn.imported,
        )
        self._threads.append(mail["thread_id"])
        known = await self._known()
        facts = tuple(self._proposal(one, known) for one in turn.told)
        state = {"participant_state": turn.state, "participant_state_reason": "they say so"}
        if turn.noted:
            await self._enter(_draft(mail, facts, **state))
            return
        uses = [one for one in turn.told if one.key == "uses" and one.op != "delete"]
        relations = tuple(
            RelationProposal(subject="Acme", predicate="uses", object=one.value, quote=one.words) for one in uses
        )
        given = {
            "signals": turn.signals,
            "relations": relations,
            "brief": "" if turn.late == 1 else f"A customer, as of day {self._on}.",
            "brief_bases": () if turn.late > 1 else await self._briefs(mail["participant_id"]),
            **state,
        }
        await self.memory.learn(mail, *facts, **given)

    async def _briefs(self, id: UUID) -> tuple[str, ...]:
        """What an author who sees everything is shown."""
        rows = await self.memory.rows("SELECT version FROM person_briefs(%(id)s)", id=id)
        return tuple(row["version"] for row in rows)

    def _proposal(self, told: Told, known: list[UUID]) -> FactProposal:
        named = _pick(known, told.named) if told.op != "add" else None
        derived = _pick(known, told.derived)
        return FactProposal(
            op=told.op,
            fact_id=str(named or ""),
            kind=KINDS.get(told.key, "customer_info"),
            key=told.key,
            value=told.value,
            text=f"They say: {told.value}.",
            quote=told.words,
            importance=6,
            valid_to=self._day(told.until),
            derived_from=(str(derived),) if derived else (),
        )

    async def _ask(self, asked: Asked) -> None:
        known = await self._known()
        derived, named = _pick(known, asked.derived), _pick(known, asked.named)
        fields = {"kind": KINDS.get(asked.key, "customer_info"), "key": asked.key, "value": asked.value}
        await self._enter(
            FactRequested(
                participant_id=await self._keeper(derived if asked.op == "add" else named) or self.ids[asked.person],
                op=asked.op,
                fact_id=named,
                valid_to=self._day(asked.until),
                by="grace",
                parents=(derived,) if derived else (),
                **fields,
            )
        )

    async def _step(self, step: Step) -> None:
        id, other = self.ids[step.person], self.ids[1 - step.person]
        match step.what:
            case "merge" | "unmerge":
                await self._enter(ParticipantMergeRequested(participant_id=id, into=other, op=step.what, by="grace"))
            case "split":
                seen = {"addr": self.people[1 - step.person], "seen_at": day(1)}
                await self._enter(ParticipantSplitRequested(participant_id=id, into=other, **seen))
            case "state":
                await self._enter(ParticipantStateRequested(participant_id=id, to_state=step.state, by="grace"))
            case "retention":
                due = day(self._on + KEPT_DAYS - 2)
                await self._enter(MemoryRetentionDue(participant_id=id, due_at=due), due)
            case "profile":
                await self._enter(ProfileRequested(participant_id=id, fields={"vat": step.state}, by="grace"))
            case _:
                for thread_id in self._threads[-2:]:
                    of = {"thread_id": thread_id, "participant_id": id, "trigger": "human"}
                    told = {**of, "from_state": "in_progress", "to_state": "resolved", "reason": "grace: with a credit"}
                    await self._enter(StateChanged.model_validate(told))

    async def _enter(self, data: EventData, at: datetime | None = None) -> None:
        await enter(self.memory.app, self.memory.event(data, at or day(self._on)))
        await self.memory.settle()

    async def _known(self) -> list[UUID]:
        """The ids of all facts of these people, those that are believed no more included."""
        query = "SELECT fact_id FROM facts WHERE participant_id = ANY(%(ids)s) ORDER BY recorded_at, fact_id"
        return [row["fact_id"] for row in await self.memory.rows(query, ids=self.ids)]

    async def _keeper(self, fact_id: UUID | None) -> UUID | None:
        rows = await self.memory.rows("SELECT participant_id FROM facts WHERE fact_id = %(id)s", id=fact_id)
        return rows[0]["participant_id"] if rows else None

    def _day(self, until: int | None) -> date | None:
        return None if until is None else (day(self._on) + timedelta(days=until)).date()


def _pick(known: list[UUID], number: int | None) -> UUID | None:
    """A known fact, the newest for 0; None where there is none of that number."""
    return None if number is None or number >= len(known) else known[-1 - number]


def _draft(mail: dict[str, Any], facts: tuple[FactProposal, ...], **given: Any) -> ReplyDrafted:
    return ReplyDrafted(
        reply_id=uuid5(mail["mail_id"], "reply"),
        turn_id=random_id(),
        thread_id=mail["thread_id"],
        participant_id=mail["participant_id"],
        inbox=mail["inbox"],
        mail_ids=(mail["mail_id"],),
        trusted=True,
        decision="no_reply",
        facts=facts,
        **given,
    )
