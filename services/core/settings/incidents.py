"""When the same trouble from several customers is an incident."""

from __future__ import annotations

from pydantic import Field

from services.core.settings.group import Group


class IncidentSettings(Group):
    """When the same issue from several customers is an incident. An inbox may have its own numbers."""

    customers: int = Field(
        0, ge=0, le=1000, description="so many open one: 3, say; an organization counts once; 0: none is opened"
    )
    days: float = Field(2, gt=0, le=90, description="within which they report it, and for which a closed one is told")
    alike_from: float = Field(
        0.65,
        ge=0.3,
        le=1,
        description="nearness from which two issues that agree in numbers and names are one",
    )
