"""What is sealed opens with its key alone, at its own place alone, as it was."""

from __future__ import annotations

from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.core.keys.aead import (
    NotAuthentic,
    SubjectKey,
    clear_part,
    is_sealed,
    open_json,
    seal_again,
    seal_json,
    shredded,
    unseal,
)

KEY = SubjectKey(UUID(int=7), b"k" * 32)
OTHER = SubjectKey(UUID(int=7), b"o" * 32)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda one: st.lists(one) | st.dictionaries(st.text(), one),
    max_leaves=10,
)


@given(st.dictionaries(st.text(), JSON))
def test_what_is_sealed_comes_back_as_it_was(secret: dict[str, object]) -> None:
    """Any JSON, text that Postgres refuses included; what stays readable is beside it."""
    sealed = seal_json(KEY, {"thread_id": "t"}, secret, of="e1")
    assert is_sealed(sealed)
    assert clear_part(sealed) == {"thread_id": "t"}
    assert open_json(KEY, sealed, of="e1") == {"thread_id": "t", **secret}


def test_two_seals_of_the_same_share_nothing() -> None:
    """Equal texts cannot be told by their sealed form: the nonce is another one each time."""
    one, two = (seal_json(KEY, {}, {"text": "the same"}, of="e1") for _ in range(2))
    assert one["$sealed"] != two["$sealed"]


@pytest.mark.parametrize(
    ("key", "change", "of"),
    [
        (OTHER, {}, "e1"),
        (KEY, {"thread_id": "another"}, "e1"),
        (KEY, {"$of": "e2"}, "e2"),
        (KEY, {"$sealed": "AAAA"}, "e1"),
        (KEY, {}, "e2"),
    ],
    ids=["another key", "another thread", "moved to another event", "other bytes", "read at another event"],
)
def test_what_was_changed_or_moved_does_not_open(key: SubjectKey, change: dict[str, str], of: str) -> None:
    """The readable part and the event's id are authenticated with the sealed part."""
    sealed = seal_json(KEY, {"thread_id": "t"}, {"text": "secret"}, of="e1")
    with pytest.raises(NotAuthentic):
        open_json(key, {**sealed, **change}, of=of)


def test_what_was_shredded_is_sealed_still_and_holds_nothing() -> None:
    """No ciphertext is left, should a copy of the key turn up."""
    left = shredded(seal_json(KEY, {"thread_id": "t"}, {"text": "secret"}, of="e1"))
    assert is_sealed(left)
    assert left["$sealed"] == ""


def test_a_file_stored_twice_is_one_file_and_another_key_makes_another() -> None:
    """The same bytes for the same key, so that a retry leaves no second blob; nothing in common with another key's."""
    box = seal_again(KEY, b"attachment")
    assert box == seal_again(KEY, b"attachment")
    assert box != seal_again(OTHER, b"attachment")
    assert unseal(KEY.secret, box, KEY.id.bytes) == b"attachment"
