"""What a turn asks of memory."""

from __future__ import annotations

from uuid import UUID

import pytest

from services.load_memory.turn import query_of


def mail(number: int, text: str) -> dict[str, object]:
    return {"mail_id": UUID(int=number), "subject": f"subject {number}", "text": text}


@pytest.mark.parametrize("first", ["short", "long " * 5000])
def test_the_newest_question_is_what_memory_is_searched_with(first: str) -> None:
    """However long the mails before it, the newest mail's words stand in the query, within its length."""
    query = query_of((mail(1, first), mail(2, "where is invoice 4471?")), 2000)
    assert query.startswith("subject 2\nwhere is invoice 4471?\nsubject 1\n")
    assert len(query) <= 2000
