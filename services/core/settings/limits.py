"""How much mail is answered."""

from __future__ import annotations

from pydantic import Field

from services.core.settings.group import Group


class LimitSettings(Group):
    """How much mail is answered within an hour; what is over a limit is set aside, with the limit as the reason."""

    sender_per_hour: int = Field(20, ge=1, description="mails of one sender; further ones are parked")
    thread_per_hour: int = Field(10, ge=1, description="mails of one thread; further ones go to a human")
    all_per_hour: int = Field(2000, ge=1, description="mails in all: the global breaker; further ones are parked")
    same_words: int = Field(3, ge=1, description="mails of one sender with the same words; the next one is a loop")
