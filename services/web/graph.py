"""Who and what hang together around a participant, over HTTP; to be read alone."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import AwareDatetime

from services.core.app import App
from services.operations.memory.graph import Graph, graph_of
from services.web.named import Who, person


def add_graph(router: APIRouter, app: App) -> None:
    """Reading the graph."""

    @router.get("/participants/{who}/graph")
    async def graph(
        who: Who, about: Annotated[str, Query(max_length=200)] = "", at: AwareDatetime | None = None
    ) -> Graph:
        """The edges that a person's facts are, and those of others that lead to the same things.

        With `at` their own edges alone, as they were known then.
        """
        one = await person(app, who)
        async with app.database.reading() as conn:
            return await graph_of(conn, app.settings.workspace, one, now=app.now(), about=about, at=at)
