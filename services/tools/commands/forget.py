"""`correspondent forget` and `export`: a person's right to be erased, and to see what is held."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Annotated

import typer

from services.core.archive.archive import archive_of
from services.core.db import fetch_one
from services.core.house import House
from services.tools.backup.keys import copies_left
from services.tools.commands.terminal import console, plain
from services.tools.erase.export import export
from services.tools.erase.person import person
from services.tools.erase.proof import Proof, prove
from services.tools.erase.run import erase, finish
from services.tools.erase.survey import SQL, Survey, survey
from services.tools.erase.unread import touch_unread
from services.tools.erase.words import Marks, words_of
from services.tools.running import house_here

SHOWN = 40  # findings shown of a proof that fails

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
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    by: Annotated[str, typer.Option(help="Who erases, for the log.")] = "operator",
) -> None:
    """Erase a person for good: keys, rows, files, caches; what others wrote stays, without the person's name."""
    home: Path = context.obj
    raise typer.Exit(asyncio.run(_forget(home, participant, prove_it, also or [], yes, by)))


def export_person(
    context: typer.Context,
    participant: Who,
    to: Annotated[Path, typer.Option(help="A new folder.", file_okay=False)],
) -> None:
    """Write all that is held about a person into a folder: JSON, and mails as .eml."""
    home: Path = context.obj
    asyncio.run(_export(home, participant, to))


async def _forget(home: Path, typed: str, prove_it: bool, also: list[str], yes: bool, by: str) -> int:
    async with house_here(home) as house:
        await finish(house, house.settings.workspace)
        found = await _found(house, typed)
        await touch_unread(house, found)
        marks = _with(found.marks, also)
        if found.events or found.touched:
            await _warn(house, found)
            if not yes and not typer.confirm("Erase this person? It cannot be undone."):
                console.print("Nothing was erased.")
                return 1
            done = await erase(house, found, by=by)
            console.print(
                f"Erased: {done.keys} keys destroyed, {done.events} events without content, {done.kept} of others kept "
                f"under new keys, {done.threads} threads folded anew from {done.refolded} events."
            )
        else:
            console.print("Nothing is held about this person.")
        await _say_what_backups_hold(house)
        return _show(await prove(house, marks), marks) if prove_it else 0


async def _export(home: Path, typed: str, to: Path) -> None:
    async with house_here(home) as house:
        found = await _found(house, typed)
        if not found.events:
            console.print("Nothing is held about this person.")
            raise typer.Exit(1)
        counts = await export(house, found, to)
    console.print(f"{to}: {', '.join(f'{count} {name}' for name, count in counts.items())}.")


async def _found(house: House, typed: str) -> Survey:
    people, names = await person(house, typed)
    async with house.database.reading() as conn:
        return await survey(conn, house.settings.workspace, people, names, archive_of(house.settings))


def _with(marks: Marks, also: list[str]) -> Marks:
    """The marks with what the operator names besides."""
    single = {word for one in also if len(words := words_of(one)) == 1 for word in words}
    phrases = {one.casefold() for one in also if len(words_of(one)) > 1}
    return Marks(marks.phrases | phrases, marks.words | single)


async def _warn(house: House, found: Survey) -> None:
    async with house.database.reading() as conn:
        row = await fetch_one(conn, SQL.held, {"workspace": found.workspace, "people": list(found.people)})
    assert row is not None
    who = ", ".join(sorted(found.names)) or ", ".join(map(str, found.people))
    console.print(plain(f"To be destroyed, of {who}:", "bold"))
    for name, count in {**row, "events": found.events, "keys": len(found.keys)}.items():
        console.print(f"  {count:>6} {name}")
    if found.touched:
        console.print(f"  {len(found.touched):>6} keys of others whose events name this person: sealed anew without it")


async def _say_what_backups_hold(house: House) -> None:
    """Nobody can search a back-up from here: what is in it, and until when it can be read."""
    async with house.database.reading() as conn:
        left = await copies_left(conn)
    console.print("Back-ups of before hold the person's events and files sealed; only a copy of the keys opens them.")
    for number, one in enumerate(left):
        goes = f"goes on {one.until:%Y-%m-%d}" if number else "the newest, stays until `backup` writes another"
        console.print(plain(f"  {one.path}, of {one.taken_at:%Y-%m-%d %H:%M} UTC: {goes}"))
    if not left:
        console.print("  None that `backup --keys-to` has written is left.")


def _show(proof: Proof, marks: Marks) -> int:
    read = ", ".join(f"{count} in {name}" for name, count in proof.read.items())
    console.print(f"Searched for {len(marks)} words of the person: {read}.")
    for one in proof.findings[:SHOWN]:
        console.print(plain(f"  found {one.word!r} in {one.place}", "red"))
    for place in proof.closed[:SHOWN]:
        console.print(plain(f"  not looked into: {place} holds what is encrypted, damaged or too large", "yellow"))
    console.print("Not proved: the words above were found." if proof.findings else "Proved: none of them is anywhere.")
    return 1 if proof.findings else 0
