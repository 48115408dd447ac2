"""Stories with a model's mistakes through the real handlers, on real Postgres; the rest runs in `tests/stories`."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from deploy.local import Endpoints
from services.learn_facts.facts.values import same_value
from services.memory.facts import plain_key
from services.memory.keys import are_akin, key_of
from services.operations.rebuild.projections import fold, state_hash
from services.operations.rebuild.shadow_schema import connected
from tests.stories.driving import believed_after
from tests.stories.story import stories
from tests.support.remembering import Memory, remembering
from tests.support.stack import fresh_database

EVERY = 17


@pytest.fixture
async def memory(stack: Endpoints, database: str, topic_prefix: str, tmp_path: Path) -> AsyncIterator[Memory]:
    async with remembering(stack, database, topic_prefix, tmp_path) as one:
        yield one


async def test_handlers_and_tables_end_where_the_decisions_do(
    memory: Memory, stack: Endpoints, template_database: str
) -> None:
    """The same mistakes leave the same values in the tables, none of them false, and a rebuild gives the same state."""
    for number, story in enumerate(stories()[::EVERY]):
        name, proposals = list(story.faulty().items())[number % len(story.faulty())]
        sender = f"p{number}@acme.example"
        await memory.tell(story.first, story.opening, on=1, sender=sender)
        await memory.tell(story.second, *proposals, on=9, sender=sender)
        query = "SELECT key, value FROM facts WHERE participant_id = %(who)s AND superseded_at IS NULL AND stale_since IS NULL"
        rows = await memory.rows(query, who=memory.person(sender))
        assert [row["value"] for row in rows] == believed_after(story, proposals), (story.name, name)
        assert not any(same_value(row["value"], false) for row in rows for false in story.false), (story.name, name)
        usual = key_of(plain_key(story.key), story.opening.kind)
        assert all(row["key"] == usual or are_akin(row["key"], usual) for row in rows), (story.name, name)
    with fresh_database(stack.database, template=template_database) as target:
        async with connected(memory.app.settings.database_url, memory.app.keys) as source:
            await fold(source, target)
        async with connected(target) as conn:
            assert await state_hash(conn) == await memory.state()
