"""`correspondent knowledge unanswered`: what customers asked and no document answered, in groups."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from services.cli.requests import in_house
from services.cli.terminal import console, plain, short
from services.core.app import App

if TYPE_CHECKING:
    from services.operations.knowledge.unanswered import Unanswered


def unanswered(
    context: typer.Context,
    limit: Annotated[int, typer.Option(help="So many groups.", min=1, max=200)] = 20,
) -> None:
    """List questions that no document answered, in groups that ask the same."""

    async def run(app: App) -> None:
        from services.operations.knowledge.unanswered import DAYS, UnansweredQuestions

        found = await UnansweredQuestions(app).read(limit=limit)
        for one in found.groups:
            _show(one)
        if not found.groups:
            console.print(f"No question of the {DAYS} days up to the newest mail is without an answer.")
        if found.cut:
            console.print(plain("There were more: the newest mails and the largest groups are shown.", "dim"))

    in_house(context, run)


def _show(one: Unanswered) -> None:
    people = f"{one.people} {'person' if one.people == 1 else 'people'}"
    why = ", ".join(f"{reason.replace('_', ' ')} {count}x" for reason, count in sorted(one.reasons.items()))
    console.print(Text.assemble((people, "bold cyan"), "  ", plain(one.question, "bold")))
    threads = " ".join(dict.fromkeys(short(each.thread_id) for each in one.asked_in))
    console.print(plain(f"last {one.last_asked:%Y-%m-%d}, {why}; threads {threads}", "dim"))
    if one.answer:
        thread = short(one.answer.thread_id)
        state = f"an article is {one.answer.article}" if one.answer.article else f"`knowledge propose {thread}`"
        console.print(plain(f"answered by a person in {thread}: {state}", "dim"))
