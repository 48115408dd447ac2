"""`correspondent memory merge` and `unmerge`: one person under several addresses, and facts that were shown as one."""

from __future__ import annotations

from typing import Annotated, Literal
from uuid import UUID

import typer

from schemas.events.memory import FactRequested
from schemas.events.merging import ParticipantMergeRequested
from services.cli.memory.person import Who, ask_about, of_person
from services.cli.requests import By
from services.core.app import App
from services.operations.memory.people import NobodyFound, Person, find_person


def merge(
    context: typer.Context,
    who: Who,
    into: Annotated[str, typer.Argument(help="Another participant: an address, or an id.")],
    reason: Annotated[str, typer.Option(help="Why, for the log.")] = "",
    by: By = "operator",
) -> None:
    """Merge two participants into one person; `unmerge` undoes it."""

    async def run(app: App, one: Person) -> None:
        await ask_about(app, await _request(app, one, into, "merge", by, reason))

    of_person(context, who, run)


def unmerge(
    context: typer.Context,
    who: Who,
    what: Annotated[str, typer.Argument(help="The other participant (an address or id), or a fact's id.")],
    reason: Annotated[str, typer.Option(help="Why two people are taken apart, for the log.")] = "",
    by: By = "operator",
) -> None:
    """Undo a merge of two people, or of facts shown as one."""

    async def run(app: App, one: Person) -> None:
        try:
            await ask_about(app, await _request(app, one, what, "unmerge", by, reason))
        except NobodyFound:
            fact_id = _id(what)
            if fact_id is None:
                raise
            request = FactRequested(participant_id=one.participant_id, op="unmerge", fact_id=fact_id, by=by)
            await ask_about(app, request)

    of_person(context, who, run)


async def _request(
    app: App, one: Person, other: str, op: Literal["merge", "unmerge"], by: str, reason: str
) -> ParticipantMergeRequested:
    async with app.database.reading() as conn:
        found = await find_person(conn, app.settings.workspace, other)
    ids = {"participant_id": one.participant_id, "into": found.participant_id}
    return ParticipantMergeRequested(**ids, op=op, by=by, reason=reason)


def _id(what: str) -> UUID | None:
    try:
        return UUID(what)
    except ValueError:
        return None
