"""The cascade: what shapes a reply, each value with where it was said. The one place that decides it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

from services.core.mailbox import MailboxKey
from services.core.settings.deployment import Settings
from services.core.settings.inbox import InboxSettings
from services.core.settings.replies import ContextSettings, ParticipantSettings, PersonalShaping, Shaping

GROUPS = ("send", "model", "threads", "context")  # where the workspace says it
SHAPED = frozenset(PersonalShaping.model_fields)

Said = tuple[str, Mapping[str, Any]]  # the source, and what it says by name


@dataclass(frozen=True, slots=True)
class Chosen:
    """A value in force and its source: `turn NAME`, `participant MATCH`, `inbox NAME`, `workspace` or `default`."""

    value: Any
    source: str


def shaped(
    settings: Settings, inbox: InboxSettings | None, address: str = "", turn: Iterable[Said] = ()
) -> dict[str, Chosen]:
    """Everything that shapes a reply, by name.

    `address` is the author's, "" for one who is not authenticated; `turn` is what behaviours set, first one first.
    """
    said = [*turn, *_of_participant(settings.participants, address), *_of_inbox(inbox), *_of_workspace(settings)]
    return {name: _first(name, said) for name in PersonalShaping.model_fields}


def context_of(settings: Settings, chosen: Mapping[str, Chosen]) -> ContextSettings:
    """The budgets and counts in force."""
    names = ContextSettings.model_fields.keys() & chosen.keys()
    return settings.context.model_copy(update={name: chosen[name].value for name in names})


def says(shaping: Shaping) -> dict[str, Any]:
    """What was said of it."""
    return shaping.model_dump(exclude_none=True)


def _first(name: str, said: Iterable[Said]) -> Chosen:
    return next((Chosen(values[name], source) for source, values in said if name in values), Chosen("", "default"))


def _of_participant(entries: Iterable[ParticipantSettings], address: str) -> Iterator[Said]:
    for one in entries:
        if address and fnmatchcase(MailboxKey(address), MailboxKey(one.match)):
            yield f"participant {one.match}", says(one.reply)
            return


def _of_inbox(inbox: InboxSettings | None) -> Iterator[Said]:
    if inbox is not None:
        persona = {"persona": inbox.persona} if inbox.persona else {}
        yield f"inbox {inbox.name}", {**persona, **says(inbox.reply)}


def _of_workspace(settings: Settings) -> Iterator[Said]:
    """What differs from the default was said here."""
    groups = [getattr(settings, name) for name in GROUPS]
    fields = {name: (one, field) for one in groups for name, field in type(one).model_fields.items()}
    wanted = {name: (getattr(one, name), field.default) for name, (one, field) in fields.items() if name in SHAPED}
    yield "workspace", {name: value for name, (value, default) in wanted.items() if value != default}
    yield "default", {name: default for name, (_, default) in wanted.items()}
