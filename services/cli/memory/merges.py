"""`correspondent memory merge` and `unmerge`: one person under several addresses, and facts that were shown as one."""

from __future__ import annotations

from typing import Annotated, Literal
from uuid import UUID

import typer

from schemas.events.memory import FactRequested
from schemas.events.merging import ParticipantMergeRequested
from services.cli.memory.person import Who, ask_about
from services.cli.requests import By, in_house
from services.core.app import App
from services.operations.memory.people import NobodyFound, find_person, pairs


def merge(
    context: typer.Context,
    who: Who,
    into: Annotated[str, typer.Argument(help="Another participant: an address, or an id.")],
    reason: Annotated[str, typer.Option(help="Why, for the log.")] = "",
    by: By = "operator",
) -> None:
    """Merge two participants into one person; `unmerge` undoes it."""

    async def run(app: App) -> None:
        await _ask_each(app, who, into, "merge", by, reason)

    in_house(context, run)


def unmerge(
    context: typer.Context,
    who: Who,
    what: Annotated[str, typer.Argument(help="The other participant (an address or id), or a fact's id.")],
    reason: Annotated[str, typer.Option(help="Why two people are taken apart, for the log.")] = "",
    by: By = "operator",
) -> None:
    """Undo a merge of two people, or of facts shown as one."""

    async def run(app: App) -> None:
        try:
            await _ask_each(app, who, what, "unmerge", by, reason)
        except NobodyFound:
            fact_id = _id(what)
            if fact_id is None:
                raise
            async with app.database.reading() as conn:
                one = await find_person(conn, app.settings.workspace, who)
            request = FactRequested(participant_id=one.participant_id, op="unmerge", fact_id=fact_id, by=by)
            await ask_about(app, request)

    in_house(context, run)


async def _ask_each(app: App, who: str, other: str, op: Literal["merge", "unmerge"], by: str, reason: str) -> None:
    """Ask it in every space of memory that knows both."""
    async with app.database.reading() as conn:
        found = await pairs(conn, app.settings.workspace, who, other)
    for one, into in found:
        ids = {"participant_id": one.participant_id, "into": into.participant_id}
        await ask_about(app, ParticipantMergeRequested(**ids, op=op, by=by, reason=reason))


def _id(what: str) -> UUID | None:
    try:
        return UUID(what)
    except ValueError:
        return None
