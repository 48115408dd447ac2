"""The proof: every store is searched for the person's words, and what is found is said with its place."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from psycopg import sql

from services.core.app import App
from services.core.db import fetch_all, fetch_one
from services.core.keys.keyring import People
from services.operations.erase.files import archives, blobs, files
from services.operations.erase.stores import cache, tables, topics
from services.operations.erase.survey import SQL
from services.operations.erase.words import Marks
from services.operations.rebuild.shadow_schema import connected
from services.operations.scrub.disk import FilesOutOfReach, found_on_disk
from services.operations.scrub.run import Scrubbed, pending

STORES = (tables, cache, topics, blobs, archives, files)


@dataclass(frozen=True, slots=True)
class Finding:
    """One of the person's words, and the store that holds it."""

    place: str
    word: str


@dataclass(frozen=True, slots=True)
class Proof:
    """How much was read in each store, and what was found: nothing proves the erase.

    `closed` are places where something cannot be looked into, such as an encrypted file that somebody else sent;
    `unscrubbed` those on disk where deleted rows may still lie, `unreached` those that nobody can look at from here.
    """

    read: dict[str, int] = field(default_factory=dict)
    findings: tuple[Finding, ...] = ()
    closed: tuple[str, ...] = ()
    unscrubbed: tuple[str, ...] = ()
    unreached: tuple[str, ...] = ()

    @property
    def holds(self) -> bool:
        """Whether nothing was found, and nothing may lie where it was not cleared."""
        return not self.findings and not self.unscrubbed


async def prove(app: App, marks: Marks, people: People = frozenset()) -> Proof:
    """Search every store for the marks, and every table for rows of the people.

    A store that cannot be read is an error: it would prove nothing.
    """
    read: dict[str, int] = {}
    findings: dict[Finding, None] = {}
    closed: dict[str, None] = {}
    for store in STORES:
        read[store.__name__] = 0
        async for place, text in store(app):
            if text is None:
                closed[place] = None
                continue
            read[store.__name__] += 1
            findings |= {Finding(place, word): None for word in sorted(marks.found_in_any(text))}
    for table, count in (await belongings(app, people)).items():
        findings[Finding(f"table {table}", f"{count} rows by the person's id")] = None
    return Proof(read, tuple(findings), tuple(closed))


async def prove_disk(app: App, marks: Marks, scrubbed: Scrubbed, proof: Proof) -> Proof:
    """The proof, with the disk of the database: no file of a table or of its log is older than the erase."""
    unreached = [f"{one.place}: {one.reason}" for one in scrubbed.left if one.out_of_reach]
    away = {one.place for one in scrubbed.left if one.out_of_reach}
    async with connected(app.settings.database_url) as conn:
        unscrubbed = [one for one in await pending(conn) if one not in away]
    try:
        count, found = await found_on_disk(app, marks)
    except FilesOutOfReach as error:
        return replace(proof, unscrubbed=tuple(unscrubbed), unreached=(*unreached, f"the server's files: {error}"))
    findings = [Finding(f"server file {path}", word) for path, word in sorted(found)]
    return replace(
        proof,
        read={**proof.read, "pieces of the server's files": count},
        findings=(*proof.findings, *findings),
        unscrubbed=tuple(unscrubbed),
        unreached=tuple(unreached),
    )


# What is left of some people by their ids: rows of any table, and keys.
#
# Words alone prove little where others say the same ones: whoever plants a person's words would hide what is left.


async def belongings(app: App, people: People) -> dict[str, int]:
    """How many rows each table has of these people; that they were erased is not among them."""
    counts = {}
    args = {"people": list(people)}
    async with connected(app.settings.database_url) as conn:
        for row in await fetch_all(conn, SQL.tables_of_people):
            name = sql.Identifier(row["name"])
            counts[row["name"]] = await fetch_one(conn, sql.SQL(SQL.rows_of_people).format(table=name), args)
        counts["subject_keys"] = await fetch_one(conn, SQL.keys_of_people, args)
    return {name: row["count"] for name, row in counts.items() if row and row["count"]}
