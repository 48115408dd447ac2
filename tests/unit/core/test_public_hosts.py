"""Which addresses are of the open internet."""

from __future__ import annotations

import pytest

from services.core.public_hosts import is_public


@pytest.mark.parametrize(
    "address",
    ["127.1.2.3", "10.0.0.1", "169.254.169.254", "100.100.100.200", "168.63.129.16", "192.0.0.192", "192.88.99.1",
     "0.0.0.0", "240.0.0.1", "198.18.0.1", "::1", "::7f00:1", "::ffff:127.0.0.1", "::ffff:0:7f00:1", "64:ff9b::7f00:1",
     "64:ff9b:1::1", "2002:7f00:1::", "2001:0:7f00:1::1", "fe80::1%eth0", "fec0::1", "fd00:ec2::254", "3fff::1",
     "5f00::1", "100:0:0:1::1", "100::1", "2001:db8::1", "ff02::1"],
)  # fmt: skip
def test_what_is_not_of_the_open_internet_is_asked_by_nobody(address: str) -> None:
    """Private, local, translated, documentation's, and where a cloud tells its machines their secrets."""
    assert not is_public(address)


@pytest.mark.parametrize("address", ["8.8.8.8", "2001:4860:4860::8888", "64:ff9b::808:808"])
def test_the_open_internet_may_be_asked(address: str) -> None:
    """Anybody's server, by IPv4, IPv6, or through NAT64."""
    assert is_public(address)
