"""docs/how-to/keep-in-mind.md shows what the commands print of a thread's working memory and of a person's session."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from uuid import UUID

import pytest

from deploy.local import Endpoints
from services.cli.threads.view import whole as thread_shown
from services.cli.why.view import whole as context_shown
from services.model.port import Answer, Request
from services.operations.threads.explanations import explain_thread
from tests.integration.test_thread_entities import Keeping
from tests.support.tending import Tended, tending

pytestmark = pytest.mark.timeout(300)
PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "keep-in-mind.md"


LEARNED = {"summary": "They look for order 4471 and have emptied the cache.", "brief": ""}


class Learning(Keeping):
    """The same, which says after a turn what it was about."""

    async def ask(self, request: Request) -> Answer:
        return self._calling(("reflect", LEARNED)) if request.purpose == "reflect" else await super().ask(request)


@pytest.fixture
def model() -> Keeping:
    return Learning()


@pytest.fixture
async def app(
    stack: Endpoints, database: str, topic_prefix: str, tmp_path: Path, model: Keeping
) -> AsyncIterator[Tended]:
    async with tending(stack, database, topic_prefix, tmp_path, model_object=model) as one:
        yield one


async def test_the_page_shows_what_the_commands_print(app: Tended, model: Keeping) -> None:
    """Two values that the agent set; an hour later, in another thread, what the last exchange was about."""
    model.sets = [{"name": "order", "value": "4471"}, {"name": "step tried", "value": "emptied the cache"}]
    thread = await app.write("Where is order 4471? I emptied the cache already.", subject="Late")
    await app.wait(hours=1)
    model.sets = []
    other = await app.write("And can I change the address?", subject="Address")
    printed = [str(line) for line in thread_shown(await app.thread(thread), app.clock())]
    kept = printed[printed.index("\nThe agent keeps in mind") :][:3]
    shown = [kept[0].strip(), *kept[1:], *await layer(app, other, "session")]
    await app.write("Any news?", subject="Re: Late", after="<m1@acme.example>")
    shown += [line for line in await layer(app, thread, "thread") if line.startswith("- kept in mind")]
    page = PAGE.read_text(encoding="utf-8") if PAGE.exists() else ""
    lines = [f"    {line}".rstrip() for line in shown]
    assert [one for one in lines if one not in page.splitlines()] == [], "\n".join(lines)


async def layer(app: Tended, thread: UUID, name: str) -> list[str]:
    """A layer of the thread's newest turn, as `correspondent why` prints it, how many tokens it has apart."""
    async with app.app.database.reading() as conn:
        one = await explain_thread(conn, app.workspace, thread)
    text = "\n".join(str(line) for line in context_shown(one))
    part = text.partition(f"\nLayer {name}")[2].partition("\nLayer ")[0].partition("\n")[2]
    return [f"Layer {name}", *filter(None, part.splitlines())]
