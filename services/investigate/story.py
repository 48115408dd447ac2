"""One investigation as its events tell it: the folder as it was found, and each round since."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from schemas.events.investigations import InvestigationOpened, RoundTaken
from schemas.events.replies import TokenUsage
from services.core.bus.event_row import EventRow
from services.core.db import Connection, fetch_one, rows_as
from services.core.errors import Permanent
from services.investigate.apply import SQL
from services.investigate.folder import Tree, tree_of
from services.model.port import Exchange, ToolResult
from services.model.recorded import answer_from_json
from services.model.usage import added


class StoryLost(Permanent):
    """Its events are not in the table any more: it was left alone for so long that they were archived."""


@dataclass(frozen=True, slots=True)
class Story:
    """An investigation up to now, or to its end."""

    opened: InvestigationOpened
    rounds: tuple[RoundTaken, ...]

    @property
    def tree(self) -> Tree:
        """The folder after the rounds so far."""
        return tree_of([*self.opened.files, *(file for one in self.rounds for file in one.edits)])

    @property
    def exchanges(self) -> tuple[Exchange, ...]:
        """The conversation so far, as the model reads it."""
        return tuple(
            Exchange(
                answer_from_json(one.answer),
                tuple(ToolResult(said.call_id, said.content, said.error) for said in one.results),
            )
            for one in self.rounds
        )

    @property
    def usage(self) -> TokenUsage:
        """What all rounds cost together."""
        return added(*(one.usage for one in self.rounds))


async def story_of(
    conn: Connection, workspace: str, participant_id: UUID, investigation_id: UUID, *, over: bool = False
) -> Story | None:
    """The story of an open investigation; with `over` of one that has ended, too, whose words are kept.

    None where it is not such a one. Raises `StoryLost`, or `Erased`.
    """
    args: dict[str, Any] = {"participant_id": participant_id, "investigation_id": investigation_id}
    row = await fetch_one(conn, SQL.one, args)
    if row is None or not (row["state"] == "open" or (over and row["outcome"] != "refused" and row["gone_at"] is None)):
        return None
    told = {**args, "workspace": workspace, "since": row["opened_version"]}
    events = [one.envelope().data for one in await rows_as(conn, EventRow.of, SQL.story, told)]
    own = [one for one in events if getattr(one, "investigation_id", None) == investigation_id]
    opened = [one for one in own if isinstance(one, InvestigationOpened)]
    rounds = tuple(one for one in own if isinstance(one, RoundTaken))
    if not opened or len(rounds) != row["rounds"]:
        raise StoryLost("the events of this investigation are not all in the table: ask for another one")
    return Story(opened[0], rounds)
