"""Cursors of lists: what a page says of the next one, and what comes back from outside."""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest

from services.core.paging import LONGEST, BadCursor, Listing

AT = datetime(2026, 3, 1, 12, tzinfo=UTC)
LIST = Listing("things", (("at", "time"), ("id", "id")), descending=True)
WORDS = Listing("words", (("word", "text"), ("number", "number")))


@dataclass(frozen=True)
class Thing:
    """A row."""

    at: datetime
    id: UUID


@dataclass(frozen=True)
class Word:
    """Another one."""

    word: str
    number: int


def things(count: int) -> list[Thing]:
    """Newest first, two of each time."""
    return sorted(
        (Thing(AT + timedelta(hours=n // 2), UUID(int=n)) for n in range(count)),
        key=lambda one: (one.at, one.id),
        reverse=True,
    )


def cursor(*values: object) -> str:
    return base64.urlsafe_b64encode(json.dumps(values).encode()).decode().rstrip("=")


@pytest.mark.parametrize("limit", [1, 2, 3, 7, 10, 11])
def test_every_row_is_on_one_page(limit: int) -> None:
    """From page to page, no row is shown twice or left out, though rows share their time."""
    rows, seen, after = things(10), [], ""
    while True:
        page = LIST.cut(rows, after, limit)
        seen += page
        after = page.next
        if not after:
            break
    assert seen == rows


def test_rows_of_a_statement_end_in_a_cursor_only_where_there_is_another() -> None:
    """A statement gives one row more than a page shows; its last shown row is where the next page begins."""
    rows = things(4)
    assert LIST.page(rows[:3], 3).next == ""
    page = LIST.page(rows, 3)
    assert list(page) == rows[:3]
    assert LIST.args(page.next, 3) == {"limit": 4, "after_at": rows[2].at, "after_id": rows[2].id}


def test_without_a_cursor_a_list_begins_before_all_rows() -> None:
    """The same statement serves the first page: its comparison begins at a value that is behind no row."""
    assert LIST.args("", 5) == {"limit": 6, "after_at": "infinity", "after_id": UUID(int=2**128 - 1)}
    assert WORDS.args("", 5) == {"limit": 6, "after_word": "", "after_number": -(2**63)}


@pytest.mark.parametrize(
    "hostile",
    [
        "x",
        "%%%",
        "é",
        "a" * (LONGEST + 1),
        "AAAA",
        base64.urlsafe_b64encode(b"[" * 3000).decode(),
        base64.urlsafe_b64encode(b"\xff\xfe").decode(),
        cursor(),
        cursor("things"),
        cursor("words", "a", 1),
        cursor("things", AT.isoformat()),
        cursor("things", AT.isoformat(), str(UUID(int=1)), "more"),
        cursor("things", "2026-03-01T12:00:00", str(UUID(int=1))),
        cursor("things", "yesterday", str(UUID(int=1))),
        cursor("things", AT.isoformat(), "1 OR 1=1"),
        cursor("things", None, str(UUID(int=1))),
        cursor("things", 5, str(UUID(int=1))),
        cursor("things", AT.isoformat(), ["a"]),
        cursor("things", "infinity", str(UUID(int=1))),
    ],
)
def test_a_cursor_that_no_page_gave_is_refused(hostile: str) -> None:
    """Whatever comes in its place, it is one clear error, and none of it reaches a statement."""
    with pytest.raises(BadCursor):
        LIST.args(hostile, 5)


@pytest.mark.parametrize("value", [True, 1.5, "1", 2**63, -(2**64), None, [1], {"a": 1}])
def test_a_number_out_of_range_or_kind_is_refused(value: object) -> None:
    """A bigint, and nothing else, goes where a bigint is compared."""
    with pytest.raises(BadCursor):
        WORDS.args(cursor("words", "a", value), 5)


@pytest.mark.parametrize("value", ["nul\x00", "half \ud800", 3, None, ["a"]])
def test_text_that_the_database_cannot_take_is_refused(value: object) -> None:
    """No NUL and no lone surrogate comes through a cursor."""
    with pytest.raises(BadCursor):
        WORDS.args(cursor("words", value, 1), 5)


def test_any_text_that_a_row_has_comes_back() -> None:
    """Line ends and letters of any script are carried as they are."""
    page = WORDS.page([Word("zwölf\nÄpfel 林", 1), Word("b", 2)], 1)
    assert WORDS.args(page.next, 1)["after_word"] == "zwölf\nÄpfel 林"
