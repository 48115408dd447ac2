"""What commands about a person share: whom a word names, the house that they run in, lines of plain text."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from typing import Annotated

import typer

from schemas.events.memory import FactRequested
from schemas.events.merging import ParticipantMergeRequested
from services.console.asking import ask
from services.console.memory.asking import became
from services.console.memory.people import Person, find_person
from services.core.house import House
from services.tools.commands.terminal import console, plain
from services.tools.commands.wishing import in_house
from services.tools.memory import show as showing

Who = Annotated[str, typer.Argument(help="The person: an address that wrote to us, or a participant's id.")]


def of_person(context: typer.Context, who: str, run: Callable[[House, Person], Awaitable[None]]) -> None:
    """Run something with the house and the person whom `who` names. Raises `NobodyFound`."""

    async def with_person(house: House) -> None:
        async with house.database.reading() as conn:
            one = await find_person(conn, house.settings.workspace, who)
        await run(house, one)

    in_house(context, with_person)


async def ask_about(house: House, wish: FactRequested | ParticipantMergeRequested) -> None:
    """Ask, wait for the decision, and say it; exit code 1 where it was refused."""
    named = wish.fact_id if isinstance(wish, FactRequested) else None
    decided = await became(house, wish.participant_id, (await ask(house, wish)).id, fact_id=named)
    console.print(plain(showing.decided(decided)))
    if decided.refused:
        raise typer.Exit(1)


def print_lines(lines: Iterable[str], empty: str = "Nothing is remembered.") -> None:
    """Each on its own, or what is said where there are none."""
    told = list(lines)
    for one in told or ([empty] if empty else []):
        console.print(plain(one))
