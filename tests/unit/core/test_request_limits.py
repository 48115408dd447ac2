"""Whose requests are counted together."""

from __future__ import annotations

import pytest

from services.core.request_limits import network_of


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("2001:db8:1:2::1", "2001:db8:1:2:ffff:ffff:ffff:ffff", True),
        ("2001:db8:1:2::1", "2001:db8:1:3::1", False),
        ("::ffff:203.0.113.7", "203.0.113.7", True),
        ("fe80::1%eth0", "fe80::2%eth1", True),
        ("203.0.113.7", "203.0.113.8", False),
        ("no address", "another", False),
    ],
)
def test_a_network_of_ipv6_had_a_pace_for_each_of_its_addresses(one: str, other: str, same: bool) -> None:
    """Whoever has one address of a /64 has all of them; an IPv4 address stands for itself, however it is written."""
    assert (network_of({"client": (one, 1)}) == network_of({"client": (other, 2)})) is same
    assert network_of({}) == network_of({"client": None}) == ""
