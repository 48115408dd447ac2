"""Runs the demo: the stack, every processor, the documents, then the mail in order of time."""

from __future__ import annotations

import asyncio
import io
import logging
import shlex
import shutil
import sys
from pathlib import Path
from typing import Any

from rich.console import Console

from deploy.local import EmbeddedStack, Endpoints
from deploy.local.ports import free_port
from schemas.events.mail import Peer
from services.cli.console import signed_in
from services.cli.knowledge.documents import Marks, add_all
from services.cli.terminal import Terminal
from services.core.app import App, open_app
from services.core.logging import configure
from services.core.settings import CONFIG_FILE, Settings, read_settings
from services.demo import show
from services.demo.aftermath import Aftermath, differences, look
from services.demo.clock import SteppingClock
from services.demo.world import Mail, Sent, SentReply, World, ZoneResolver, make_world
from services.operations.config_file import write_settings
from services.operations.deployment import on_stack
from services.operations.idle import until_idle
from services.operations.knowledge.sources import expand
from services.operations.preparation import prepare
from services.pipeline import NAMES
from services.process import until_signal, working
from services.receive_email.accept import accept

CONSOLE_PORT = 8025  # that of any deployment, or another one where it is taken
YOU = "You"  # the admin whom the demo signs in
QUIET_S = 0.3  # the demo does not make people wait 20 seconds for each mail


def run_demo(home: Path, *, seed: int, once: bool, picture: Path | None = None) -> int:
    """Play the world of `seed`; then stay, unless `once`. The exit code: 0 if every mail ended as expected.

    `picture` gets what the terminal showed of the first customer, as SVG.
    """
    console = Terminal(width=None if Console().is_terminal else 110, highlight=False)
    film = Terminal(width=110, highlight=False, record=True, file=io.StringIO())
    folder = home / "demo"
    stack = EmbeddedStack(folder, report=lambda line: console.print(f"  {line}", style="dim"))
    _start_anew(folder)
    log = _log_into(folder)
    console.print("Starting the embedded stack (for trial and small inboxes) ...")
    with stack as endpoints:
        world = make_world(seed)
        settings = demo_settings(world, endpoints, folder)
        write_settings(folder / CONFIG_FILE, settings_to_keep(settings))
        code = asyncio.run(_play(world, settings, console, film, once=once))
    if picture:
        picture.write_text(film.export_svg(title="make demo"), encoding="utf-8")
    if warnings := len(log.read_text(encoding="utf-8").splitlines()):
        console.print(f"{warnings} log lines of this demo are in {log}.", style="dim", soft_wrap=True)
    return code


def demo_settings(world: World, endpoints: Endpoints, folder: Path) -> Settings:
    """The invented company's settings; the model is Claude where a key is set."""
    inboxes = [
        {
            "name": address.partition("@")[0],
            "address": address,
            "display_name": f"{world.product.name} {address.partition('@')[0].title()}",
            "persona": f"You answer for {world.product.name}, which sells {world.product.purpose}.",
        }
        for address in world.inboxes
    ]
    changes = {
        "inboxes": inboxes,
        "home": folder,
        "threads": {"quiet_s": QUIET_S},
        "web": {"port": free_port(CONSOLE_PORT)},
    }
    return read_settings(**on_stack(endpoints, **changes))


def settings_to_keep(settings: Settings) -> dict[str, Any]:
    """What another `up` of the demo's folder, and a replay in it, must know to be the same deployment."""
    inboxes = [inbox.model_dump(exclude_unset=True) for inbox in settings.inboxes]
    web = {"port": settings.web.port}
    return {"threads": {"quiet_s": settings.threads.quiet_s}, "web": web, "inboxes": inboxes}


async def _play(world: World, settings: Settings, console: Console, film: Console, *, once: bool) -> int:
    clock = SteppingClock(world.mails[0].received_at)

    def waiting(line: str) -> None:
        console.print(f"  {line}", style="dim", soft_wrap=True)

    await prepare(settings, waiting)
    async with (
        open_app(settings, resolver=ZoneResolver(world.dns_zone), now=clock) as app,
        working(app, NAMES, waiting),
    ):
        show.introduce(console, world, app.model.name)
        await add_all(app, expand([shelf_of(world, settings.home)]), Marks("", "demo"), settings.knowledge)
        await until_idle(app)
        faults = await _deliver_all(world, app, clock, console, film)
        show.summary(console, len(world.mails), faults)
        if not once:
            clock.present()
            console.print(_farewell(app), markup=False, soft_wrap=True)
            console.print(await signed_in(app, YOU), style="bold", markup=False, soft_wrap=True)
            await until_signal()
    return 1 if faults else 0


async def _deliver_all(
    world: World, app: App, clock: SteppingClock, console: Console, film: Console
) -> dict[str, list[str]]:
    replies: dict[str, SentReply] = {}
    faults: dict[str, list[str]] = {}
    for mail in world.mails:
        came = await play(app, clock, mail, replies)
        different = differences(mail, came)
        if different:
            faults[mail.key] = different
        show.mail_and_aftermath(console, mail, came, different)
        if came.mail.author_addr == world.people[0].address and came.outcome == "replied":
            show.mail_and_aftermath(film, mail, came, different)
    return faults


def shelf_of(world: World, folder: Path) -> str:
    """The company's documents as files in a folder, which is added as anybody's is."""
    shelf = folder / "knowledge"
    shelf.mkdir(parents=True, exist_ok=True)
    for document in world.documents:
        (shelf / f"{document.slug}.md").write_text(document.text, encoding="utf-8")
    return str(shelf)


def _start_anew(folder: Path) -> None:
    """Each demo begins with an empty deployment; its own folder is all that is removed."""
    for part in ("postgres", "blobs", "outbox", "knowledge", "secret", CONFIG_FILE):
        path = folder / part
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)


def _log_into(folder: Path) -> Path:
    """The log goes into a file, which is empty at first: a line of it would break what the terminal shows."""
    path = folder / "logs" / "correspondent.log"
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    path.write_text("")
    configure(level=logging.getLevelName(logging.getLogger(__name__).getEffectiveLevel()), file=path)
    return path


def _activated() -> str:
    """What makes the command known to a shell that does not know it."""
    script = Path(sys.prefix) / "bin" / "activate"
    return "" if shutil.which("correspondent") or not script.exists() else f", after `. {shlex.quote(str(script))}`"


def _farewell(app: App) -> str:
    home = shlex.quote(str(app.settings.home))
    name = app.settings.inboxes[0].name
    return (
        f"\nCorrespondent keeps running. In another terminal{_activated()}:\n"
        f'  correspondent --home {home} write "What does the top plan cost?" --inbox {name}\n'
        f"  correspondent --home {home} mails\n"
        "To answer a real inbox: docs/how-to/connect-an-inbox.md. To have Claude write: set ANTHROPIC_API_KEY.\n"
        "Ctrl-C ends it."
    )


# One mail of the world, let in at its time and followed to its end.
PEER = "192.0.2.1"


async def play(app: App, clock: SteppingClock, mail: Mail, replies: dict[str, SentReply]) -> Aftermath:
    """What became of the mail. `replies`, by the mail's key, gets ours: later mails of the world refer to them."""
    clock.forward(mail.received_at)
    await until_idle(app)
    inbox = next(one for one in app.settings.inboxes if one.address == mail.inbox)
    peer = Peer(ip=PEER, helo="mail.example", mail_from=mail.envelope_from)
    raw = mail.render(Sent(replies))
    accepted = await accept(app, inbox, raw, source="file", source_key=mail.key, peer=peer)
    await until_idle(app)
    came = await look(app, accepted.mail_id)
    if came.replies:
        replies[mail.key] = came.sent_reply(app, came.replies[-1])
    return came
