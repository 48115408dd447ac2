"""The settings in force, as people may see them: each with what said it. A secret is never among them.

Invariant: of a setting that is a secret, or in which a password may stand, nothing but whether it is set leaves this
module. Of an address only scheme and host are shown, since addresses carry keys.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any
from urllib.parse import urlsplit

from pydantic import BaseModel

from services.core.secret_values import is_secret
from services.core.settings import InboxSettings, Settings, shaped
from services.core.settings.group import PREFIX
from services.core.stored_settings import InForce

LONGEST = 1000  # characters of a value
NOBODY: Mapping[str, str] = MappingProxyType({})
IS_SET, IS_NOT_SET = "is set, and not shown", "is not set"


@dataclass(frozen=True, slots=True)
class SettingLine:
    """A setting: its name in `correspondent.toml`, its value as text, and its `source`.

    `source` is `default`, `environment CORRESPONDENT_...`, `set` (by the file, or by what started the process), or
    `changed by NAME` for a change that is stored.
    """

    name: str
    value: str
    source: str
    about: str = ""


@dataclass(frozen=True, slots=True)
class _Sources:
    """What says where a value comes from: the names in the environment, and who stored which setting."""

    environment: frozenset[str]
    changed: Mapping[str, str]

    def of(self, name: str, is_default: bool) -> str:
        """The source of a setting."""
        if name in self.changed:
            return f"changed by {self.changed[name]}"
        variable = PREFIX + name.replace(".", "__").upper()
        if variable in self.environment or f"{variable}_FILE" in self.environment:
            return f"environment {variable}"
        return "default" if is_default else "set"


@dataclass(frozen=True, slots=True)
class InboxLines:
    """An inbox: how mail comes and goes, and what shapes its replies, each with who said it."""

    name: str
    address: str
    receives: str
    sends: str
    paused: bool
    shaped: tuple[SettingLine, ...]


def settings_shown(
    settings: Settings, environment: Mapping[str, str] = os.environ, changed: Mapping[str, str] = NOBODY
) -> list[SettingLine]:
    """Every setting, in the order of `correspondent.example.toml`. `changed` says by name who stored its value."""
    names = frozenset(one.upper() for one in environment)
    return list(_lines(settings, "", _Sources(names, changed)))


def changed_by(in_force: InForce) -> dict[str, str]:
    """Who stored the values that count, by the name of the setting."""
    return {name: one.by for name, one in in_force.stored.values.items() if name not in in_force.ignored}


def inboxes_shown(settings: Settings) -> list[InboxLines]:
    """Every inbox with what is effective for it."""
    return [_inbox(settings, one) for one in settings.inboxes]


def _inbox(settings: Settings, inbox: InboxSettings) -> InboxLines:
    chosen = sorted(shaped(settings, inbox).items())
    smtp = settings.smtp_of(inbox.name)
    return InboxLines(
        name=inbox.name,
        address=inbox.address,
        receives=f"IMAP, {inbox.imap.host}" if inbox.imap else "webhooks and files",
        sends=f"SMTP, {smtp.host}",
        paused=inbox.paused,
        shaped=tuple(SettingLine(name, _text(one.value), one.source) for name, one in chosen),
    )


def _lines(group: BaseModel, path: str, sources: _Sources) -> Iterator[SettingLine]:
    for key, field in type(group).model_fields.items():
        name, value = f"{path}{key}", getattr(group, key)
        inner = [(f"{name}.", value)] if isinstance(value, BaseModel) else _entries(name, value)
        if inner:
            for place, one in inner:
                yield from _lines(one, place, sources)
            continue
        is_default = not field.is_required() and value == field.get_default(call_default_factory=True)
        said = (IS_SET if _is_given(value) else IS_NOT_SET) if is_secret(field) else _text(value)
        yield SettingLine(name, said, sources.of(name, is_default), field.description or "")


def _entries(name: str, value: Any) -> list[tuple[str, BaseModel]]:
    """The groups of a list, each under its name or its place."""
    if not isinstance(value, tuple):
        return []
    groups = [one for one in value if isinstance(one, BaseModel)]
    return [(f"{name}[{getattr(one, 'name', place)}].", one) for place, one in enumerate(groups)]


def _is_given(value: Any) -> bool:
    if isinstance(value, tuple):
        return any(_is_given(one) for one in value)
    return bool(value.get_secret_value() if hasattr(value, "get_secret_value") else value)


def _text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, tuple | list | frozenset):
        return ", ".join(_text(one) for one in value)[:LONGEST]
    return _without_keys(str(value))[:LONGEST]


def _without_keys(text: str) -> str:
    """An address as scheme and host."""
    if "://" not in text or any(one.isspace() for one in text):
        return text
    try:
        parts = urlsplit(text)
        shown = f"{parts.scheme}://{parts.hostname or ''}{f':{parts.port}' if parts.port else ''}"
    except ValueError:
        return "an address that cannot be read"
    return shown if text.rstrip("/") == shown else f"{shown}/…"
