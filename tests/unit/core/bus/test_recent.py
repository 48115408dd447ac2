"""What a process has done last is known without asking; what is not known is asked of the journal."""

from __future__ import annotations

from uuid import UUID

from services.core.bus.recent import Recent


def test_only_the_latest_are_known() -> None:
    """The oldest ids make room for new ones, and one that is added again does not count twice."""
    recent = Recent(most=3)
    recent.add(UUID(int=1), UUID(int=2))
    recent.add(UUID(int=2), UUID(int=3))
    assert [recent.knows(UUID(int=n)) for n in (1, 2, 3)] == [True] * 3
    recent.add(UUID(int=4))
    assert [recent.knows(UUID(int=n)) for n in (1, 2, 3, 4)] == [False, True, True, True]
