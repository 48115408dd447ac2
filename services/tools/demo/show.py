"""The demo on the terminal: each mail, what was understood and remembered, the reply, the changes of state."""

from __future__ import annotations

from rich.console import Console, Group
from rich.panel import Panel
from rich.text import Text

from services.tools.demo.aftermath import Aftermath
from services.tools.demo.world import Mail, World

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
    colour = _COLOURS.get(came.outcome, "red")
    lines = [_received(came), _understood(came)]
    lines += [_fact(fact) for fact in came.facts]
    lines += [Text(f"  not stored   {one['key']}: {one['reason']}", "bright_black") for one in came.refused]
    lines += [_step(step) for step in came.steps]
    lines += [_reply(reply) for reply in came.replies]
    lines += [Text(f"  UNEXPECTED   {fault}", "bold red") for fault in faults]
    title = Text.assemble((f"{mail.received_at:%d %b %Y}  ", "bold"), mail.story)
    console.print(Panel(Group(*lines), title=title, title_align="left", subtitle=came.outcome, border_style=colour))


def summary(console: Console, total: int, faults: dict[str, list[str]]) -> None:
    """How it went."""
    if not faults:
        console.print(f"[bold green]All {total} mails ended as expected.[/]")
        return
    console.print(f"[bold red]{len(faults)} of {total} mails did not end as expected:[/]")
    for key, said in faults.items():
        console.print(Text(f"  {key}: {'; '.join(said)}", "red"))


def _received(came: Aftermath) -> Text:
    mail = came.mail
    body = " ".join(mail["text"].split())
    shown = body if len(body) <= 300 else body[:297] + "..."
    who = f"{mail['author_name']} <{mail['author_addr']}>".strip()
    return Text.assemble(
        ("  from         ", "dim"), who, (f"  «{mail['subject']}»\n", "bold"), ("  mail         ", "dim"), shown
    )


def _understood(came: Aftermath) -> Text:
    mail = came.mail
    verdict = "to be answered" if mail["verdict"] == "answer" else f"{mail['verdict']}: {mail['reason']}"
    style = "red" if mail["identity"] == "failed" else ""
    return Text.assemble(("  understood   ", "dim"), (f"sender {mail['identity']}", style), f"; {verdict}")


def _fact(fact: dict[str, object]) -> Text:
    change = " (replaces what was known)" if fact["supersedes"] else ""
    return Text.assemble(
        ("  remembered   ", "magenta"), f"{fact['key']} = {fact['value']}{change}", (f"  from «{fact['quote']}»", "dim")
    )


def _step(step: dict[str, object]) -> Text:
    who = "thread" if step["aggregate"] == "thread" else "customer"
    return Text.assemble(
        ("  state        ", "blue"),
        f"{who}: {step['from_state']} -> {step['to_state']}",
        (f"  ({step['reason']})", "dim"),
    )


def _reply(reply: dict[str, object]) -> Text:
    said = "\n".join(f"               {line}" for line in str(reply["text"]).splitlines())
    return Text.assemble(("  reply        ", "green"), f"to {reply['recipient']}\n", (said, "green"))
