"""What every group of settings is, and the error that says which one is wrong."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

from services.core.errors import Permanent

CONFIG_FILE = "correspondent.toml"


class SettingsWrong(Permanent):
    """A setting is missing or wrong."""


class Group(BaseModel):
    """A group of settings: frozen, and a misspelt name is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid")
