"""What if: the draft that the model would write to a mail were persona or rules others, next to the one that it wrote.

The context is that of the turn as it was, but for the layers that are changed: memory and the mail are those of that
day. Nothing is stored, recorded or sent.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from uuid import UUID

from schemas.events.replies import ContextLayer, MemoryLoaded, ReplyDrafted
from services.core.app import App
from services.core.archive.archive import archive_of
from services.core.bus.event_row import EventRow
from services.core.clock import random_id
from services.core.db import fetch_one, rows_as
from services.core.errors import Permanent, Temporary
from services.core.keys import is_sealed
from services.core.request_limits import Pace
from services.generate_reply.trial import Trial, try_draft
from services.operations.threads.explanations import SQL, TOLD, NothingToExplain, archived_in_thread

__all__ = ["Trial", "WhatIf", "turn_of"]

CHANGEABLE = ("persona", "behaviours", "guidance")  # layers that hold our own words alone
LONGEST = 20_000  # characters of a layer
A_MINUTE = 4  # trials of one person


class TrialRefused(Permanent):
    """There is nothing to try here, or what is to be changed is no layer of our own words."""


class TriedTooOften(Permanent):
    """Whoever asks has asked too often in this minute."""


class TrialFailed(Temporary):
    """The model did not decide."""


@dataclass(frozen=True, slots=True)
class Turn:
    """A turn as it was: its context, and the draft that was written then."""

    event: MemoryLoaded
    drafted: ReplyDrafted

    @property
    def layers(self) -> dict[str, str]:
        """What may be changed, by its name, as it was."""
        return {one.name: one.text for one in self.event.layers if one.name in CHANGEABLE}


async def turn_of(app: App, reply_id: UUID) -> Turn:
    """The turn in which a reply was drafted. Raises `NothingToExplain`, `TrialRefused`, and what the archive does."""
    workspace = app.settings.workspace
    async with app.database.reading() as conn:
        row = await fetch_one(conn, SQL.reply, {"workspace": workspace, "reply_id": reply_id})
        if row is None:
            raise NothingToExplain(f"there is no reply {reply_id}")
        asked = {"workspace": workspace, "thread_id": row["thread_id"], "types": list(TOLD)}
        told = await rows_as(conn, EventRow.of, SQL.turns_told, asked)
        found = _turn([one.data for one in told], reply_id)
        if found is None:
            older = await archived_in_thread(conn, archive_of(app.settings), workspace, row["thread_id"], TOLD)
            found = _turn([one.data for one in (*older, *told)], reply_id)
    if found is None or not any(one.text for one in found.event.layers):
        raise NothingToExplain(f"the context of the reply {reply_id} is not on the log any more")
    if not found.drafted.model:
        raise TrialRefused("no model wrote this reply: it is a fixed text")
    return found


class WhatIf:
    """Trials, so many a minute for each person."""

    def __init__(self, app: App) -> None:
        self._app = app
        self._pace = Pace(A_MINUTE)

    async def ask(self, turn: Turn, changed: Mapping[str, str], by: str) -> Trial:
        """What the model would write. Raises `TrialRefused`, `TriedTooOften`, `TrialFailed`."""
        if wrong := [name for name in changed if name not in turn.layers]:
            raise TrialRefused(f"{wrong[0][:100]!r} cannot be changed: {', '.join(turn.layers)} can")
        if any(len(text) > LONGEST for text in changed.values()):
            raise TrialRefused(f"at most {LONGEST:,} characters each")
        if wait := self._pace.takes(by):
            raise TriedTooOften(f"{A_MINUTE} trials a minute: try again in {wait:.0f} s")
        layers = tuple(_changed(one, changed.get(one.name, one.text)) for one in turn.event.layers)
        try:
            trial = await try_draft(self._app, turn.event.model_copy(update={"layers": layers}), str(random_id()))
        except (Permanent, Temporary, TimeoutError) as error:
            raise TrialFailed(f"the model did not decide: {str(error) or 'it took too long'}") from error
        if not trial.decision:
            raise TrialFailed(f"the model did not decide: {trial.reason}")
        return trial


def _turn(told: list[dict[str, object]], reply_id: UUID) -> Turn | None:
    read = [one for one in told if not is_sealed(one)]
    drafted = [ReplyDrafted.model_validate(one) for one in read if one.get("reply_id") == str(reply_id)]
    for one in reversed(read if drafted else []):
        if "layers" in one and one["turn_id"] == str(drafted[-1].turn_id):
            return Turn(MemoryLoaded.model_validate(one), drafted[-1])
    return None


def _changed(layer: ContextLayer, text: str) -> ContextLayer:
    """A layer in other words. Rules are data, too: whatever reads them reads those of the trial."""
    if text == layer.text:
        return layer
    rules = tuple({"rule": one.removeprefix("- ")} for one in text.splitlines() if one.strip())
    return layer.model_copy(update={"text": text, "items": layer.items if layer.name == "persona" else rules})
