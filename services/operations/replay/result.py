"""What came of each case."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

from services.operations.replay.case import Case
from services.operations.replay.difference import Difference, differences
from services.operations.replay.play import Played

SAME, DIFFERENT, FAILED = 0, 1, 2  # exit codes


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
    found = {(each.place, each.event, each.field) for each in other.differences}
    both = tuple(each for each in one.differences if (each.place, each.event, each.field) in found)
    return one.model_copy(update={"differences": both})
