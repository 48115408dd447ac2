"""How mood becomes risk, and how long the last exchange with somebody is remembered as such."""

from __future__ import annotations

from pydantic import Field

from services.core.settings.group import Group


class PeopleSettings(Group):
    """Mood and risk of participants."""

    mood_memory: float = Field(0.6, ge=0, lt=1, description="share of the old mood that stays when a mail is read")
    high_risk_after: int = Field(3, ge=1, description="frustrated mails in a row from which the risk is high")
    low_mood: float = Field(-0.4, ge=-1, le=0, description="mood below which the risk is medium")
    tags: int = Field(20, ge=1, le=200, description="of one participant, the latest so many")
    issues: int = Field(8, ge=0, le=100, description="the latest so many issues of a person that a prompt shows")


class SessionSettings(Group):
    """The short-term session of a participant."""

    hours: float = Field(24, gt=0, le=24 * 30, description="after the last mail")
    names: int = Field(20, ge=1, le=200, description="names and things, the latest so many")
    actions: int = Field(10, ge=1, le=200, description="what was done, the latest so many")
