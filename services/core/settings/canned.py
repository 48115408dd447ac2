"""Canned answers: texts that people begin a reply of their own with."""

from __future__ import annotations

import re
from typing import Annotated

from pydantic import AfterValidator, Field, StringConstraints

from services.core.settings.group import Group

VARIABLES = ("name", "first_name", "subject", "me")
VARIABLE = re.compile(r"\{([a-z_]{1,20})(?:\|([^{}\n]{0,40}))?\}")


def _known(text: str) -> str:
    if unknown := sorted({found[1] for found in VARIABLE.finditer(text)} - set(VARIABLES)):
        raise ValueError(f"there is no variable {{{unknown[0]}}}; there are {', '.join(VARIABLES)}")
    return text


class CannedAnswer(Group):
    """A text for replies of people, with variables such as {first_name} or {first_name|there}."""

    name: Annotated[
        str, StringConstraints(strip_whitespace=True, min_length=1, max_length=80, pattern=r"^[^\x00-\x1f]*$")
    ]
    text: Annotated[str, StringConstraints(min_length=1, max_length=10_000), AfterValidator(_known)] = Field(
        description="{name}, {first_name}, {subject} and {me} are filled in; after | stands what is there without one"
    )
    inbox: str = Field("", description="of this inbox alone; empty: of all")
