"""Which tests Apache Kafka gets is a list, and the list is whole."""

from __future__ import annotations

import re
from pathlib import Path

from tests.support.on_apache import EMBEDDED_ALONE, FILES, FOLDERS, SIGNS, TESTS, runs_on_apache

ROOT = Path(__file__).parents[2]


def test_no_test_that_speaks_to_a_broker_is_left_out_unsaid() -> None:
    """A file that uses a broker is on the list of Apache's, or on the other one with the reason."""
    speaks = re.compile("|".join(SIGNS))
    files = {
        one.relative_to(ROOT)
        for folder in ("integration", "flow")
        for one in (ROOT / "tests" / folder).glob("test_*.py")
    }
    unsaid = [
        path
        for path in sorted(files)
        if speaks.search((ROOT / path).read_text())
        and not runs_on_apache(path)
        and path.as_posix() not in EMBEDDED_ALONE
    ]
    assert not unsaid, "say in tests/support/on_apache.py where they run"


def test_the_lists_name_files_that_are_there() -> None:
    """A test that was renamed would be left out; one on both lists would be a riddle."""
    assert not [name for name in (*FOLDERS, *FILES, *EMBEDDED_ALONE) if not (ROOT / name).exists()]
    assert not FILES.keys() & EMBEDDED_ALONE
    assert not [
        name for path, names in TESTS.items() for name in names if f"def {name}(" not in (ROOT / path).read_text()
    ]
