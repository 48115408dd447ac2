"""What lies on the desk while a reply is written: the turn's data, and what the tools have gathered so far."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from schemas.events.replies import AgentAct, FactProposal, MemoryLoaded
from services.core.app import App

MOST_ACTS = 20  # of one turn
MOST_FACTS = 30  # that one turn may propose
LONGEST_DETAIL = 200  # characters


@dataclass(frozen=True, slots=True)
class Decision:
    """How a turn is to end, as the model proposed it and the code accepted it."""

    kind: str  # reply | no_reply | escalate
    text: str = ""
    reason: str = ""
    state: str = "awaiting_reply"
    goals_add: tuple[str, ...] = ()
    goals_close: tuple[str, ...] = ()
    citations: tuple[str, ...] = ()
    facts_cited: tuple[UUID, ...] = ()
    attach: tuple[str, ...] = ()
    intent: str = ""


@dataclass(frozen=True, slots=True)
class AnsweredMail:
    """A mail that the reply answers: what may be quoted from it."""

    mail_id: UUID
    text: str


@dataclass(slots=True)
class Desk:
    """One conversation's working memory. Tools add to it; nothing leaves it but through `reply.drafted`."""

    event: MemoryLoaded
    app: App
    workspace: str
    now: datetime
    mails: tuple[AnsweredMail, ...]
    first_contact: bool = False  # nothing has been sent yet to the person who wrote
    facts: list[FactProposal] = field(default_factory=list)
    participant_state: str = ""
    participant_state_reason: str = ""
    passages: set[str] = field(default_factory=set)  # ids of the passages that the model was shown
    known: set[str] = field(default_factory=set)  # ids of the author's facts in the context
    sendable: set[str] = field(default_factory=set)  # those whose document's file may be attached
    looked_up: list[str] = field(default_factory=list)  # what searches of our own documents showed the model
    characters_shown: int = 0  # by all searches of the turn
    refused: list[str] = field(default_factory=list)
    entities: dict[str, str] = field(default_factory=dict)  # set in this turn, by name; "" is taken away
    acts: list[AgentAct] = field(default_factory=list)
    decision: Decision | None = None

    def did(self, action: str, detail: str) -> None:
        """Note something done, for the thread's log; one turn fills no log."""
        if len(self.acts) < MOST_ACTS:
            self.acts.append(AgentAct(action=action, detail=detail[:LONGEST_DETAIL]))

    def kept_in_mind(self) -> dict[str, str]:
        """Working memory by name: what the context shows of earlier turns, as this turn has changed it."""
        items = (item for item in shown_in(self.event, "thread") if "entity" in item)
        shown = {str(item["entity"]): str(item["value"]) for item in items}
        return {name: value for name, value in (shown | self.entities).items() if value}


def shown_in(event: MemoryLoaded, layer: str) -> Iterator[Mapping[str, Any]]:
    """What a layer of the turn's context shows, as data."""
    return (item for one in event.layers if one.name == layer for item in one.items)
