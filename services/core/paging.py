"""Lists by pages: each page says where the next one begins, by the sort key of its last row (keyset pagination).

Invariants
- A page costs what it shows, however far into the list it is: its query compares the whole sort key as a row, which an
  index answers. Without a cursor the comparison begins at a value before all others, so that the statement is the same.
- The sort key ends with an id: no row is shown twice or left out while nothing changes.
- A cursor is opaque to whoever carries it, and comes from outside: anything that is not ours is `BadCursor`.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, TypeVar
from uuid import UUID

from services.core.errors import Permanent

T = TypeVar("T")
Kind = Literal["time", "id", "number", "text"]
LONGEST = 4000  # characters of a cursor
MOST = 500  # rows of a page
_BIGGEST = 2**63 - 1

_FIRST: dict[Kind, Any] = {"time": "-infinity", "id": UUID(int=0), "number": -_BIGGEST - 1, "text": ""}
_LAST: dict[Kind, Any] = {"time": "infinity", "id": UUID(int=2**128 - 1), "number": _BIGGEST, "text": "\U0010ffff"}


class BadCursor(Permanent):
    """A cursor that no page of this list gave: begin without one."""


class Page(list[T]):
    """The rows of a page, and the cursor of the next one; "" where this is the last."""

    def __init__(self, rows: Iterable[T] = (), cursor: str = "") -> None:
        super().__init__(rows)
        self.next = cursor


@dataclass(frozen=True, slots=True)
class Listing:
    """A list: its name, the columns that it is sorted by, and whether the largest come first.

    Its statement takes `limit`, and for each column NAME the parameter `after_NAME`.
    """

    name: str
    key: tuple[tuple[str, Kind], ...]
    descending: bool = False

    def args(self, after: str, limit: int) -> dict[str, Any]:
        """The parameters of the statement: one row more than a page says that there is another. Raises `BadCursor`."""
        return {"limit": limit + 1, **{f"after_{name}": value for name, value in self._place(after).items()}}

    def page(self, rows: Sequence[T], limit: int, seen: Callable[[T], Any] | None = None) -> Page[T]:
        """The page of what the statement gave; `seen` gives the row that carries the sort key, by default itself."""
        if len(rows) <= limit:
            return Page(rows)
        last: Any = (seen or _same)(rows[limit - 1])
        values = [last[name] if isinstance(last, dict) else getattr(last, name) for name, _ in self.key]
        return Page(rows[:limit], self._cursor(values))

    def cut(self, rows: Iterable[T], after: str, limit: int) -> Page[T]:
        """The page of a list that is whole in memory, sorted by the key. Raises `BadCursor`."""
        place = self._place(after) if after else None
        wanted = rows if place is None else [one for one in rows if self._behind(one, place)]
        return self.page(list(wanted)[: limit + 1], limit)

    def _behind(self, row: Any, place: dict[str, Any]) -> bool:
        own, other = tuple(getattr(row, name) for name in place), tuple(place.values())
        return bool(own < other if self.descending else own > other)

    def _cursor(self, values: Sequence[Any]) -> str:
        said = [value.isoformat() if isinstance(value, datetime) else value for value in values]
        text = json.dumps([self.name, *said], default=str, separators=(",", ":"))
        return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")

    def _place(self, cursor: str) -> dict[str, Any]:
        if not cursor:
            return {name: (_LAST if self.descending else _FIRST)[kind] for name, kind in self.key}
        values = _decoded(cursor)
        if len(values) != len(self.key) + 1 or values[0] != self.name:
            raise BadCursor
        pairs = zip(self.key, values[1:], strict=True)
        return {name: _value(kind, value) for (name, kind), value in pairs}


def _same(row: T) -> T:
    return row


def _decoded(cursor: str) -> list[Any]:
    if len(cursor) > LONGEST:
        raise BadCursor
    try:
        raw = base64.b64decode(cursor.encode("ascii") + b"=" * (-len(cursor) % 4), altchars=b"-_", validate=True)
        values = json.loads(raw.decode())
    except (ValueError, binascii.Error, RecursionError):
        raise BadCursor from None
    if not isinstance(values, list):
        raise BadCursor
    return values


def _value(kind: Kind, value: Any) -> Any:
    """A value of a cursor, checked. Raises `BadCursor`."""
    if kind == "number":
        if type(value) is int and abs(value) <= _BIGGEST:
            return value
        raise BadCursor
    if not isinstance(value, str) or "\x00" in value or (not value.isprintable() and kind != "text"):
        raise BadCursor
    try:
        if kind == "text":
            value.encode()
            return value
        if kind == "id":
            return UUID(value)
        moment = datetime.fromisoformat(value)
    except ValueError:
        raise BadCursor from None
    if moment.tzinfo is None:
        raise BadCursor
    return moment
