"""A participant's profile for people: its fields with who set them and why, and changes to them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from schemas.events.profile import ProfileRequested
from services.core.app import App
from services.core.db import rows_as
from services.operations.memory.people import SQL
from services.operations.requests import decision_on

CONSUMER = "learn_facts"


@dataclass(frozen=True, slots=True)
class ProfileField:
    """One field: its value, who set it, when, why, and because of which event."""

    field: str
    value: str
    by: str
    reason: str
    at: datetime
    cause: UUID | None


async def profile_of(app: App, participant_id: UUID) -> list[ProfileField]:
    """Every field, by name."""
    args = {"workspace": app.settings.workspace, "participant_id": participant_id}
    async with app.database.reading() as conn:
        return await rows_as(conn, ProfileField, SQL.profile, args)


async def change_profile(
    app: App,
    participant_id: UUID,
    fields: Mapping[str, str],
    remove: Sequence[str],
    by: str,
    reason: str = "",
    *,
    timeout_s: float = 20,
) -> list[ProfileField]:
    """Set and remove fields; the profile as it then is. Raises `NotDecidedYet`."""
    command = ProfileRequested(
        participant_id=participant_id, fields=dict(fields), remove=tuple(remove), by=by, reason=reason
    )
    await decision_on(app, command, CONSUMER, timeout_s=timeout_s)
    return await profile_of(app, participant_id)
