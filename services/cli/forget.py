"""`correspondent forget`, `export` and `scrub`: a person's right to be erased, and to see what is held."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from services.cli.terminal import console, plain
from services.core.app import App
from services.operations.backup.keys import copies_left
from services.operations.deployment import app_here
from services.operations.erase.export import export, new_folder
from services.operations.erase.inventory import counts_of, found_of, theirs_of
from services.operations.erase.proof import Proof, prove, prove_disk
from services.operations.erase.run import erase, finish
from services.operations.erase.survey import Survey
from services.operations.erase.unread_words import hear_unread
from services.operations.erase.words import Marks, words_of
from services.operations.scrub.run import Scrubbed, mark_all, scrub

SHOWN = 40  # findings shown of a proof that fails
SHARED = 12  # words shown that are not the person's alone

Who = Annotated[str, typer.Option("--participant", help="The person: an address, or a participant's id.")]


def forget(
    context: typer.Context,
    participant: Who,
    prove_it: Annotated[
        bool, typer.Option("--prove", help="Search every store for the person's words afterwards; exit 1 if found.")
    ] = False,
    also: Annotated[
        list[str] | None, typer.Option(help="A further word to search for: a name, a number. Several may be given.")
    ] = None,
    scrub_now: Annotated[
        bool,
        typer.Option(
            "--scrub/--no-scrub", help="Rewrite tables now, which locks each for a moment, or later: `scrub`."
        ),
    ] = True,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    by: Annotated[str, typer.Option(help="Who erases, for the log.")] = "operator",
) -> None:
    """Erase a person for good: keys, rows, files, caches.

    What others wrote stays, without the person's name.
    """
    home: Path = context.obj
    raise typer.Exit(asyncio.run(_forget(home, participant, Asked(prove_it, scrub_now, tuple(also or ()), yes, by))))


def export_person(
    context: typer.Context,
    participant: Who,
    to: Annotated[Path, typer.Option(help="A new folder.", file_okay=False)],
) -> None:
    """Export all that is held about a person into a folder.

    Data as JSON, mails as .eml.
    """
    home: Path = context.obj
    asyncio.run(_export(home, participant, to))


@dataclass(frozen=True, slots=True)
class Asked:
    """What the operator asked for in addition."""

    prove: bool
    scrub: bool
    also: tuple[str, ...]
    yes: bool
    by: str


async def _forget(home: Path, typed: str, asked: Asked) -> int:
    async with app_here(home) as app:
        await finish(app, app.settings.workspace)
        found = await found_of(app, typed)
        if asked.prove:
            await hear_unread(app, found)
        marks = _with(found.marks, asked.also)
        if found.events:
            await _warn(app, found)
            if not asked.yes and not typer.confirm("Erase this person? It cannot be undone."):
                console.print("Nothing was erased.")
                return 1
            done = await erase(app, found, by=asked.by)
            console.print(
                f"Erased: {done.keys} keys destroyed, {done.events} events without content, {done.kept} of others kept "
                f"under new keys, {done.threads} threads rebuilt from {done.refolded} events."
            )
        else:
            console.print("Nothing is held about this person.")
        await _say_what_backups_hold(app)
        scrubbed = await scrub_and_say(app) if asked.scrub else Scrubbed()
        if not asked.prove:
            return 0
        proof = await prove_disk(app, marks, scrubbed, await prove(app, marks, found.people))
        return _show(proof, marks, found.said_outside)


async def _export(home: Path, typed: str, to: Path) -> None:
    async with app_here(home) as app:
        found = await theirs_of(app, typed)
        if not found.events:
            console.print("Nothing is held about this person.")
            raise typer.Exit(1)
        counts = await export(app, found, new_folder(to))
    console.print(f"{to}: {', '.join(f'{count} {name}' for name, count in counts.items())}.")


def _with(marks: Marks, also: Sequence[str]) -> Marks:
    """The marks with what the operator names in addition."""
    single = {word for one in also if len(words := words_of(one)) == 1 for word in words}
    phrases = {one.casefold() for one in also if len(words_of(one)) > 1}
    return Marks(marks.phrases | phrases, marks.words | single)


async def _warn(app: App, found: Survey) -> None:
    who = ", ".join([*sorted(found.names), *sorted(found.addresses)]) or ", ".join(map(str, found.people))
    console.print(plain(f"To be destroyed, of {who}:", "bold"))
    for name, count in (await counts_of(app, found)).items():
        console.print(f"  {count:>6} {name}")


async def _say_what_backups_hold(app: App) -> None:
    """Nobody can search a backup from here: what is in it, and until when it can be read."""
    async with app.database.reading() as conn:
        left = await copies_left(conn)
    console.print("Earlier backups hold the person's events and files sealed; only a copy of the keys opens them.")
    for number, one in enumerate(left):
        goes = f"goes on {one.until:%Y-%m-%d}" if number else "the newest, stays until `backup` writes another"
        console.print(plain(f"  {one.path}, of {one.taken_at:%Y-%m-%d %H:%M} UTC: {goes}"))
    if not left:
        console.print("  None that `backup --keys-to` has written is left.")


def _show(proof: Proof, marks: Marks, shared: set[str]) -> int:
    said = sorted(shared, key=lambda one: ("@" not in one, one))
    if said:
        more = f" and {len(said) - SHARED} more" if len(said) > SHARED else ""
        words = ", ".join(said[:SHARED])
        console.print(plain(f"Not searched for, since others say it too, and keep it: {words}{more}."))
    read = ", ".join(f"{count} in {name}" for name, count in proof.read.items())
    console.print(f"Searched for {len(marks)} words of the person: {read}.")
    for one in proof.findings[:SHOWN]:
        console.print(plain(f"  found {one.word!r} in {one.place}", "red"))
    for place in proof.closed[:SHOWN]:
        console.print(plain(f"  not looked into: {place} holds what is encrypted, damaged or too large", "yellow"))
    for place in proof.unscrubbed:
        console.print(
            plain(f"  not rewritten since: {place} may hold deleted rows on disk; `correspondent scrub`", "red")
        )
    for place in proof.unreached:
        console.print(plain(f"  not looked at: {place}", "yellow"))
    console.print(_verdict(proof))
    return 0 if proof.holds else 1


def _verdict(proof: Proof) -> str:
    if proof.findings:
        return "Not proved: the words above were found."
    if proof.unscrubbed:
        return "Not proved: deleted rows may still lie on disk."
    return "Proved: none of them is anywhere" + (", as far as can be looked at from here." if proof.unreached else ".")


# `correspondent scrub`: rows that were deleted leave the disk of the database, too.


def scrub_disk(
    context: typer.Context,
    everything: Annotated[
        bool, typer.Option("--all", help="Every table, also where nobody was erased: after retention, for example.")
    ] = False,
) -> None:
    """Rewrite the tables that held an erased person.

    The write-ahead log is recycled, too. Each table is locked for a moment.
    """
    home: Path = context.obj
    raise typer.Exit(asyncio.run(_scrub(home, everything)))


async def _scrub(home: Path, everything: bool) -> int:
    async with app_here(home) as app:
        if everything:
            await mark_all(app)
        done = await scrub_and_say(app)
        if done == Scrubbed():
            console.print("Nothing to scrub: nobody was erased since the last time.")
    return 1 if done.left else 0


async def scrub_and_say(app: App) -> Scrubbed:
    """Scrub, and say what was done and what was not."""
    done = await scrub(app)
    if done.tables or done.log_files:
        console.print(
            f"Scrubbed: {done.tables} tables rewritten, {done.log_files} files of the write-ahead log written over."
        )
    for one in done.left:
        console.print(plain(f"  not scrubbed: {one.place}: {one.reason}", "yellow"))
    return done
