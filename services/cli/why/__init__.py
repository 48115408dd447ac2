"""`correspondent why`: the context that a reply was made from, what was included, and why."""

from __future__ import annotations

from typing import Annotated

import typer

from services.cli.requests import in_house
from services.cli.terminal import console
from services.cli.why import view as showing
from services.core.app import App
from services.core.archive.archive import archive_of
from services.operations.ids import IdUnclear, whole_id
from services.operations.threads.explanations import Explanation, explain_reply, explain_thread


def why(
    context: typer.Context,
    id: Annotated[str, typer.Argument(help="A reply's id, or a thread's: then its newest turn.")],
) -> None:
    """Show the context that a reply was made from.

    Each layer, what was included and why, and what was decided.
    """

    async def run(app: App) -> None:
        for line in showing.whole(await _explained(app, id)):
            console.print(line)

    in_house(context, run)


async def _explained(app: App, id: str) -> Explanation:
    """Of a reply, else of a thread's newest turn. Raises `IdUnclear`, `NothingToExplain`."""
    workspace, archive = app.settings.workspace, archive_of(app.settings)
    try:
        reply_id = await whole_id(app, id, "reply")
    except IdUnclear:
        thread_id = await whole_id(app, id, "thread")
        async with app.database.reading() as conn:
            return await explain_thread(conn, workspace, thread_id, archive=archive)
    async with app.database.reading() as conn:
        return await explain_reply(conn, workspace, reply_id, archive=archive)
