"""The demo on the terminal: each mail, what was understood and remembered, the reply, the changes of state."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Console
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from schemas.events.threads import StateChanged
from services.demo.aftermath import Aftermath, StateChange
from services.demo.world import Mail, World

Line = tuple[str, str, Text]  # label, its style, what is said

LONGEST_SHOWN = 300  # characters of a mail

_COLOURS = {
    "replied": "green",
    "no_reply": "cyan",
    "escalated": "yellow",
    "attached": "yellow",
    "human": "yellow",
    "parked": "bright_black",
    "bounce": "bright_black",
}


def introduce(console: Console, world: World, model: str) -> None:
    """Who is who."""
    text = (
        f"[b]{world.product.name}[/b] sells {world.product.purpose}. Its inboxes: {', '.join(world.inboxes)}.\n"
        f"{len(world.documents)} documents are its knowledge; {len(world.mails)} mails of {len(world.people)} people "
        f"arrive over several months.\nThe replies are written by: [b]{model}[/b]. World: seed {world.seed}."
    )
    console.print(Panel(text, title="Correspondent: the demo", border_style="blue"))


def mail_and_aftermath(console: Console, mail: Mail, came: Aftermath, faults: list[str]) -> None:
    """One mail and all that followed from it."""
    told = Table.grid(padding=(0, 2))
    told.add_column(width=10, no_wrap=True)
    told.add_column()
    for label, style, said in _lines(came, faults):
        told.add_row(Text(label, style), said)
    title = Text.assemble((f"{mail.received_at:%d %b %Y}  ", "bold"), mail.story)
    colour = _COLOURS.get(came.outcome, "red")
    console.print(Panel(told, title=title, title_align="left", subtitle=came.outcome, border_style=colour))


def summary(console: Console, total: int, faults: dict[str, list[str]]) -> None:
    """How it went."""
    if not faults:
        console.print(f"[bold green]All {total} mails ended as expected.[/]")
        return
    console.print(f"[bold red]{len(faults)} of {total} mails did not end as expected:[/]")
    for key, said in faults.items():
        console.print(Text(f"  {key}: {'; '.join(said)}", "red"))


def _lines(came: Aftermath, faults: list[str]) -> Iterator[Line]:
    mail = came.mail
    who = f"{mail.author_name} <{mail.author_addr}>".strip()
    yield "from", "dim", Text.assemble(who, (f"  «{mail.subject}»", "bold"))
    yield "mail", "dim", Text(_shortened(mail.text))
    yield "understood", "dim", _understood(came)
    for fact in came.facts:
        change = " (replaces what was known)" if fact.supersedes else ""
        said = f"{fact.key} = {fact.value}{change}  "
        yield "remembered", "magenta", Text.assemble(said, (f"from «{fact.quote}»", "dim"))
    for one in came.refused:
        yield "not stored", "bright_black", Text(f"{one.key}: {one.reason}", "bright_black")
    for step in came.steps:
        yield "state", "blue", _step(step)
    for reply in came.replies:
        yield "reply", "green", Text.assemble(f"to {reply.recipient}\n", (reply.text, "green"))
    for fault in faults:
        yield "UNEXPECTED", "bold red", Text(fault, "bold red")


def _shortened(text: str) -> str:
    body = " ".join(text.split())
    return body if len(body) <= LONGEST_SHOWN else body[: LONGEST_SHOWN - 3] + "..."


def _understood(came: Aftermath) -> Text:
    mail = came.mail
    verdict = "to be answered" if mail.verdict == "answer" else f"{mail.verdict}: {mail.reason}"
    return Text.assemble((f"sender {mail.identity}", "red" if mail.identity == "failed" else ""), f"; {verdict}")


def _step(step: StateChange) -> Text:
    who = "thread" if isinstance(step, StateChanged) else "customer"
    return Text.assemble(f"{who}: {step.from_state} -> {step.to_state}  ", (f"({step.reason})", "dim"))
