"""How a turn is learned from: how much the model may say, and when it is asked again."""

from __future__ import annotations

from pydantic import Field, PositiveFloat

from services.core.settings.group import Group


class LearningSettings(Group):
    """The one question to the model after each closed turn."""

    answer_tokens: int = Field(4096, ge=256, description="of a reflection; a second attempt has twice the room")
    retry_hours: tuple[PositiveFloat, ...] = Field(
        (1, 6, 24), description="hours after a turn at which it is asked about again, where nothing usable came"
    )
