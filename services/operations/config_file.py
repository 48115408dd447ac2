"""The operator's `correspondent.toml`, changed without losing a comment or the order of what stands there."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import tomlkit
from tomlkit import TOMLDocument
from tomlkit.exceptions import TOMLKitError
from tomlkit.items import AoT

from services.core.errors import Permanent
from services.core.settings import CONFIG_FILE

PRIVATE = 0o600  # it may hold passwords


class ConfigUnusable(Permanent):
    """The settings file cannot be changed as asked."""


def config_path() -> Path:
    """The file that settings are read from."""
    return Path(os.environ.get("CORRESPONDENT_CONFIG", CONFIG_FILE))


def write_settings(path: Path, settings: dict[str, Any]) -> None:
    """A settings file of nothing but these, in place of what was there."""
    _write(path, tomlkit.dumps(settings))


def set_value(path: Path, key: str, value: Any) -> None:
    """Set one key at the top of the file. Raises `ConfigUnusable` where the file cannot be read."""
    document = _read(path)
    document[key] = value
    _write(path, tomlkit.dumps(document))


def add_inbox(path: Path, entry: dict[str, Any]) -> None:
    """Append an `[[inboxes]]` entry. Raises `ConfigUnusable` where the name is taken."""
    with _changed(path) as inboxes:
        if any(one.get("name") == entry["name"] for one in inboxes):
            raise ConfigUnusable(f"{path} has an inbox named {entry['name']!r}; remove it first, or take another name")
        inboxes.append(tomlkit.item(entry))


def set_inbox(path: Path, name: str, key: str, value: Any) -> None:
    """Set one key of an inbox's entry. Raises `ConfigUnusable` where there is no such entry."""
    with _changed(path) as inboxes:
        inboxes[_index(path, inboxes, name)][key] = value


def remove_inbox(path: Path, name: str) -> None:
    """Take an inbox's entry out. Raises `ConfigUnusable` where there is no such entry."""
    with _changed(path) as inboxes:
        del inboxes[_index(path, inboxes, name)]


@contextmanager
def _changed(path: Path) -> Iterator[AoT]:
    """The entries of `inboxes`; written back whole when the block ends well."""
    document = _read(path)
    if "inboxes" not in document:
        document["inboxes"] = tomlkit.aot()
    inboxes = document["inboxes"]
    if not isinstance(inboxes, AoT):
        raise ConfigUnusable(f"{path} has inboxes as one array: write them as [[inboxes]] entries, then try again")
    yield inboxes
    if not len(inboxes):
        del document["inboxes"]
    _write(path, tomlkit.dumps(document))


def _read(path: Path) -> TOMLDocument:
    try:
        return tomlkit.parse(path.read_text(encoding="utf-8") if path.exists() else "")
    except (TOMLKitError, OSError, UnicodeDecodeError) as error:
        raise ConfigUnusable(f"{path} cannot be read: {error}") from error


def _index(path: Path, inboxes: AoT, name: str) -> int:
    names = [str(one.get("name")) for one in inboxes]
    if name not in names:
        raise ConfigUnusable(f"{path} has no inbox named {name!r} (there are: {', '.join(names) or 'none'})")
    return names.index(name)


def _write(path: Path, text: str) -> None:
    """Replace the file in one step: a crash leaves the old one whole."""
    aside = path.with_name(f"{path.name}.new")
    aside.touch(mode=PRIVATE)
    aside.chmod(PRIVATE)  # also where it stood open before: what is written may be a password
    aside.write_text(text, encoding="utf-8")
    aside.replace(path)
