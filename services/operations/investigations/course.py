"""How an investigation went: its rounds, the files of its folder, what its calls cost. Read from its events.

What is archived is not read: then, as where the words have had their time, nothing of it is shown.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from schemas.events.investigations import RoundTaken
from schemas.events.replies import TokenUsage
from services.core.app import App
from services.core.errors import Permanent
from services.investigate.folder import lines_of, tree_of
from services.investigate.story import Story, StoryLost, story_of
from services.model.port import ToolCall, Usage
from services.model.recorded import answer_from_json
from services.operations.investigations.requests import found

Change = Literal["", "new", "changed", "deleted"]


class CourseUnread(Permanent):
    """Its rounds and files cannot be read; the words say why."""


class FileUnknown(Permanent):
    """The folder has no such file."""


@dataclass(frozen=True, slots=True)
class Call:
    """A call of a tool: its name, its input as it came, and what it was answered; `refused`: it was not run."""

    name: str
    given: dict[str, Any]
    answer: str
    refused: bool


@dataclass(frozen=True, slots=True)
class Round:
    """One answer of the model, from number 1: what it said, the calls it made, and the files that they wrote."""

    number: int
    at: datetime | None
    text: str
    calls: tuple[Call, ...]
    written: tuple[str, ...]
    model: str
    usage: TokenUsage


@dataclass(frozen=True, slots=True)
class FolderFile:
    """A file of the folder as the rounds left it; `change` is what they did to it."""

    path: str
    lines: int
    change: Change

    @property
    def folder(self) -> str:
        """The folder that it lies in, "" is the first one."""
        return self.path.rpartition("/")[0]

    @property
    def name(self) -> str:
        """Its name in that folder."""
        return self.path.rpartition("/")[2]


@dataclass(frozen=True, slots=True)
class Course:
    """`usage` is that of all its calls; `dollars` by the prices in `[model.prices]`, 0 where none are set."""

    rounds: tuple[Round, ...]
    files: tuple[FolderFile, ...]
    usage: TokenUsage
    dollars: float


@dataclass(frozen=True, slots=True)
class FileText:
    """A file as it was found and as the rounds left it, None where there was none or it was deleted; and the others."""

    path: str
    before: str | None
    text: str | None
    files: tuple[FolderFile, ...]


async def course_of(app: App, investigation_id: UUID) -> Course:
    """How it went so far. Raises `InvestigationUnknown`, `CourseUnread`."""
    story = await _story(app, investigation_id)
    usage = Usage(**story.usage.model_dump(exclude={"calls"}))
    dollars = round(app.settings.model.dollars(usage), 4)
    return Course(tuple(map(_round, story.rounds)), tuple(_files(story)), story.usage, dollars)


async def file_of(app: App, investigation_id: UUID, path: str) -> FileText:
    """A file of its folder. Raises `InvestigationUnknown`, `CourseUnread`, `FileUnknown`."""
    story = await _story(app, investigation_id)
    before, text = tree_of(story.opened.files).get(path), story.tree.get(path)
    if before is None and text is None:
        raise FileUnknown(f"the folder has no file {path[:200]!r}")
    return FileText(path, before, text, tuple(_files(story)))


async def _story(app: App, investigation_id: UUID) -> Story:
    one = (await found(app, investigation_id)).investigation
    async with app.database.reading() as conn:
        try:
            story = await story_of(conn, app.settings.workspace, one.participant_id, investigation_id, over=True)
        except StoryLost:
            raise CourseUnread("its events are not in the table any more: they lie in the archive") from None
    if story is None:
        raise CourseUnread("its words are kept no longer" if one.gone_at else "it never began")
    return story


def _round(taken: RoundTaken) -> Round:
    answer = answer_from_json(taken.answer)
    answered = {one.call_id: one for one in taken.results}
    return Round(
        number=taken.number,
        at=taken.happened_at,
        text=answer.text,
        calls=tuple(_call(one, answered) for one in answer.calls),
        written=tuple(one.path for one in taken.edits),
        model=answer.model,
        usage=taken.usage,
    )


def _call(call: ToolCall, answered: Mapping[str, Any]) -> Call:
    said = answered.get(call.id)
    return Call(call.name, dict(call.input), said.content if said else "", bool(said and said.error))


def _files(story: Story) -> Iterator[FolderFile]:
    before, now = tree_of(story.opened.files), story.tree
    for path in sorted(before.keys() | now.keys()):
        change: Change = ""
        if path not in now:
            change = "deleted"
        elif path not in before:
            change = "new"
        elif now[path] != before[path]:
            change = "changed"
        yield FolderFile(path, len(lines_of(now.get(path, ""))), change)
