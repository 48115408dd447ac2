"""`correspondent inbox add` asks whose results about senders are believed: unasked, nobody names a server."""

from __future__ import annotations

import asyncio
import sys

import typer

from services.cli.terminal import console, plain
from services.core.settings import InboxSettings, Settings
from services.mail.check.steps import Fault
from services.mail.imap import token_store
from services.operations import config_file
from services.receive_email.check.survey import Survey, survey_inbox

WHY = """\
A sender is proven by DMARC. DKIM and DMARC are computed here; which machine handed a mail over (SPF) only your own mail
server sees. What it found out it writes into Authentication-Results, and that is believed where you name it, as
own_authserv_ids in the settings. Name no other server: whoever writes under that name could pose as anybody."""
HOW = 'docs/how-to/connect-an-inbox.md, "What your server says about senders", says more.'


def settle_server(settings: Settings, inbox: InboxSettings) -> None:
    """Say what the newest mails show of the inbox's own server, and write its name where the operator says yes."""
    if inbox.imap is None or settings.own_authserv_ids:
        return
    try:
        seen = asyncio.run(survey_inbox(inbox.imap, token_store(settings)))
    except Fault:
        return
    console.print(plain(WHY))
    console.print(plain(words_of(seen)))
    if not seen.is_likely:
        console.print(plain(HOW))
        return
    strips = not seen.on_top
    if not (is_interactive() and typer.confirm(_question(seen, strips), default=False)):
        console.print(plain(f"To name it later, at the top of the settings:\n{_lines(seen.server, strips)}\n{HOW}"))
        return
    path = config_file.config_path()
    config_file.set_value(path, "own_authserv_ids", [seen.server])
    if strips:
        config_file.set_value(path, "stripping_authserv_ids", [seen.server])
    console.print(plain(f"{seen.server} is in {path}. `correspondent inbox test {inbox.name}` looks at its results."))


def is_interactive() -> bool:
    """Whether somebody sits there who can be asked."""
    return sys.stdin.isatty()


def words_of(seen: Survey) -> str:
    """What the newest mails show, in words."""
    if not seen.mails:
        return (
            "There is no mail yet that would show whether it does: run `correspondent inbox test` when there is some."
        )
    if not seen.server:
        return f"None of the newest {seen.mails} mails has any: the server writes none, so SPF stays unknown."
    place = (
        f"in {seen.on_top} above its own Received line, where no sender can write"
        if seen.on_top
        else "all below the server's own Received line, where a sender can write them, too"
    )
    dmarc = "DMARC among them" if seen.dmarc else "DMARC not among them"
    return f"{seen.named} of the newest {seen.mails} mails have results of {seen.server}, {dmarc}; {place}."


def _question(seen: Survey, strips: bool) -> str:
    if strips:
        return (
            f"Is {seen.server} your own mail server, and does your provider say that it removes results which others "
            "wrote in its name (Gmail does)?"
        )
    return f"Is {seen.server} your own mail server?"


def _lines(server: str, strips: bool) -> str:
    lines = [f'    own_authserv_ids = ["{server}"]']
    if strips:
        lines.append(
            f'    stripping_authserv_ids = ["{server}"]    # only where it removes what others wrote in its name'
        )
    return "\n".join(lines)
