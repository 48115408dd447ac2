"""build_trees: JWZ threading, whatever the order of arrival."""

from __future__ import annotations

import json
import random
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.core.mail.jwz import Envelope, build_trees, rows
from tests.benchmarks.mail_threads import envelopes, tree_rows
from tests.support.corpora import corpus


def at(minute: int) -> datetime:
    """A time of one day."""
    return datetime(2026, 1, 1, minute // 60, minute % 60, tzinfo=UTC)


def shape(mails: list[Envelope], prune: bool = True) -> list[tuple[int, str, bool]]:
    """(depth, id, present) of all rows."""
    return [(depth, node.message_id, node.envelope is not None) for depth, node in rows(build_trees(mails, prune))]


def test_replies_hang_under_what_they_answer() -> None:
    """A chain by References becomes a chain."""
    mails = [Envelope("c", ("a", "b"), date=at(3)), Envelope("a", date=at(1)), Envelope("b", ("a",), date=at(2))]
    assert shape(mails) == [(0, "a", True), (1, "b", True), (2, "c", True)]


def test_missing_parents_keep_their_place_or_go() -> None:
    """A missing message with several children stays as a root, one with a single child goes."""
    two = [Envelope("b", ("a",), date=at(1)), Envelope("c", ("a",), date=at(2))]
    assert shape(two) == [(0, "a", False), (1, "b", True), (1, "c", True)]
    assert shape(two[:1]) == [(0, "b", True)]
    assert shape(two[:1], prune=False) == [(0, "a", False), (1, "b", True)]


def test_loops_are_refused() -> None:
    """Mails that claim to answer each other end in a finite tree with each mail once."""
    mails = [Envelope("a", ("b",), date=at(1)), Envelope("b", ("a",), date=at(2)), Envelope("c", ("c",), date=at(3))]
    assert sorted(row[1] for row in shape(mails)) == ["a", "b", "c"]


def test_in_reply_to_stands_in_for_references() -> None:
    """A mail without References hangs under its In-Reply-To."""
    assert shape([Envelope("b", (), ("a",), date=at(2)), Envelope("a", date=at(1))]) == [(0, "a", True), (1, "b", True)]


def test_long_chain_needs_no_recursion() -> None:
    """A thread of five thousand mails, each under the last, is built."""
    mails = [Envelope(str(i), (str(i - 1),) if i else (), date=at(0)) for i in range(5000)]
    assert max(depth for depth, _, _ in shape(mails)) == 4999


ids = st.sampled_from("abcdefg")
random_mails = st.lists(
    st.builds(
        Envelope,
        message_id=ids,
        references=st.lists(ids, max_size=4).map(tuple),
        in_reply_to=st.lists(ids, max_size=1).map(tuple),
        date=st.integers(0, 5).map(at) | st.none(),
    ),
    max_size=10,
)


@given(random_mails, st.randoms(use_true_random=False))
def test_order_of_arrival_does_not_matter(mails: list[Envelope], chance: random.Random) -> None:
    """Any set of mails, loops and copies included, gives one forest in every order, each mail in it once."""
    shuffled = list(mails)
    chance.shuffle(shuffled)
    for prune in (True, False):
        rows_ = shape(mails, prune)
        assert rows_ == shape(shuffled, prune)
        assert sorted(i for _, i, present in rows_ if present) == sorted({m.message_id for m in mails})


@pytest.mark.parametrize("test", ["1.t", "2.t", "3.t", "4.t"])
def test_corpus_trees(test: str) -> None:
    """The trees of Mail::Thread's own tests come out exact in any order of arrival."""
    folder = corpus("threading")
    expected = json.loads((folder / "expected_trees.json").read_text()).get(test)
    if expected is None:
        pytest.skip(f"{test} is not in this half of the corpus")
    mails = list(envelopes(folder / expected["box"]))
    for seed in range(20):
        random.Random(seed).shuffle(mails)
        assert tree_rows(mails, prune="noprune" not in expected["options"]) == expected["tree"]
