"""Changes settings: what a person wants against what is stored, in one transaction."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from psycopg.types.json import Jsonb

from services.core.app import App
from services.core.db import Connection, fetch_all, queries
from services.core.errors import Permanent
from services.core.printable import printable
from services.core.settings import Settings
from services.core.settings.changeable import Changeable, changeable, laid_over, value_of
from services.core.settings_keeper import look
from services.core.storable import holds_storable, is_storable

SQL = queries(__file__)
LONGEST_REASON = 500
MOST = 200  # settings of one change
LARGEST = 40_000  # characters of a value as JSON

Values = Mapping[str, Any]


class SettingRefused(Permanent):
    """Settings that cannot be changed so; `faults` says by name why."""

    def __init__(self, faults: Mapping[str, str]) -> None:
        super().__init__("; ".join(f"{name}: {why}" if name else why for name, why in faults.items()))
        self.faults = dict(faults)


@dataclass(frozen=True, slots=True)
class Conflict:
    """A setting that two people changed: as it was when this one looked, as the other made it, as this one wants it."""

    name: str
    was: Any
    theirs: Any
    yours: Any
    by: str


class SettingConflict(Permanent):
    """Somebody else changed the same settings meanwhile; nothing was stored."""

    def __init__(self, conflicts: Iterable[Conflict], version: int) -> None:
        self.conflicts = tuple(conflicts)
        self.version = version
        said = ", ".join(f"{one.name} (by {one.by})" for one in self.conflicts)
        super().__init__(f"changed by somebody else meanwhile: {said}; look at version {version} and say it again")


@dataclass(frozen=True, slots=True)
class Row:
    """One setting in one change."""

    version: int
    name: str
    is_set: bool
    value: Any
    by: str


@dataclass(frozen=True, slots=True)
class Log:
    """Every row, the oldest first."""

    rows: tuple[Row, ...]

    @property
    def version(self) -> int:
        """The newest version; 0 where nothing was ever changed."""
        return self.rows[-1].version if self.rows else 0

    def at(self, version: int) -> dict[str, Any]:
        """The stored values as they were after this version."""
        held: dict[str, Any] = {}
        for row in self.rows:
            if row.version > version:
                break
            held.pop(row.name, None)
            if row.is_set:
                held[row.name] = row.value
        return held

    def last_by(self, name: str) -> str:
        """Who changed a setting last."""
        return next((one.by for one in reversed(self.rows) if one.name == name), "")


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a change comes to: the version that it makes (the newest one where nothing differs), and what it stores."""

    version: int
    values: dict[str, Any]
    unset: tuple[str, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """What it changes."""
        return (*self.values, *self.unset)


async def change(
    app: App,
    values: Values,
    unset: Iterable[str] = (),
    *,
    base: int | None,
    by: str,
    reason: str = "",
) -> Wanted:
    """Set some settings and give others back to the file. Raises `SettingRefused`, `SettingConflict`.

    `base` is the version that the person saw, None where they looked at nothing. What was wanted and is so already
    is no change.
    """
    return await _store(app, values, tuple(unset), base=base, by=by, reason=reason)


async def preview(app: App, values: Values, unset: Iterable[str] = (), *, base: int | None) -> Wanted:
    """What `change` would store; nothing is stored. Raises what it raises."""
    workspace = app.settings.workspace
    async with app.database.transaction(workspace) as conn:
        return _wanted(app, await _log(conn, workspace), values, tuple(unset), base)


async def undo(app: App, version: int, *, by: str, reason: str = "") -> Wanted:
    """Take one change back: each of its settings is as it was before, unless it was changed again since.

    Raises `SettingRefused`, `SettingConflict`.
    """
    workspace = app.settings.workspace
    async with app.database.transaction(workspace) as conn:
        log = await _log(conn, workspace)
    names = [one.name for one in log.rows if one.version == version]
    if not names:
        raise SettingRefused({"": f"there is no change {version}"})
    before = log.at(version - 1)
    values = {name: before[name] for name in names if name in before}
    unset = tuple(name for name in names if name not in before)
    return await _store(app, values, unset, base=version, by=by, reason=reason, undoes=version)


async def _store(
    app: App,
    values: Values,
    unset: tuple[str, ...],
    *,
    base: int | None,
    by: str,
    reason: str,
    undoes: int | None = None,
) -> Wanted:
    if not is_storable(reason) or len(reason) > LONGEST_REASON:
        raise SettingRefused({"": f"a reason has at most {LONGEST_REASON} characters, and none that cannot be stored"})
    workspace = app.settings.workspace
    async with app.database.transaction(workspace) as conn:
        await conn.execute(SQL.lock, {"workspace": workspace})
        wanted = _wanted(app, await _log(conn, workspace), values, unset, base)
        if wanted.names:
            row = {"workspace": workspace, "version": wanted.version, "at": app.now(), "by": by, "reason": reason}
            columns = {
                "names": list(wanted.names),
                "are_set": [name in wanted.values for name in wanted.names],
                "all_values": [Jsonb(wanted.values[one]) if one in wanted.values else None for one in wanted.names],
            }
            await conn.execute(SQL.add, {**row, **columns, "undoes": undoes})
    await look(app)
    return wanted


async def _log(conn: Connection, workspace: str) -> Log:
    rows = await fetch_all(conn, SQL.history, {"workspace": workspace})
    return Log(tuple(Row(row["version"], row["name"], row["is_set"], row["value"], row["by"]) for row in rows))


class _File:
    """Stands for the file's value."""


_FILE = _File()


def _wanted(app: App, log: Log, values: Values, unset: tuple[str, ...], base: int | None) -> Wanted:
    """What is to be stored, checked: first next to what the person saw, then next to what is stored now."""
    given = app.in_force.given or app.settings
    _check_form(changeable(given), values, unset, log)
    current = log.at(log.version)
    seen = current if base is None else log.at(base)
    mine: dict[str, Any] = {name: _FILE for name in unset if name in seen}
    for name, value in _exact(given, {name: one for name, one in seen.items() if name not in unset}, values).items():
        if not _same(value, seen[name] if name in seen else value_of(given, name)):
            mine[name] = value
    _no_conflict(mine, seen, current, log)
    mine = {name: value for name, value in mine.items() if not _same(value, current.get(name, _FILE))}
    merged = {name: value for name, value in {**current, **mine}.items() if value is not _FILE}
    laid, before = laid_over(given, merged), laid_over(given, current)
    _refuse({name: why for name, why in laid.ignored.items() if name in mine or name not in before.ignored})
    stored = {name: value for name, value in mine.items() if value is not _FILE}
    return Wanted(log.version + bool(mine), stored, tuple(name for name in mine if name not in stored))


def _exact(given: Settings, seen: Values, values: Values) -> dict[str, Any]:
    """The values as the settings' classes read them. Raises `SettingRefused`."""
    laid = laid_over(given, {**seen, **values})
    _refuse({name: why for name, why in laid.ignored.items() if name in values})
    return {name: value_of(laid.settings, name) for name in values}


def _no_conflict(mine: Values, seen: Values, current: Values, log: Log) -> None:
    """Raises `SettingConflict` where somebody else changed, to something else, what this person changes."""
    conflicts = []
    for name, value in mine.items():
        was, theirs = seen.get(name, _FILE), current.get(name, _FILE)
        if not _same(theirs, was) and not _same(theirs, value):
            conflicts.append(Conflict(name, _shown(was), _shown(theirs), _shown(value), log.last_by(name)))
    if conflicts:
        raise SettingConflict(conflicts, log.version)


def _refuse(faults: Mapping[str, str]) -> None:
    if faults:
        raise SettingRefused(faults)


def _check_form(known: Mapping[str, Changeable], values: Values, unset: tuple[str, ...], log: Log) -> None:
    """Names that may be changed, each once, and values that can be stored. Raises `SettingRefused`."""
    if len(values) + len(unset) > MOST:
        raise SettingRefused({"": f"at most {MOST} settings at once"})
    once_stored = {one.name for one in log.rows}
    faults = {name: _NOT_LISTED for name in values if name not in known}
    faults |= {name: _NOT_LISTED for name in unset if name not in known and name not in once_stored}
    faults |= {name: "is to be set and unset at once" for name in unset if name in values}
    for name, value in values.items():
        if name in known and (why := _unstorable(known[name], value)):
            faults[name] = why
    _refuse(faults)


_NOT_LISTED = "there is no such setting that can be changed while the deployment runs: look in the settings file"


def _unstorable(setting: Changeable, value: Any) -> str:
    """Why a value cannot be stored, whatever it means; "" where it can."""
    try:
        written = json.dumps(value, ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        return "must be a text, a number, yes or no, or a list or table of these"
    if len(written) > LARGEST:
        return f"is longer than {LARGEST} characters"
    if not holds_storable(value):
        return "holds a character that cannot be stored"
    if setting.kind == "line" and isinstance(value, str) and printable(value) != value:
        return "has to be one line of characters that can be seen"
    return ""


def _same(one: Any, other: Any) -> bool:
    """Whether two values are one: as JSON, where true is not 1."""
    if one is _FILE or other is _FILE:
        return one is other
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


def _shown(value: Any) -> Any:
    return None if value is _FILE else value
