"""A log with which an interrupted replay goes on: a line of JSON that says which call it is of, then one a result.

Invariant: results of another call, or of another version of the code, are never taken for those of this one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from types import MappingProxyType
from uuid import UUID

from pydantic import BaseModel, ConfigDict, ValidationError

from services.core.bus.dead_letters import code_version
from services.core.errors import Permanent
from services.operations.replay.model import Asking
from services.operations.replay.result import Result
from services.operations.replay.selection import Selection

TYPED = MappingProxyType({"since": "from", "before": "to"})  # as the command's options are called


class LogUnreadable(Permanent):
    """The file is no log of a replay."""


class LogOfAnotherCall(Permanent):
    """The file is the log of a replay that was called otherwise; name another file."""


class Call(BaseModel):
    """What a result depends on: which cases, by which processors, with whose answers, and which code."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    code: str
    check: str
    topic: str
    until: str
    rebuild_context: bool
    event: UUID | None
    thread: UUID | None
    participant: UUID | None
    since: datetime | None
    before: datetime | None
    model: str
    prompt: str


def call_of(wanted: Selection, asking: Asking, check: Path | None) -> Call:
    """The call that asks for cases of the past, or for those that are saved in the folder `check`."""
    return Call(
        code=code_version(),
        check=str(check.resolve()) if check else "",
        topic=wanted.topic,
        until=wanted.until,
        rebuild_context=wanted.rebuild_context,
        event=wanted.event,
        thread=wanted.thread,
        participant=wanted.participant,
        since=wanted.since,
        before=wanted.before,
        model=asking.model,
        prompt=asking.prompt,
    )


@dataclass(frozen=True, slots=True)
class Log:
    """`done` is what the file held already."""

    path: Path
    done: tuple[Result, ...] = ()

    def add(self, result: Result) -> None:
        """Append a result."""
        with self.path.open("ab") as file:
            file.write(_line(result))


def open_log(path: Path, call: Call) -> Log:
    """The log of this call, begun where there is none; a last line that was cut off is taken away.

    Raises `LogUnreadable` or `LogOfAnotherCall`; the file is then as it was.
    """
    content = path.read_bytes() if path.exists() else b""
    if _line(call).startswith(content):
        path.write_bytes(_line(call))
        return Log(path)
    whole = content[: content.rfind(b"\n") + 1]
    first, *others = _lines(path, whole)
    _refuse_another(path, first, call)
    done = tuple(_results(path, others))
    if whole != content:
        path.write_bytes(whole)
    return Log(path, done)


def _lines(path: Path, content: bytes) -> list[str]:
    try:
        return content.decode().removesuffix("\n").split("\n")
    except UnicodeDecodeError as error:
        raise LogUnreadable(f"{path} is no log of a replay: {error}") from error


def _refuse_another(path: Path, line: str, call: Call) -> None:
    try:
        before = Call.model_validate_json(line)
    except ValidationError as error:
        raise LogUnreadable(f"{path} does not begin with the call that it is the log of: {error}") from error
    if before != call:
        said, now = before.model_dump(mode="json"), call.model_dump(mode="json")
        other = ", ".join(
            f"{TYPED.get(name, name)} was {_value(was)}" for name, was in said.items() if was != now[name]
        )
        raise LogOfAnotherCall(f"{path} is the log of another call ({other}); name another file")


def _value(was: str | bool | None) -> str:
    return "not given" if was in (None, "") else str(was)


def _results(path: Path, lines: list[str]) -> Iterator[Result]:
    for number, line in enumerate(lines, 2):
        try:
            yield Result.model_validate_json(line)
        except ValidationError as error:
            raise LogUnreadable(f"{path}, line {number} of the log: {error}") from error


def _line(of: BaseModel) -> bytes:
    return of.model_dump_json().encode() + b"\n"
