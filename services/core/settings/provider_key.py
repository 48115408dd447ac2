"""The model's key under the name that its provider gives it, which many machines have set already."""

from __future__ import annotations

import os
from typing import Any

from pydantic.fields import FieldInfo
from pydantic_settings import PydanticBaseSettingsSource

VARIABLE = "ANTHROPIC_API_KEY"


class ProviderKey(PydanticBaseSettingsSource):
    """`ANTHROPIC_API_KEY` as `model.api_key`."""

    def get_field_value(self, field: FieldInfo, field_name: str) -> tuple[Any, str, bool]:
        """The value of one top-level setting: the model's group has one, no other has any."""
        key = os.environ.get(VARIABLE, "")
        return ({"api_key": key} if key and field_name == "model" else None), field_name, True

    def __call__(self) -> dict[str, Any]:
        """What this source says."""
        group, name, _ = self.get_field_value(self.settings_cls.model_fields["model"], "model")
        return {name: group} if group else {}
