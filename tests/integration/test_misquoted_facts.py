"""A model that quotes wrongly is asked once more; where it goes on, the value that stands is to be confirmed."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from deploy.local import Endpoints
from services.model.offline import OfflineModel
from services.model.port import Answer, Request, ToolCall
from tests.support.offline import EMBEDDER
from tests.support.tending import Tended, tending

OLD, NEW = "We are on the Team plan.", "We have moved to the Enterprise plan."


class Careless(OfflineModel):
    """A model that says what plan a mail is about, and quotes it as it was told, one quote an answer."""

    def __init__(self) -> None:
        super().__init__(EMBEDDER)
        self.quotes: list[str] = []
        self.told: list[str] = []

    async def ask(self, request: Request) -> Answer:
        if request.purpose != "reflect":  # it notes nothing while it replies
            return Answer(
                "", (ToolCall("c1", "reply", {"text": "Thanks.", "state": "awaiting_reply"}),), "tool_use", ""
            )
        self.told += [result.content for one in request.history[-1:] for result in one.results]
        quote = self.quotes.pop(0)
        value = "Enterprise" if "Enterprise" in quote else "Team"
        fact = {"op": "ADD", "kind": "customer_info", "key": "plan", "value": value, "importance": 6}
        given: dict[str, Any] = {"summary": "They wrote.", "facts": [{**fact, "text": f"{value}.", "quote": quote}]}
        return Answer("", (ToolCall("c1", "reflect", given),), "tool_use", self.name)


@pytest.fixture
def model() -> Careless:
    return Careless()


@pytest.fixture
async def app(
    stack: Endpoints, database: str, topic_prefix: str, tmp_path: Path, model: Careless
) -> AsyncIterator[Tended]:
    async with tending(stack, database, topic_prefix, tmp_path, model_object=model) as one:
        model.quotes = ["We are on the Team plan"]
        await one.write(OLD)
        await one.wait(hours=1)
        yield one


async def current(app: Tended) -> list[tuple[str, bool]]:
    """The plans that are believed, each with whether it is to be confirmed."""
    rows = await app.rows(
        "SELECT value, stale_since IS NOT NULL AS stale FROM facts WHERE key = 'plan' AND superseded_at IS NULL ORDER BY value"
    )
    return [(row["value"], row["stale"]) for row in rows]


async def test_one_wrong_quote_lost_what_the_mail_says(app: Tended, model: Careless) -> None:
    """Told which quote stands nowhere, the model copies the words, and the new value takes the place of the old."""
    model.quotes = ["They moved to Enterprise now", "We have moved to the Enterprise plan"]
    await app.write(NEW, subject="News")
    assert await current(app) == [("Enterprise", False)]
    assert model.told == [
        "facts.0: the quote stands in nothing that was said: copy the words exactly, or leave the fact out"
    ]


async def test_a_quote_that_still_fails_makes_the_standing_value_doubtful(app: Tended, model: Careless) -> None:
    """Asked once and no more: nothing false is stored, and the value that stands is not silently current."""
    model.quotes = ["They moved to Enterprise now", "Enterprise, they said"]
    await app.write(NEW, subject="News")
    assert (await current(app), model.quotes) == ([("Team", True)], [])


async def test_a_wrong_quote_of_a_mail_that_says_nothing_of_it_changes_nothing(app: Tended, model: Careless) -> None:
    """What the model makes up entirely, twice, is refused and doubts nothing."""
    model.quotes = ["They moved to Enterprise now", "Enterprise, they said"]
    await app.write("Where is the export?", subject="News")
    assert await current(app) == [("Team", False)]
