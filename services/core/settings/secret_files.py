"""Files of secrets at the top level, named by the environment: `CORRESPONDENT_SECRET_FILE`. Groups have them anyway."""

from __future__ import annotations

import os
from typing import Any

from pydantic.fields import FieldInfo
from pydantic_settings import PydanticBaseSettingsSource

from services.core.secret_values import file_of
from services.core.settings.group import PREFIX


class SecretFiles(PydanticBaseSettingsSource):
    """The `x_file` of each secret `x` that is in no group."""

    def get_field_value(self, field: FieldInfo, field_name: str) -> tuple[Any, str, bool]:
        """The file of one secret, None where the environment names none."""
        file = file_of(self.settings_cls, field_name)
        return os.environ.get(f"{PREFIX}{file.upper()}") if file else None, file, False

    def __call__(self) -> dict[str, Any]:
        """What this source says."""
        found = (self.get_field_value(field, name) for name, field in self.settings_cls.model_fields.items())
        return {file: path for path, file, _ in found if path}
