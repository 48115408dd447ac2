"""Facts that rest on others are stale from when those have ended by themselves."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from uuid import NAMESPACE_DNS, UUID, uuid5

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.memory.derived import Rest, lapsed

START = datetime(2026, 3, 1, tzinfo=UTC)


def day(number: float) -> datetime:
    return START + timedelta(days=number)


def id_of(name: str) -> UUID:
    return uuid5(NAMESPACE_DNS, name)


def rest(fact: str, parent: str, over: float | None, said: float = 0) -> Rest:
    return Rest(id_of(fact), id_of(parent), None if over is None else day(over), day(said))


@pytest.mark.parametrize(
    ("on", "stale"), [(9, {}), (9.99, {}), (10, {"child": 10}), (11, {"child": 10}), (999, {"child": 10})]
)
def test_a_fact_is_stale_from_the_end_of_what_it_rests_on(on: float, stale: dict[str, float]) -> None:
    """Not before, and from that moment on, whenever it is read: the same rows give the same answer."""
    found = lapsed([rest("child", "parent", 10)], day(on))
    assert found == {id_of(name): day(since) for name, since in stale.items()}


def test_what_never_ends_makes_nothing_stale() -> None:
    """A parent without a last day, and no parent at all."""
    assert lapsed([rest("child", "parent", None)], day(99)) == {}
    assert lapsed([], day(99)) == {}


def test_what_was_said_again_stands_for_itself() -> None:
    """Said on or after the day on which its parent ended it is believed, and so is what rests on it alone."""
    edges = [rest("child", "parent", 10, said=10), rest("grandchild", "child", None, said=1)]
    assert lapsed(edges, day(20)) == {}


def test_it_goes_on_to_what_rests_on_it() -> None:
    """A chain is stale since the end of its first parent, except what was said since."""
    edges = [
        rest("child", "parent", 10),
        rest("grandchild", "child", None),
        rest("said since", "child", None, said=12),
    ]
    assert lapsed(edges, day(20)) == {id_of("child"): day(10), id_of("grandchild"): day(10)}


def test_the_first_end_of_several_counts() -> None:
    """With two parents it is stale since the earlier end; said between the two ends, since the later one."""
    assert lapsed([rest("child", "a", 12), rest("child", "b", 10)], day(20)) == {id_of("child"): day(10)}
    both = [rest("child", "a", 12, said=11), rest("child", "b", 10, said=11)]
    assert lapsed(both, day(20)) == {id_of("child"): day(12)}


NAMES = st.sampled_from("abcdef")


@given(
    st.lists(st.tuples(NAMES, NAMES, st.none() | st.integers(0, 9), st.integers(0, 9)), max_size=20),
    st.integers(0, 9),
    st.randoms(),
)
def test_any_rows_in_any_order_give_the_same(rows: list[tuple[str, str, int | None, int]], on: int, by: object) -> None:
    """Also where facts rest on each other in a circle; and time makes no stale fact fresh again."""
    edges = [rest(*row) for row in rows]
    shuffled = edges[:]
    by.shuffle(shuffled)  # type: ignore[attr-defined]
    found = lapsed(edges, day(on))
    assert lapsed(shuffled, day(on)) == found
    assert found.items() <= lapsed(edges, day(on + 5)).items()
    assert all(since <= day(on) for since in found.values())
