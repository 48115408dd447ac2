"""What every group of settings is, and the error that says which one is wrong."""

from __future__ import annotations

from pydantic import ConfigDict

from services.core.errors import Permanent
from services.core.secret_values import HoldsSecrets

CONFIG_FILE = "correspondent.toml"
PREFIX = "CORRESPONDENT_"  # of the environment variables that set something


class SettingsWrong(Permanent):
    """A setting is missing or wrong."""


class Group(HoldsSecrets):
    """A group of settings: frozen, and a misspelt name is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)
