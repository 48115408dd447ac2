"""The offline model answers questions in other words than the documents', and states nothing that is wrong."""

from __future__ import annotations

from pathlib import Path

from deploy.local import Endpoints
from services import learn_documents
from tests.benchmarks.offline_answers import RIGHT, WRONG, answered, counted, shelve_base
from tests.support.remembering import remembering


async def test_questions_in_other_words_were_not_answered(
    stack: Endpoints, database: str, topic_prefix: str, tmp_path: Path
) -> None:
    """Of thirty questions to documents that nothing was fitted on, 24 are answered, and nothing wrong is stated."""
    async with remembering(stack, database, topic_prefix, tmp_path) as memory:
        await shelve_base(memory.app, "bicycles")
        await memory.settle((learn_documents.PROCESSOR,))
        counts = counted(await answered(memory.app, "bicycles"))
    assert counts[RIGHT] >= 24
    assert counts[WRONG] == counts[f"unanswerable: {WRONG}"] == 0
