"""What was changed: each change with who made it, when and why, the newest first."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from typing import Any

from services.core.app import App
from services.core.db import fetch_all
from services.core.paging import Listing, Page
from services.operations.settings_changes.changes import SQL

CHANGES = Listing("settings_changes", (("version", "number"),), descending=True)


@dataclass(frozen=True, slots=True)
class ChangedName:
    """A setting in a change; not `is_set`: it is as the file has it again."""

    name: str
    is_set: bool
    value: Any


@dataclass(frozen=True, slots=True)
class Change:
    """One change. `undoes` is the one that it took back."""

    version: int
    at: datetime
    by: str
    reason: str
    undoes: int | None
    settings: tuple[ChangedName, ...]


async def history(app: App, *, limit: int, after: str = "") -> Page[Change]:
    """The changes, the newest first. Raises `BadCursor`."""
    workspace = app.settings.workspace
    args = {"workspace": workspace} | CHANGES.args(after, limit)
    async with app.database.transaction(workspace) as conn:
        rows = await fetch_all(conn, SQL.page, args)
    found = []
    for version, some in groupby(rows, lambda row: int(row["version"])):
        of = list(some)
        names = tuple(ChangedName(one["name"], one["is_set"], one["value"]) for one in of)
        found.append(Change(version, of[0]["at"], of[0]["by"], of[0]["reason"], of[0]["undoes"], names))
    return CHANGES.page(found, limit)
