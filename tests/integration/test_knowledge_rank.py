"""Questions in customers' words find the passage that answers them: words and meaning together, better than either."""

from __future__ import annotations

from pathlib import Path

from deploy.local import Endpoints
from services import learn_documents
from tests.benchmarks.knowledge_rank import OURS, rankings, share_at, shelve_all
from tests.support.remembering import remembering


async def test_the_passage_that_answers_is_in_the_prompt_and_mostly_first(
    stack: Endpoints, database: str, topic_prefix: str, tmp_path: Path
) -> None:
    """Of fifty questions at least 95 % have their passage among the six of a prompt, and 75 % have it first."""
    async with remembering(stack, database, topic_prefix, tmp_path) as memory:
        await shelve_all(memory.app)
        await memory.settle((learn_documents.PROCESSOR,))
        found = await rankings(memory.app)
    assert len(found) == 50
    assert share_at(found, OURS, 6) >= 95
    assert share_at(found, OURS, 1) >= 75
    for other in ("words alone", "meaning alone", "rank fusion", "weights of conversations"):
        assert share_at(found, OURS, 1) > share_at(found, other, 1)
