"""Investigations: whether there are any, and how much of everything one may have."""

from __future__ import annotations

from pydantic import Field

from services.core.settings.group import Group


class InvestigateSettings(Group):
    """A hard case on files, asked for by a person. Off by default: each round is a call of the model."""

    enabled: bool = Field(False, description="whether an investigation may be asked for")
    rounds: int = Field(16, ge=1, le=60, description="calls of the model in one investigation")
    tokens: int = Field(200_000, ge=1_000, le=10_000_000, description="of all its calls together, in and out")
    at_once: int = Field(2, ge=1, le=5, description="investigations of one person that may be open")
    answer_tokens: int = Field(4096, ge=512, le=16_384, description="of one call")
    messages: int = Field(400, ge=10, le=2_000, description="of the person's threads, the newest")
    passages: int = Field(8, ge=0, le=40, description="of your documents, those that bear on the question")
    folder_bytes: int = Field(
        300_000, ge=20_000, le=400_000, description="of all files, as JSON; older threads give way"
    )
    file_bytes: int = Field(40_000, ge=1_000, le=60_000, description="of a file that the model writes, as JSON")
