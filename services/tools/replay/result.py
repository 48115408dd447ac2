"""What came of each case, and a log of it that lets an interrupted replay go on."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from services.core.errors import Permanent
from services.tools.replay.case import Case
from services.tools.replay.difference import Difference, differences
from services.tools.replay.play import Played

SAME, DIFFERENT, FAILED = 0, 1, 2  # exit codes


class LogUnreadable(Permanent):
    """The file is no log of a replay."""


class Result(BaseModel):
    """One case: what differs, and what kept it from being replayed, if anything."""

    model_config = ConfigDict(frozen=True)

    name: str
    differences: tuple[Difference, ...] = ()
    error: str = ""

    @property
    def code(self) -> int:
        """0: no difference that counts; 1: differences; 2: it could not be replayed."""
        if self.error:
            return FAILED
        return DIFFERENT if any(one.counts for one in self.differences) else SAME


def judge(case: Case, played: Played) -> Result:
    """The result of a case that was played."""
    found = differences([one.envelope() for one in case.expected], played.events, played.error)
    failed_anew = played.error if found else ""
    return Result(name=case.name, differences=found, error=failed_anew)


def agreed(one: Result, other: Result) -> Result:
    """What differs in both of two results of a case; an error in one of them alone is none."""
    if one.error or other.error:
        return other if one.error else one
    found = {(each.event, each.field) for each in other.differences}
    return one.model_copy(update={"differences": tuple(d for d in one.differences if (d.event, d.field) in found)})


def read_log(path: Path) -> Iterator[Result]:
    """The results of an earlier run; a last line that was cut off is not one. Raises `LogUnreadable`."""
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    for number, line in enumerate(lines, 1):
        try:
            yield Result.model_validate_json(line)
        except ValidationError as error:
            if number < len(lines):
                raise LogUnreadable(f"{path}, line {number}: {error}") from error


def add_to_log(path: Path, result: Result) -> None:
    """Append a result."""
    with path.open("a", encoding="utf-8") as file:
        file.write(result.model_dump_json() + "\n")
