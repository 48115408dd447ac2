"""Who may sign in to the console, over HTTP: reading alone. Inviting and removing are a person's, or a command's."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from fastapi import APIRouter

from services.core.app import App
from services.operations.users import Role, list_users


@dataclass(frozen=True, slots=True)
class UserLine:
    """Somebody who may sign in. `joined_at` null: invited, and not here yet."""

    user_id: UUID
    name: str
    email: str
    role: Role
    joined_at: datetime | None
    invited_by: str
    invited_at: datetime
    has_second_factor: bool


def add_users(router: APIRouter, app: App) -> None:
    """The list."""

    @router.get("/users")
    async def listed() -> list[UserLine]:
        """Everybody who may sign in, by name; a thread is assigned to a name, of them or of a team."""
        fields = UserLine.__slots__
        return [UserLine(**{name: getattr(one, name) for name in fields}) for one in await list_users(app)]
