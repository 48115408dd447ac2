"""Reply tokens: made for one person in one thread of one workspace, and good for nothing else."""

from __future__ import annotations

import uuid

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.mail.tokens import (
    SigningKeys,
    check_token,
    make_token,
    own_message_id,
    token_of_address,
    token_of_message_id,
)

OLD, NEW = b"old key of 16 b.", b"new key of 16 b."
RING = SigningKeys((NEW,))
THREAD = uuid.UUID("12345678-1234-5678-1234-567812345678")
TOKEN = make_token(RING, "acme", THREAD, "ann@customer.example")


def test_token_opens_its_thread() -> None:
    """The right workspace and participant open the thread, whatever the case of address and token."""
    assert check_token(RING, TOKEN.upper(), "acme", ["Ann@Customer.example"]) == THREAD
    assert check_token(RING, TOKEN, "acme", ["bob@x.example", "ann@customer.example"]) == THREAD


@pytest.mark.parametrize(
    ("token", "workspace", "participant"),
    [
        (TOKEN, "other", "ann@customer.example"),
        (TOKEN, "acme", "bob@customer.example"),
        (
            make_token(RING, "acme", uuid.UUID(int=1), "ann@customer.example")[:20] + TOKEN[20:],
            "acme",
            "ann@customer.example",
        ),
        (TOKEN[:-1], "acme", "ann@customer.example"),
        (TOKEN + "a", "acme", "ann@customer.example"),
        ("", "acme", "ann@customer.example"),
        ("ü" * 42, "acme", "ann@customer.example"),
    ],
)
def test_token_opens_nothing_else(token: str, workspace: str, participant: str) -> None:
    """Another workspace, another person, another thread id or a damaged token open nothing."""
    assert check_token(RING, token, workspace, [participant]) is None


def test_keys_rotate() -> None:
    """A token of an older key stays good while the key is on the ring, and new ones are made with the newest."""
    old = make_token(SigningKeys((OLD,)), "acme", THREAD, "a@b.example")
    assert check_token(SigningKeys((NEW, OLD)), old, "acme", ["a@b.example"]) == THREAD
    assert check_token(RING, old, "acme", ["a@b.example"]) is None
    assert make_token(SigningKeys((NEW, OLD)), "acme", THREAD, "a@b.example") == make_token(
        RING, "acme", THREAD, "a@b.example"
    )


@pytest.mark.parametrize("keys", [(), (b"short",)])
def test_weak_keyring_is_refused(keys: tuple[bytes, ...]) -> None:
    """A ring without a key of 16 bytes cannot be made."""
    with pytest.raises(ValueError, match="16 bytes"):
        SigningKeys(keys)


def test_message_id_carries_the_token_and_is_the_same_each_time() -> None:
    """Our Message-ID is a function of token and reply, fits a local part, and gives the token back in any case."""
    first = own_message_id(TOKEN, uuid.UUID(int=1), "Shop.example")
    assert first == own_message_id(TOKEN, uuid.UUID(int=1), "shop.example")
    assert first != own_message_id(TOKEN, uuid.UUID(int=2), "shop.example")
    assert len(first.partition("@")[0]) <= 64
    assert token_of_message_id(f"<{first.upper()}>") == TOKEN


def test_a_plus_address_gives_the_token_back() -> None:
    """In whatever case it comes."""
    assert token_of_address(f"support+{TOKEN}@shop.example".upper()) == TOKEN


@given(st.text())
def test_foreign_ids_and_addresses_hold_no_token(text: str) -> None:
    """Any text is looked at without an error, and holds a token only if it has its shape."""
    for found in (token_of_message_id(text), token_of_address(text)):
        assert found == "" or len(found) == 42
    assert check_token(RING, text, "acme", ["ann@customer.example"]) is None
