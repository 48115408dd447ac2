"""What a consumer hands on of a partition, and what it may not leave out."""

from __future__ import annotations

import pytest

from services.core.bus.continuity import Continuity, Gap, RecordsLeftOut

PLACE = ("turns", 3)


def test_a_partition_is_handed_on_from_what_is_committed() -> None:
    """The committed offset is due first, then each following one."""
    one = Continuity(set())
    one.begin_at({PLACE: 4})
    assert [one.is_next(PLACE, offset) for offset in (4, 5, 6)] == [True] * 3


def test_a_record_that_was_left_out_was_committed_past() -> None:
    """A record after a gap is not handed on: its acknowledgement would pass what is missing."""
    one = Continuity(set())
    one.begin_at({PLACE: 4})
    with pytest.raises(RecordsLeftOut, match="4 was due, 6 came"):
        one.is_next(PLACE, 6)


def test_a_record_that_is_read_twice_is_handed_on_once() -> None:
    """Going back to what is committed, in one assignment, hands nothing on a second time."""
    one = Continuity(set())
    one.begin_at({PLACE: 4})
    assert [one.is_next(PLACE, offset) for offset in (4, 5)] == [True, True]
    one.begin_at({PLACE: 4})
    assert [one.is_next(PLACE, offset) for offset in (4, 5, 6)] == [False, False, True]


def test_a_gap_that_is_met_twice_is_the_logs_own() -> None:
    """What is still missing when the partition is read again has expired, or was never a record."""
    known: set[Gap] = set()
    with pytest.raises(RecordsLeftOut):
        _from_four(known).is_next(PLACE, 6)
    again = _from_four(known)
    assert again.is_next(PLACE, 6)
    assert again.is_next(PLACE, 7)


def test_what_follows_a_gap_was_taken_for_gaps_of_their_own() -> None:
    """A partition is closed at its gap: what had been fetched after it is no gap that may be let pass later."""
    known: set[Gap] = set()
    one = _from_four(known)
    with pytest.raises(RecordsLeftOut):
        one.is_next(PLACE, 6)
    assert not one.is_next(PLACE, 7)
    assert known == {(PLACE, 4, 6)}
    with pytest.raises(RecordsLeftOut, match="4 was due, 7 came"):
        _from_four(known).is_next(PLACE, 7)


def test_a_new_assignment_begins_anew() -> None:
    """After a rebalance the same offsets are due again, and a partition without a commit begins where it begins."""
    one = _from_four(set())
    one.is_next(PLACE, 4)
    one.start()
    one.begin_at({PLACE: None})
    assert one.is_next(PLACE, 2)


def test_nothing_is_handed_on_before_it_is_known_what_is_committed() -> None:
    """A seek that did not end in time leaves the position anywhere: a commit there could pass what is not done."""
    one = _from_four(set())
    one.start()
    with pytest.raises(RecordsLeftOut, match="before it was known"):
        one.is_next(PLACE, 9)


def _from_four(known: set[Gap]) -> Continuity:
    one = Continuity(known)
    one.begin_at({PLACE: 4})
    return one
