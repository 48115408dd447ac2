"""Decisions about reading a folder."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from services.receive_email.imap.folder import Listed
from services.receive_email.imap.plan import (
    CLOCK_SKEW,
    MOST_BYTES,
    MOST_MAILS,
    Suspicion,
    batches,
    mode_of,
    since_begun,
)

BEGUN = datetime(2026, 3, 1, 12, tzinfo=UTC)


@given(
    st.lists(st.integers(0, 2 * MOST_BYTES), max_size=200),
    st.sets(st.integers(0, 199)),
)
def test_batches_keep_order_and_bounds(sizes: list[int], suspects: set[int]) -> None:
    """Every mail is in one batch, in order; a batch is within its bounds or one mail; a suspect is alone."""
    suspicion = Suspicion()
    suspicion.blame(sorted(suspects))
    listed = [Listed(uid, size) for uid, size in enumerate(sizes)]
    made = list(batches(listed, suspicion))
    assert [one for batch in made for one in batch] == listed
    for batch in made:
        assert len(batch) <= MOST_MAILS
        assert len(batch) == 1 or sum(one.size for one in batch) <= MOST_BYTES
        assert len(batch) == 1 or not any(suspicion.suspects(one.uid) for one in batch)


def test_a_mail_is_condemned_when_it_breaks_two_connections_alone() -> None:
    """Being in a batch that broke is suspicion only; coming through clears it."""
    suspicion = Suspicion()
    for _ in range(3):
        suspicion.blame([1, 2])
    assert suspicion.suspects(1)
    assert not suspicion.condemns(1)
    suspicion.blame([1])
    suspicion.clear([2])
    assert not suspicion.condemns(1)
    suspicion.blame([1])
    assert suspicion.condemns(1)
    assert not suspicion.suspects(2)
    suspicion.clear([1])
    assert not suspicion.condemns(1)


def test_a_folder_read_again_gives_what_came_since_the_beginning() -> None:
    """By the server's own date, with an hour for its clock; what has no date is kept, what is not yet due is not."""
    listed = [
        Listed(1, 0, BEGUN - CLOCK_SKEW - timedelta(seconds=1)),
        Listed(2, 0, BEGUN - CLOCK_SKEW),
        Listed(3, 0, BEGUN + timedelta(days=3)),
        Listed(4),
        Listed(5, 0, BEGUN + timedelta(days=4)),
    ]
    assert [one.uid for one in since_begun(listed, BEGUN, uidnext=5)] == [2, 3, 4]


def test_a_mail_written_before_the_beginning_is_history() -> None:
    """A restore may date old mail anew; its own Date still keeps it from being answered, as does having none."""
    assert mode_of(b"Date: Sun, 1 Mar 2026 12:00:01 +0000\r\n\r\n", BEGUN) == "live"
    assert mode_of(b"Date: Sun, 1 Mar 2026 12:59:59 +0100\r\n\r\n", BEGUN) == "history"
    assert mode_of(b"Date: yesterday\r\n\r\n", BEGUN) == "history"
    assert mode_of(b"Subject: none\r\n\r\n", BEGUN) == "history"
