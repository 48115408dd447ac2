"""What becomes of a turn that a model reflected on, or that the agent noted something in. Pure."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from schemas.events.base import EventData
from schemas.events.memory import TurnReflected
from schemas.events.replies import ReplyDrafted
from services.core.settings import LearningSettings, Settings
from services.learn_facts.facts.policy import valid_from
from services.learn_facts.facts.proposals import Proposals, learn
from services.learn_facts.facts.relations import relate
from services.learn_facts.participant import Participant, Source
from services.learn_facts.people import People
from services.learn_facts.person import decide as person
from services.learn_facts.person import issues, session
from services.learn_facts.person.brief import curated


@dataclass(frozen=True, slots=True)
class Counted:
    """How many of a turn's mails nothing was learned from before, and whether their thread is over."""

    mails: int
    over: bool


def noted(people: People, draft: ReplyDrafted, proposed: Proposals, now: datetime) -> list[EventData]:
    """What the agent noted while it read: facts, and where the customer stands."""
    learned = learn(people, proposed, now)
    who = people.after(learned, now)[proposed.participant_id]
    return [*learned, *person.lifecycle_steps(who, draft.participant_state, draft.participant_state_reason, "")]


def reflected(
    people: People, turn: TurnReflected, proposed: Proposals, counted: Counted, now: datetime, settings: Settings
) -> list[EventData]:
    """Facts, graph, lifecycle, brief, signals and session of one reflection; of imported mail no session."""
    id = proposed.participant_id
    learned = learn(people, proposed, now)
    learned += relate(id, turn.relations, proposed.sources, settings.learning)
    people = people.after(learned, now)
    said_at = _imported_from(proposed.sources, turn.mail_ids, settings.learning)
    proposal = turn.participant_state, turn.participant_state_reason, turn.signals.intent
    steps = person.lifecycle_steps(people[id], *proposal, said_at)
    who = people.after(steps, now)[id]
    brief = curated(who, turn, settings.learning)
    signals = _signals(who, turn, counted, said_at, settings)
    running = [session.noted(who, turn, learned, now, settings.session)] if said_at is None else []
    return [*learned, *steps, *([brief] if brief else []), *signals, *running]


def _signals(
    who: Participant, turn: TurnReflected, counted: Counted, said_at: datetime | None, settings: Settings
) -> list[EventData]:
    """Mood, risk and issues; of imported mail the issues alone."""
    about = who, turn.signals, turn.thread_id
    noted: EventData | None
    if said_at is None:
        noted = person.note_signals(*about, settings.people, mails=counted.mails, thread_over=counted.over)
    else:
        noted = person.note_past(*about, said_at, settings.people, thread_over=counted.over)
    return [one for one in (noted, issues.trouble_over(who, turn.signals, said_at)) if one is not None]


def _imported_from(
    sources: Sequence[Source], mail_ids: Collection[UUID], learning: LearningSettings
) -> datetime | None:
    """When the imported mails of a turn were written, the last of them; None for a turn of what is written now."""
    of_turn = [one for one in sources if one.mail_id in mail_ids]
    if not any(one.history for one in of_turn):
        return None
    return max(valid_from(one.sent_at, one.received_at, history=one.history, learning=learning) for one in of_turn)
