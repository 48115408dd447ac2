"""The settings that may be changed while the deployment runs: a closed list, and stored values laid over the file's.

A name is written with the groups that it is in: `limits.thread_per_hour`, and `inboxes[support].persona` for one inbox.
What is not on the list can only be said in the file or the environment: secrets, servers and their addresses, who
belongs to us, what memory learns.

Invariant: a stored value counts only where the settings' own classes take it, next to all others. One that they do not
take (after an upgrade, or where its inbox is gone) is left out with its reason, and never stops a process.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo

from services.core.error_words import plain_words
from services.core.settings.deployment import Settings
from services.core.settings.group import Group, SettingsWrong
from services.core.settings.inbox import InboxSettings
from services.core.settings.oversight import ServiceLevels

Kind = Literal["line", "text", "number", "whole", "choice", "yes_no", "hours", "days"]
Path = tuple[str, ...]

LEVELS = tuple(ServiceLevels.model_fields)
PROMISED = tuple(
    f"{level}.{name}"
    for level in LEVELS
    for name in ("first_response_hours", "next_response_hours", "resolution_hours")
)
HOURS = ("time_zone", "hours", "holidays")

OF_WORKSPACE: Mapping[str, tuple[str, ...]] = {
    "context": ("persona",),
    "send": ("approval", "disclose_ai", "disclosure"),
    "approval": ("earn", "bound", "over", "senders", "score", "hold_floors"),
    "threads": ("quiet_s", "auto_resolve_days", "auto_close_days", "reopen_days", "max_auto_replies", "suggest"),
    "limits": (
        *("sender_per_hour", "thread_per_hour", "company_per_hour", "all_per_hour", "same_words"),
        *("unproven_per_hour", "unproven_sender_per_hour", "unproven_replies_per_day"),
    ),
    "service_levels": PROMISED,
    "office_hours": HOURS,
    "retention": ("bodies_days", "blobs_days", "facts_days", "checkpoints_days"),
}
OF_INBOX: Mapping[str, tuple[str, ...]] = {
    "": ("display_name", "persona", "replies_per_hour", "unproven", "unproven_subject", "unproven_reply"),
    "reply": ("approval", "disclose_ai"),
    "layout": (
        *("signature", "signature_html", "footer", "footer_html", "quote", "quote_intro", "reply_all", "most_copies"),
    ),
    "service_levels": PROMISED,
    "office_hours": HOURS,
}
OWN = ("service_levels", "office_hours")  # of an inbox; where it has none, they begin as the workspace's
LONG = 400  # characters from which a text has several lines
_INBOX = re.compile(r"inboxes\[([^\[\]]{1,200})\]\.([a-z_.]{1,100})")


@dataclass(frozen=True, slots=True)
class Changeable:
    """A setting that may be changed: what a form and a person need to know of it.

    `section` is the group that it is shown in. With `optional` it may be said to be as the workspace has it (None).
    """

    name: str
    section: str
    kind: Kind
    choices: tuple[str, ...]
    optional: bool
    longest: int
    about: str


@dataclass(frozen=True, slots=True)
class Laid:
    """The settings in force, and the stored values that do not count, each with the reason."""

    settings: Settings
    ignored: Mapping[str, str]


def changeable(settings: Settings) -> dict[str, Changeable]:
    """Every setting that may be changed in this deployment, by name, in the order in which they are shown."""
    found: dict[str, Changeable] = {}
    for inbox in settings.inboxes:
        for group, names in OF_INBOX.items():
            section = f"inboxes[{inbox.name}]{f'.{group}' if group else ''}"
            for one in _of(InboxSettings, section, group, names):
                found[one.name] = one
    for group, names in OF_WORKSPACE.items():
        for one in _of(Settings, group, group, names):
            found[one.name] = one
    return found


def value_of(settings: Settings, name: str) -> Any:
    """The value of a setting as it is stored: JSON. Raises `SettingsWrong` where there is no such setting to change."""
    inbox, path = _place(settings, name)
    found: Any = inbox or settings
    for at, key in enumerate(path):
        value = getattr(found, key)
        if value is None and at < len(path) - 1:
            value = getattr(settings, key)
        if at == len(path) - 1:
            return found.model_dump(mode="json", include={key})[key]
        found = value
    raise AssertionError(name)


def laid_over(settings: Settings, stored: Mapping[str, Any]) -> Laid:
    """The settings with those of the stored values that fit; what they are laid over stays as it is."""
    ignored: dict[str, str] = {}
    of_workspace: dict[Path, tuple[str, Any]] = {}
    of_inboxes: dict[str, dict[Path, tuple[str, Any]]] = {}
    for name, value in stored.items():
        try:
            inbox, path = _place(settings, name)
        except SettingsWrong as error:
            ignored[name] = str(error)
            continue
        where = of_inboxes.setdefault(inbox.name, {}) if inbox else of_workspace
        where[path] = (name, value)
    update: dict[str, Any] = {}
    for group in dict.fromkeys(path[0] for path in of_workspace):
        own = {path[1:]: one for path, one in of_workspace.items() if path[0] == group}
        update[group] = _fitting(getattr(settings, group), own, {}, ignored)
    changed = settings.model_copy(update=update) if update else settings
    if of_inboxes:
        seeds = {name: getattr(changed, name) for name in OWN}
        inboxes = tuple(
            _fitting(one, of_inboxes[one.name], seeds, ignored) if one.name in of_inboxes else one
            for one in changed.inboxes
        )
        changed = changed.model_copy(update={"inboxes": inboxes})
    return Laid(changed, ignored)


def _place(settings: Settings, name: str) -> tuple[InboxSettings | None, Path]:
    """Of which inbox a setting is, None for the workspace, and its path there. Raises `SettingsWrong`."""
    of_inbox = _INBOX.fullmatch(name)
    group, _, rest = (of_inbox[2] if of_inbox else name).partition(".")
    listed = OF_INBOX if of_inbox else OF_WORKSPACE
    if of_inbox and not rest:
        group, rest = "", group
    if rest not in listed.get(group, ()):
        raise SettingsWrong("there is no such setting that can be changed while the deployment runs")
    path = tuple(one for one in (group, *rest.split(".")) if one)
    if not of_inbox:
        return None, path
    inbox = settings.known_inbox(of_inbox[1])
    if inbox is None:
        raise SettingsWrong(f"there is no inbox named {of_inbox[1]!r}")
    return inbox, path


def _fitting(
    group: Any, values: Mapping[Path, tuple[str, Any]], seeds: Mapping[str, Any], ignored: dict[str, str]
) -> Any:
    """The group with all values; where they do not fit together, with those that do, in the order of their paths."""
    try:
        return _with(group, {path: value for path, (_, value) in values.items()}, seeds)
    except ValidationError:
        pass
    taken: dict[Path, Any] = {}
    found = group
    for path, (name, value) in sorted(values.items()):
        try:
            found = _with(group, {**taken, path: value}, seeds)
        except ValidationError as error:
            ignored[name] = plain_words(str(error.errors()[0]["msg"]))
        else:
            taken[path] = value
    return found


def _with(group: BaseModel, values: Mapping[Path, Any], seeds: Mapping[str, Any]) -> BaseModel:
    """The group with these values, checked by its class. What nobody set stays unset. Raises pydantic's error."""
    said: dict[str, Any] = {name: getattr(group, name) for name in group.model_fields_set}
    for head in dict.fromkeys(path[0] for path in values):
        inner = {path[1:]: value for path, value in values.items() if path[0] == head}
        if () in inner:
            said[head] = inner[()]
        else:
            own = getattr(group, head)
            said[head] = _with(seeds[head] if own is None else own, inner, {})
    return type(group).model_validate(said)


def _of(model: type[BaseModel], section: str, group: str, names: Iterable[str]) -> Iterator[Changeable]:
    for name in names:
        path = [one for one in (*group.split("."), *name.split(".")) if one]
        yield _described(f"{section}.{name}", section, _field(model, path))


def _field(model: type[BaseModel], path: list[str]) -> FieldInfo:
    field = model.model_fields[path[0]]
    return field if len(path) == 1 else _field(_group_in(field.annotation), path[1:])


def _group_in(annotation: Any) -> type[BaseModel]:
    kinds = (annotation, *get_args(annotation))
    return next(one for one in kinds if isinstance(one, type) and issubclass(one, Group))


def _described(name: str, section: str, field: FieldInfo) -> Changeable:
    kinds = [one for one in (field.annotation, *get_args(field.annotation)) if one is not None]
    choices = [str(one) for kind in kinds if get_origin(kind) is Literal for one in get_args(kind)]
    longest = next((one.max_length for one in field.metadata if hasattr(one, "max_length")), 200)
    optional = type(None) in kinds
    return Changeable(
        name, section, _kind(name, kinds, choices, longest), tuple(choices), optional, longest, field.description or ""
    )


def _kind(name: str, kinds: list[Any], choices: list[str], longest: int) -> Kind:
    ending = name.rpartition(".")[2]
    if ending == "hours":
        return "hours"
    if ending == "holidays":
        return "days"
    if choices:
        return "choice"
    if bool in kinds:
        return "yes_no"
    if int in kinds:
        return "whole"
    if str in kinds:
        return "text" if longest > LONG else "line"
    return "number"
