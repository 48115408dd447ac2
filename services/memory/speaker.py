"""Who says a row of a conversation, as a model reads it. Pure.

Nobody is to be taken for the author of a turn: neither another person of the thread, nor who only claims to be them.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any
from uuid import UUID


def speaker(row: Mapping[str, Any], *, author_ids: Collection[UUID | None], trusted: bool, **_: Any) -> str:
    """The role of a row with `role`, `author_id`, `author` and `trusted`; a customer who is not the author by name.

    `author_ids` are the author under each of their addresses.
    """
    role: str = row["role"]
    if role != "customer":
        return role
    unproven = "" if row["trusted"] or not trusted else "not authenticated"
    if row["author_id"] not in author_ids:
        said = ["another person in this thread", *([unproven] if unproven else [])]
        return f"{row['author'] or 'somebody'} ({', '.join(said)})"
    return f"{role} ({unproven})" if unproven else role
