"""`correspondent knowledge`: the documents that replies are made from, and where they were cited."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from schemas.events.documents import DocumentRemovalRequested
from services.cli.knowledge.articles import accept, propose, proposed, reject, unanswered
from services.cli.knowledge.documents import add
from services.cli.requests import By, in_house, request
from services.cli.terminal import After, Limit, cell, console, plain, short, show_next
from services.cli.waiting import Wait
from services.core.app import App
from services.operations.ids import whole_id
from services.operations.knowledge.listing import (
    Document,
    Shown,
    find_passages,
    list_documents,
    list_unread,
    show_document,
)

typer_app = typer.Typer(no_args_is_help=True, help="Manage the documents that replies are made from.")
typer_app.command("add")(add)
typer_app.command("unanswered")(unanswered)
typer_app.command("proposed")(proposed)
typer_app.command("propose")(propose)
typer_app.command("accept")(accept)
typer_app.command("reject")(reject)

DocumentId = Annotated[str, typer.Argument(help="The document's id, or its beginning, as `list` shows it.")]
UnreadAfter = Annotated[
    str, typer.Option(help="Where to go on in what could not be read, as the end of a page says.", metavar="CURSOR")
]
SHOWN_TEXT = 400  # characters of a passage in `show` and `search`


@typer_app.command("list")
def list_all(
    context: typer.Context,
    removed: Annotated[bool, typer.Option("--removed", help="Also what was removed.")] = False,
    limit: Limit = 50,
    after: After = "",
    unread_after: UnreadAfter = "",
) -> None:
    """List documents with edition, passages and citations."""

    async def run(app: App) -> None:
        table = Table(box=None, pad_edge=False)
        for name in ("id", "title", "edition", "passages", "cited", "since", "from"):
            table.add_column(name, no_wrap=name == "id")
        found = await list_documents(app, removed=removed, limit=limit, after=after)
        for one in found:
            since = f"removed {one.removed_at:%Y-%m-%d}" if one.removed_at else f"{one.indexed_at:%Y-%m-%d}"
            numbers = [str(one.edition), str(one.chunks), str(one.cited)]
            table.add_row(short(one.document_id), cell(one.title, 40), *numbers, since, cell(_from(one)))
        unread = await list_unread(app, limit=limit, after=unread_after)
        console.print(table if table.rows else "No document yet: `correspondent knowledge add PATH`.")
        for bad in unread:
            console.print(Text.assemble(("not read  ", "red"), plain(bad.origin), ": ", plain(bad.reason)))
        show_next(found)
        show_next(unread, "--unread-after")

    in_house(context, run)


@typer_app.command()
def show(
    context: typer.Context,
    document_id: DocumentId,
    past: Annotated[bool, typer.Option("--past", help="Also the passages of older editions.")] = False,
) -> None:
    """Show a document: passages, log, and the replies that cite it."""

    async def run(app: App) -> None:
        found = await show_document(app, await whole_id(app, document_id, "document"), past=past)
        assert found is not None
        _show(found)

    in_house(context, run)


@typer_app.command()
def search(
    context: typer.Context,
    text: Annotated[str, typer.Argument(help="A question, in your own words.")],
    limit: Annotated[int, typer.Option(help="The best so many.", min=1, max=50)] = 5,
    as_of: Annotated[
        datetime | None, typer.Option(formats=["%Y-%m-%d", "%Y-%m-%dT%H:%M"], help="What was found then, UTC.")
    ] = None,
    space: Annotated[
        str | None, typer.Option(help="Of one space, as its inboxes find them; '' is the shared one.")
    ] = None,
) -> None:
    """Find passages by words and meaning, as the agent does."""

    async def run(app: App) -> None:
        moment = as_of.replace(tzinfo=UTC) if as_of else None
        found = await find_passages(app, text, limit=limit, space=space, as_of=moment)
        for one in found:
            head = Text.assemble((f"{one.score:.2f}  ", "dim"), plain(one.place, "bold"), f"  (edition {one.edition})")
            console.print(Text.assemble(head, "\n", plain(one.text[:SHOWN_TEXT]), "\n"))
        if not found:
            console.print("Nothing found.")

    in_house(context, run)


@typer_app.command()
def remove(
    context: typer.Context,
    document_id: DocumentId,
    reason: Annotated[str, typer.Option(help="Why, for the log.")] = "",
    wait: Wait = 60,
    by: By = "operator",
) -> None:
    """Retire a document; its editions stay, and answer for their time."""

    async def run(app: App) -> None:
        id = await whole_id(app, document_id, "document")
        await request(app, DocumentRemovalRequested(document_id=id, reason=reason, by=by), wait)

    in_house(context, run)


def _from(one: Document) -> str:
    return f"{one.origin} (space {one.space})" if one.space else one.origin


def _show(found: Shown) -> None:
    one = found.document
    state = f"removed {one.removed_at:%Y-%m-%d}" if one.removed_at else f"edition {one.edition}"
    console.print(Text.assemble(plain(one.title, "bold"), f"  ({state}, {one.chunks} passages, {one.media_type})"))
    console.print(plain(f"document {one.document_id}\nfrom {_from(one)}", "dim"))
    if one.public_url:
        console.print(plain(f"customers are shown {one.public_url}", "dim"))
    for chunk in found.chunks:
        past = f"  edition {chunk.edition}, until {chunk.retired_at:%Y-%m-%d %H:%M}" if chunk.retired_at else ""
        head = f"\n{chunk.position + 1}  {chunk.heading}{past}" + (f"  cited {chunk.cited}x" if chunk.cited else "")
        console.print(Text.assemble(plain(head, "bold"), "\n", plain(chunk.text[:SHOWN_TEXT])))
    console.print("\n[b]Log[/b]")
    for step in found.log:
        console.print(plain(f"{step.at:%Y-%m-%d %H:%M}  {step.decision}  {step.by}  {step.detail}".rstrip()))
    if found.cited_in:
        console.print("\n[b]Cited in[/b]")
    for reply in found.cited_in:
        words = f"{reply.at:%Y-%m-%d %H:%M}  thread {short(reply.thread_id)}  reply {short(reply.reply_id)}"
        console.print(plain(f"{words}  {reply.heading} (edition {reply.edition})"))
