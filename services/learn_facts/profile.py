"""The profile: what people keep of a participant. No mail and no model changes it, and it is no fact."""

from __future__ import annotations

from collections.abc import Mapping
from uuid import UUID

from psycopg.types.json import Jsonb

from schemas.events.profile import ProfileChanged, ProfileRequested
from services.core.bus.envelope import Envelope
from services.core.bus.unit import Appliers
from services.core.bus.work import Work
from services.core.db import Connection, queries

SQL = queries(__file__, "profile.sql")

MOST_FIELDS = 40


def change(participant_id: UUID, stands: Mapping[str, str], command: ProfileRequested) -> ProfileChanged | None:
    """What of a request changes anything; beyond `MOST_FIELDS` no new field is taken."""
    removed = tuple(sorted(set(command.remove) & stands.keys()))
    room = MOST_FIELDS - (len(stands) - len(removed))
    changed = {
        name: value for name, value in command.fields.items() if stands.get(name) != value and name not in removed
    }
    new = [name for name in changed if name not in stands]
    for name in new[max(room, 0) :]:
        del changed[name]
    if not changed and not removed:
        return None
    return ProfileChanged(
        participant_id=participant_id, fields=changed, removed=removed, by=command.by, reason=command.reason
    )


async def on_profile(work: Work[ProfileRequested]) -> None:
    """A person sets or removes fields."""
    command = work.event
    async with work.unit() as unit:
        await unit.lock("participant", command.participant_id)
        rows = await unit.all(SQL.profile, workspace=unit.workspace, participant_id=command.participant_id)
        event = change(command.participant_id, {row["field"]: row["value"] for row in rows}, command)
        if event is not None:
            await unit.record(event)


async def _changed(conn: Connection, envelope: Envelope) -> None:
    event = envelope.data
    assert isinstance(event, ProfileChanged)
    args = {**event.model_dump(), "workspace": envelope.workspace, "at": envelope.time, "cause": envelope.causation_id}
    await conn.execute(SQL.set_fields, {**args, "fields": Jsonb(event.fields)})
    await conn.execute(SQL.remove_fields, {**args, "removed": list(event.removed)})


PROFILE_APPLIERS: Appliers = {ProfileChanged: _changed}
