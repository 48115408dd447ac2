"""What became of a request about a fact; learn_facts accepts or refuses it, and logs that."""

from __future__ import annotations

from dataclasses import dataclass, replace
from uuid import UUID

from services.core.app import App
from services.core.clock import until
from services.core.db import rows_as
from services.operations.memory.people import SQL
from services.operations.requests import NotDecidedYet


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

    async def look() -> list[Decided]:
        async with app.database.reading() as conn:
            return await rows_as(conn, Decided, SQL.became, args)

    found = await until(look, timeout_s)
    if not found:
        raise NotDecidedYet("The request is on the log, and learn_facts has not come to it yet: is it running?")
    again = any(one.decision == "restored" for one in found)
    return _with(found[0], "what it had replaced holds again" if again else "")


def _with(decided: Decided, consequence: str) -> Decided:
    return replace(decided, reason=f"{decided.reason}; {consequence}") if consequence else decided
