"""`correspondent why`: the context that a reply was made from, what was included, and why."""

from __future__ import annotations

from typing import Annotated

import typer

from services.console.threads.explaining import Explanation, explain_reply, explain_thread
from services.core.archive.archive import archive_of
from services.core.house import House
from services.tools import why as showing
from services.tools.commands.ids import IdUnclear, whole_id
from services.tools.commands.terminal import console
from services.tools.commands.wishing import in_house


def why(
    context: typer.Context,
    id: Annotated[str, typer.Argument(help="A reply's id, or a thread's: then its newest turn.")],
) -> None:
    """Show the context that a reply was made from.

    Each layer, what was included and why, and what was decided.
    """

    async def run(house: House) -> None:
        for line in showing.whole(await _explained(house, id)):
            console.print(line)

    in_house(context, run)


async def _explained(house: House, id: str) -> Explanation:
    """Of a reply, else of a thread's newest turn. Raises `IdUnclear`, `NothingToExplain`."""
    workspace, archive = house.settings.workspace, archive_of(house.settings)
    try:
        reply_id = await whole_id(house, id, "reply")
    except IdUnclear:
        thread_id = await whole_id(house, id, "thread")
        async with house.database.reading() as conn:
            return await explain_thread(conn, workspace, thread_id, archive=archive)
    async with house.database.reading() as conn:
        return await explain_reply(conn, workspace, reply_id, archive=archive)
