"""SQL from `.sql` files: each statement has a name and a comment, none stands in Python strings.

-- name: lock_thread
-- The thread's row, locked until the end of the transaction.
SELECT ... FOR UPDATE;
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import LiteralString, cast

_NAME = re.compile(r"^-- name:\s*(\w+)\s*$", re.MULTILINE)


class Queries:
    """The statements of one file, by name. A missing name fails at import, where it is used as an attribute."""

    def __init__(self, path: Path) -> None:
        parts = _NAME.split(path.read_text(encoding="utf-8"))
        self._path = path
        self._statements = {name: body.strip().rstrip(";") for name, body in zip(parts[1::2], parts[2::2], strict=True)}

    def __getattr__(self, name: str) -> LiteralString:
        try:
            return cast(LiteralString, self._statements[name])
        except KeyError:
            raise AttributeError(f"{self._path.name} has no statement named {name!r}") from None

    def names(self) -> tuple[str, ...]:
        """Every statement's name, in the file's order."""
        return tuple(self._statements)


def queries(module_file: str, name: str = "queries.sql") -> Queries:
    """The statements of a `.sql` file that lies next to a module."""
    return Queries(Path(module_file).with_name(name))
