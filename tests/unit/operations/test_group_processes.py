"""Who is at work, in words."""

from __future__ import annotations

from services.core.bus.group_members import Member
from services.operations.group_processes import AtWork


def member(host: str, partitions: int) -> Member:
    return Member("reflect", "correspondent-reflect", host, tuple(("turns", n) for n in range(partitions)))


def test_each_process_is_told_with_its_partitions() -> None:
    """Two processes stand side by side."""
    told = AtWork("reflect", (member("10.0.0.4", 7), member("10.0.0.5", 5))).told
    assert told == "2: 10.0.0.4 (7 partitions), 10.0.0.5 (5 partitions)"


def test_a_broker_that_names_nobody_still_counts() -> None:
    """The embedded broker knows how many there are, and no more."""
    assert AtWork("reflect", (Member("reflect", "", "", ()),)).told == "1"
    assert AtWork("reflect", ()).told == "nobody"
