"""Whether customers are asked what they think of an answer, and in which words."""

from __future__ import annotations

from typing import Self

from pydantic import Field, model_validator

from services.core.settings.group import Group

LINK = "{link}"


class SatisfactionSettings(Group):
    """A line below each reply with a link to a page with two buttons. Off by default; needs `web.public_url`."""

    ask: bool = Field(False, description="ask; never in mail that nobody asked for, nor of senders who are not proven")
    line: str = Field(
        "How was this answer? {link}", min_length=1, max_length=400, description="the line below the reply"
    )
    question: str = Field("How was our answer?", min_length=1, max_length=200, description="above the buttons")
    good: str = Field("Good", min_length=1, max_length=40, description="the one button")
    bad: str = Field("Not good", min_length=1, max_length=40, description="the other button")
    comment: str = Field("Anything to add? (You need not.)", min_length=1, max_length=200, description="of the field")
    thanks: str = Field(
        "Thank you. You can change it for a day.", min_length=1, max_length=200, description="after a click"
    )

    @model_validator(mode="after")
    def _holds_the_link(self) -> Self:
        if LINK not in self.line:
            raise ValueError(f"satisfaction.line has to hold {LINK}: the way to the page")
        return self
