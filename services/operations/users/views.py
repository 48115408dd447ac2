"""Views of the inbox that users keep under a name: who has to act next, in which inbox, with which priority and tag.

They are their user's alone, hold no words of a search, and go with their user.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from services.core.app import App
from services.core.db import queries, rows_as
from services.core.errors import Permanent
from services.operations.threads.inbox import Only, View
from services.operations.users import User

SQL = queries(__file__, "views.sql")
MOST = 20  # of one user
LONGEST_NAME = 40  # characters


class ViewRefused(Permanent):
    """A view cannot be saved so."""


@dataclass(frozen=True, slots=True)
class SavedView:
    """A view and what it is narrowed to, by its name."""

    name: str
    view: View
    inbox: str = ""
    priority: str = ""
    tag: str = ""


async def views_of(app: App, user: User) -> list[SavedView]:
    """The views of a user, by name."""
    async with app.database.reading() as conn:
        return await rows_as(conn, SavedView, SQL.views, _args(app, user))


async def save_view(app: App, user: User, name: str, view: View, only: Only) -> None:
    """Keep a view; one of the same name is replaced. Raises `ViewRefused`."""
    name = " ".join(name.split())
    if view == "team":
        raise ViewRefused("the queue of a team is a view already")
    if not 1 <= len(name) <= LONGEST_NAME or not name.isprintable():
        raise ViewRefused(f"a name is one line of 1 to {LONGEST_NAME} characters")
    others = [one for one in await views_of(app, user) if one.name != name]
    if len(others) >= MOST:
        raise ViewRefused(f"you have {MOST} views: forget one first")
    async with app.database.reading() as conn:
        await conn.execute(SQL.save_view, _args(app, user) | asdict(only) | {"name": name, "view": view})


async def forget_view(app: App, user: User, name: str) -> None:
    """Keep a view no longer."""
    async with app.database.reading() as conn:
        await conn.execute(SQL.forget_view, _args(app, user) | {"name": name})


def _args(app: App, user: User) -> dict[str, Any]:
    return {"workspace": app.settings.workspace, "user_id": user.user_id}
