"""Ids as people type them: the whole of one, or its beginning, if that names one thing alone."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Literal
from uuid import UUID

from services.core.app import App
from services.core.db import Connection, fetch_all, queries
from services.core.errors import Permanent

SQL = queries(__file__, "ids.sql")

FIRST, LAST = str(UUID(int=0)), str(UUID(int=2**128 - 1))

Kind = Literal["thread", "reply", "document", "article", "incident", "endpoint", "webhook", "investigation", "proposal"]

_SHOWN_BY: Mapping[Kind, str] = {
    "thread": "correspondent mails",
    "reply": "correspondent deliveries",
    "document": "correspondent knowledge list",
    "article": "correspondent knowledge proposed",
    "incident": "correspondent incidents list",
    "endpoint": "correspondent webhooks list",
    "webhook": "correspondent webhooks deliveries",
    "investigation": "correspondent investigate list",
    "proposal": "correspondent investigate show",
}
_QUERIES = {
    "thread": SQL.threads,
    "reply": SQL.replies,
    "document": SQL.documents,
    "article": SQL.articles,
    "incident": SQL.incidents,
    "endpoint": SQL.endpoints,
    "webhook": SQL.webhooks,
    "investigation": SQL.investigations,
    "proposal": SQL.proposals,
}


class IdUnclear(Permanent):
    """No id begins so, or several do."""


async def whole_id(app: App, typed: str, kind: Kind) -> UUID:
    """The id of such a thing of this workspace that begins with `typed`. Raises `IdUnclear`."""
    async with app.database.reading() as conn:
        return await id_beginning(conn, app.settings.workspace, typed, kind)


async def id_beginning(conn: Connection, workspace: str, typed: str, kind: Kind) -> UUID:
    """The same, where there is a database and no running deployment. Raises `IdUnclear`."""
    beginning = typed.strip().lower()
    if not re.fullmatch(r"[0-9a-f-]{1,36}", beginning):
        raise IdUnclear(f"{typed!r} is no {kind} id, nor the beginning of one; `{_SHOWN_BY[kind]}` shows them")
    least, most = id_range(beginning)
    args = {"workspace": workspace, "beginning": beginning, "least": least, "most": most}
    found = await fetch_all(conn, _QUERIES[kind], args)
    if len(found) == 1:
        return UUID(str(found[0]["id"]))
    if found:
        raise IdUnclear(f"several {kind} ids begin with {beginning}; type more of it")
    raise IdUnclear(f"there is no {kind} {beginning}; `{_SHOWN_BY[kind]}` shows them")


def id_range(beginning: str) -> tuple[UUID, UUID]:
    """The least and the largest id that may begin so, so that an index finds it; where none may, an empty range."""
    try:
        return UUID(beginning + FIRST[len(beginning) :]), UUID(beginning + LAST[len(beginning) :])
    except ValueError:
        return UUID(LAST), UUID(FIRST)
