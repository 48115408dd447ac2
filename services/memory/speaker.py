"""Who says a message of a conversation, as a model reads it. Pure.

Nobody is to be taken for the author of a turn: neither another person of the thread, nor who only claims to be them.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any
from uuid import UUID


@dataclass(frozen=True, slots=True)
class Spoken:
    """Who said a message: `role` is customer, agent or human; `author` is a name or an address, `trusted` if proven."""

    role: str
    author_id: UUID | None
    author: str
    trusted: bool


def speaker(said: Spoken, *, author_ids: Collection[UUID | None], trusted: bool, **_: Any) -> str:
    """The role of who said it; a customer who is not the author by name.

    `author_ids` are the author under each of their addresses.
    """
    if said.role != "customer":
        return said.role
    unproven = "" if said.trusted or not trusted else "not authenticated"
    if said.author_id not in author_ids:
        what = ["another person in this thread", *([unproven] if unproven else [])]
        return f"{said.author or 'somebody'} ({', '.join(what)})"
    return f"{said.role} ({unproven})" if unproven else said.role
