"""Requests to hosts that an operator named, and nowhere else.

Invariants: http and https alone; the address that is connected to is the one that was checked, so a name that changes
its address leads into no private network; no proxy, no cookie, no redirect that is followed by itself.
"""

from __future__ import annotations

import asyncio
import ipaddress
import socket
from collections.abc import Awaitable, Callable, Mapping

import httpx

from services.core.errors import Permanent

IpAddress = ipaddress.IPv4Address | ipaddress.IPv6Address
Resolve = Callable[[str, int], Awaitable[list[str]]]

NAT64 = ipaddress.ip_network("64:ff9b::/96")
CLOSED = tuple(
    ipaddress.ip_network(one)
    for one in (
        "168.63.129.16/32",  # what Azure's machines are told by
        "192.0.0.0/24",  # of one's own provider (RFC 6890); Oracle's machines are told there
        "192.88.99.0/24",  # relays of 6to4 (RFC 7526)
        "fec0::/10",  # site-local (RFC 3879)
        "3fff::/20",  # documentation (RFC 9637)
        "5f00::/16",  # segment routing (RFC 9602)
        "100:0:0:1::/64",  # dummy prefix (RFC 9780)
        "::/96",  # IPv4-compatible (RFC 4291, deprecated)
        "64:ff9b:1::/48",  # NAT64 of one's own network (RFC 8215)
        "::ffff:0:0:0/96",  # IPv4-translated (RFC 7915)
    )
)


class HostRefused(Permanent):
    """The host may not be asked, or there is none of this name."""


def plain_client(timeout_s: float) -> httpx.AsyncClient:
    """A client that takes nothing from the environment and follows no redirect."""
    return httpx.AsyncClient(trust_env=False, follow_redirects=False, timeout=timeout_s)


async def resolve(host: str, port: int) -> list[str]:
    """The addresses of a host, by the system. Raises `OSError`."""
    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(one[4][0]) for one in found))


async def pinned(
    client: httpx.AsyncClient,
    method: str,
    url: httpx.URL,
    *,
    headers: Mapping[str, str],
    private: str,
    allowed: bool = False,
    resolver: Resolve = resolve,
    content: bytes | None = None,
) -> httpx.Request:
    """A request to the very address that was checked; the host's name stays in `Host` and in the TLS handshake.

    `private` is the setting that lets addresses in that are not public, `allowed` its value. Raises `HostRefused`.
    """
    if url.scheme not in ("http", "https") or not url.host or url.userinfo:
        raise HostRefused("is no plain http or https address")
    port = url.port or (443 if url.scheme == "https" else 80)
    try:
        found = await resolver(url.host, port)
    except (OSError, UnicodeError):  # the second for a label that no name may have
        raise HostRefused(f"there is no host named {url.host[:253]}") from None
    refused = [one for one in found if not allowed and not is_public(one)]
    if refused or not found:
        where = refused[0] if refused else "no address"
        raise HostRefused(f"{url.host} is at {where}, which is not public; {private} allows it")
    named = {**headers, "host": url.netloc.decode("ascii")}
    at = url.copy_with(host=found[0])
    return client.build_request(method, at, headers=named, content=content, extensions={"sni_hostname": url.host})


def is_public(text: str) -> bool:
    """Whether an IP address is one of the open internet; what is carried inside of an IPv6 address counts."""
    address: IpAddress = ipaddress.ip_address(text.partition("%")[0])
    if any(address in one for one in CLOSED):
        return False
    if isinstance(address, ipaddress.IPv6Address):
        inner = address.ipv4_mapped or address.sixtofour or (address.teredo or (None, None))[1]
        if address in NAT64:
            inner = ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
        address = inner or address
    return address.is_global and not address.is_multicast and not any(address in one for one in CLOSED)
