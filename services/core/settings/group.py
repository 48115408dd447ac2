"""What every group of settings is, the error that says which one is wrong, and what the environment says besides."""

from __future__ import annotations

import os
from typing import Any
from urllib.parse import urlsplit

from pydantic import ConfigDict, ValidationInfo, field_validator
from pydantic.fields import FieldInfo
from pydantic_core import PydanticKnownError
from pydantic_settings import PydanticBaseSettingsSource

from services.core.errors import Permanent
from services.core.secret_values import HoldsSecrets, file_of

CONFIG_FILE = "correspondent.toml"
PREFIX = "CORRESPONDENT_"  # of the environment variables that set something


class SettingsWrong(Permanent):
    """A setting is missing or wrong."""


LONGEST_DAYS = 36_500
_SECONDS = {"_s": 1, "_minutes": 60, "_hours": 3600, "_days": 86_400}  # by the end of a setting's name
MOST = 2**31 - 1  # what a column of numbers holds


class Group(HoldsSecrets):
    """A group of settings: frozen, and a misspelt name is an error.

    Numbers are finite, and no time is so long that a moment after it cannot be said: handlers would fail on each mail.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True, allow_inf_nan=False)

    @field_validator("*")
    @classmethod
    def _within_bounds(cls, value: Any, info: ValidationInfo) -> Any:
        if isinstance(value, int | float) and not isinstance(value, bool):
            unit = next((seconds for end, seconds in _SECONDS.items() if (info.field_name or "").endswith(end)), 0)
            most = LONGEST_DAYS * 86_400 // unit if unit else MOST
            if abs(value) > most:
                raise PydanticKnownError("less_than_equal", {"le": most})
        return value


# Addresses that links in mails begin with.


def is_https_origin(address: str) -> bool:
    """Whether it is an https address without a path, which everybody's mail program may open."""
    try:
        parts = urlsplit(address)
    except ValueError:
        return False
    return parts.scheme == "https" and bool(parts.hostname) and "@" not in parts.netloc and parts.path in ("", "/")


# What the environment says under names that pydantic's own source does not read.
PROVIDER_KEY = "ANTHROPIC_API_KEY"  # the name that its provider gives it, which many machines have set already


class ProviderKey(PydanticBaseSettingsSource):
    """`ANTHROPIC_API_KEY` as `model.api_key`."""

    def get_field_value(self, field: FieldInfo, field_name: str) -> tuple[Any, str, bool]:
        """The value of one top-level setting: the model's group has one, no other has any."""
        key = os.environ.get(PROVIDER_KEY, "")
        return ({"api_key": key} if key and field_name == "model" else None), field_name, True

    def __call__(self) -> dict[str, Any]:
        """What this source says."""
        group, name, _ = self.get_field_value(self.settings_cls.model_fields["model"], "model")
        return {name: group} if group else {}


class SecretFiles(PydanticBaseSettingsSource):
    """`CORRESPONDENT_X_FILE` of each secret `x` at the top level; those of groups have theirs anyway."""

    def get_field_value(self, field: FieldInfo, field_name: str) -> tuple[Any, str, bool]:
        """The file of one secret, None where the environment names none."""
        file = file_of(self.settings_cls, field_name)
        return os.environ.get(f"{PREFIX}{file.upper()}") if file else None, file, False

    def __call__(self) -> dict[str, Any]:
        """What this source says."""
        found = (self.get_field_value(field, name) for name, field in self.settings_cls.model_fields.items())
        return {file: path for path, file, _ in found if path}
