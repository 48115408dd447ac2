"""`correspondent knowledge unanswered|proposed|propose|accept|reject`: articles from what people answered."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.text import Text

from schemas.events.documents import ArticleRequested, ProposalDecided
from services.cli.requests import By, in_house, request
from services.cli.terminal import After, Limit, console, plain, short, show_next
from services.cli.waiting import Wait
from services.core.app import App
from services.core.ids import article_id, text_sha256
from services.operations.ids import whole_id
from services.operations.knowledge.listing import Proposal, last_answer, list_proposals, proposal

ArticleId = Annotated[str, typer.Argument(help="The article's id, or its beginning, as `proposed` shows it.")]


def proposed(
    context: typer.Context,
    all_of_them: Annotated[bool, typer.Option("--all", help="Also what was accepted or rejected.")] = False,
    limit: Limit = 50,
    after: After = "",
) -> None:
    """List proposed articles, oldest first; none is accepted by itself."""

    async def run(app: App) -> None:
        found = await list_proposals(app, "" if all_of_them else "proposed", limit=limit, after=after)
        for one in found:
            _show(one)
        show_next(found)
        if not found:
            console.print(
                "Nothing is proposed. `correspondent knowledge propose THREAD` makes an article of its answer."
            )

    in_house(context, run)


def propose(
    context: typer.Context,
    thread_id: Annotated[str, typer.Argument(help="The thread's id, or its beginning.")],
    wait: Wait = 60,
    by: By = "operator",
) -> None:
    """Propose an article from the last answer in a thread."""

    async def run(app: App) -> None:
        thread = await whole_id(app, thread_id, "thread")
        reply = await last_answer(app, thread)
        if reply is None:
            raise typer.BadParameter("nothing was answered in this thread yet")
        id = article_id(app.settings.workspace, thread, reply)
        await request(app, ArticleRequested(document_id=id, thread_id=thread, reply_id=reply, by=by), wait)

    in_house(context, run)


def accept(
    context: typer.Context,
    article: ArticleId,
    text: Annotated[
        Path | None, typer.Option(help="A file (Markdown) with your own wording.", exists=True, dir_okay=False)
    ] = None,
    link: Annotated[str, typer.Option(help="Where customers may read it; mails then link to it.")] = "",
    wait: Wait = 60,
    by: By = "operator",
) -> None:
    """Accept a proposed article, as it is or in your own words."""
    own = text.read_text(encoding="utf-8", errors="replace").strip() if text else ""
    if text and not own:
        raise typer.BadParameter(f"{text} is empty; leave --text out to accept the article as it is")
    _decide(context, article, wait, accept=True, text=own, public_url=link, by=by)


def reject(
    context: typer.Context,
    article: ArticleId,
    reason: Annotated[str, typer.Option(help="Why, for the log.")] = "",
    wait: Wait = 60,
    by: By = "operator",
) -> None:
    """Reject a proposed article; it is not proposed again."""
    _decide(context, article, wait, accept=False, reason=reason, by=by)


def _decide(context: typer.Context, article: str, wait: float, **given: Any) -> None:
    async def run(app: App) -> None:
        found = await proposal(app, await whole_id(app, article, "article"))
        assert found is not None
        seen = {"document_id": found.document_id, "text_sha256": text_sha256(found.text)}
        await request(app, ProposalDecided(**seen, **given), wait)

    in_house(context, run)


def _show(one: Proposal) -> None:
    state = "" if one.state == "proposed" else f"  {one.state}"
    console.print(Text.assemble((short(one.document_id), "bold cyan"), "  ", plain(one.title, "bold"), state))
    marks = f", {one.masked} personal things taken out" if one.masked else ""
    console.print(plain(f"{one.source}, thread {short(one.thread_id)}{marks}", "dim"))
    console.print(plain(one.text), "\n")


# `correspondent knowledge unanswered`: what customers asked and no document answered, in groups.
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
            _show_group(one)
        if not found.groups:
            console.print(f"No question of the {DAYS} days up to the newest mail is without an answer.")
        if found.cut:
            console.print(plain("There were more: the newest mails and the largest groups are shown.", "dim"))

    in_house(context, run)


def _show_group(one: Unanswered) -> None:
    people = f"{one.people} {'person' if one.people == 1 else 'people'}"
    why = ", ".join(f"{reason.replace('_', ' ')} {count}x" for reason, count in sorted(one.reasons.items()))
    console.print(Text.assemble((people, "bold cyan"), "  ", plain(one.question, "bold")))
    threads = " ".join(dict.fromkeys(short(each.thread_id) for each in one.asked_in))
    console.print(plain(f"last {one.last_asked:%Y-%m-%d}, {why}; threads {threads}", "dim"))
    if one.answer:
        thread = short(one.answer.thread_id)
        state = f"an article is {one.answer.article}" if one.answer.article else f"`knowledge propose {thread}`"
        console.print(plain(f"answered by a person in {thread}: {state}", "dim"))
