"""What became of a request about a fact; learn_facts accepts or refuses it, and logs that."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from uuid import UUID

from services.core.app import App
from services.core.clock import monotonic
from services.core.db import fetch_all
from services.core.errors import Temporary
from services.operations.memory.people import SQL

LOOK_EVERY_S = 0.05


class NotDecidedYet(Temporary):
    """The request is on the log, and learn_facts has not come to it yet: is the deployment running?"""


@dataclass(frozen=True, slots=True)
class Decided:
    """What became of a request: `recorded`, `retracted`, `pinned` ... or `... refused` with its reason."""

    decision: str
    fact_id: UUID | None
    key: str
    value: str
    reason: str

    @property
    def refused(self) -> bool:
        """Whether it was not granted."""
        return self.decision.endswith(" refused")


async def became(
    app: App, participant_id: UUID, command: UUID, *, fact_id: UUID | None = None, timeout_s: float = 20
) -> Decided:
    """What became of a request, about `fact_id` where it names one. Raises `NotDecidedYet` after so many seconds."""
    args = {
        "workspace": app.settings.workspace,
        "participant_id": participant_id,
        "cause": command,
        "fact_id": fact_id,
    }
    deadline = monotonic() + timeout_s
    while monotonic() < deadline:
        async with app.database.reading() as conn:
            rows = await fetch_all(conn, SQL.became, args)
        if rows:
            again = any(row["decision"] == "restored" for row in rows)
            return _with(Decided(**rows[0]), "what it had replaced stands again" if again else "")
        await asyncio.sleep(LOOK_EVERY_S)
    raise NotDecidedYet


def _with(decided: Decided, consequence: str) -> Decided:
    return replace(decided, reason=f"{decided.reason}; {consequence}") if consequence else decided
