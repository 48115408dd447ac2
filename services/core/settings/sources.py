"""Reads the settings, and says each fault with its name, the reason and how to fix it."""

from __future__ import annotations

from typing import Any

from pydantic import ValidationError

from services.core.error_words import named
from services.core.secret_values import ERROR as SECRET_ERROR
from services.core.settings.deployment import Settings
from services.core.settings.group import CONFIG_FILE, PREFIX, SettingsWrong


def read_settings(**overrides: Any) -> Settings:
    """The settings in force. Raises `SettingsWrong`, one line a fault, each saying how to fix it."""
    try:
        return Settings(**overrides)
    except ValidationError as error:
        raise SettingsWrong("\n".join(_fault(one) for one in error.errors())) from None
    except ValueError as error:
        raise SettingsWrong(f"{CONFIG_FILE} or the environment cannot be read: {error}") from None


def _fault(error: Any) -> str:
    name, said = named(error)
    if error["type"] == SECRET_ERROR:
        return f"{name}.{said}" if name else said
    if not name or said.startswith(f"{name}."):  # a group's own check names its setting, and what to do
        return said
    variable = PREFIX + "__".join(str(part) for part in error["loc"]).upper()
    if error["type"] == "extra_forbidden":
        return f"{name}: there is no such setting; look for a misspelling in {CONFIG_FILE} or the environment"
    return f"{name}: {said}; set {variable} or `{name}` in {CONFIG_FILE}"
