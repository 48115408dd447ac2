"""DnsResolver against a name server on loopback: records as they stand, and failures as such."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator

import dns.flags
import dns.message
import dns.rcode
import dns.rrset
import pytest

from services.mail.authentication import DnsFailed, DnsResolver

RECORDS = {
    ("long.example.", "TXT"): '"v=spf1 ip4:192.0.2.1" " -all"',
    ("a.example.", "A"): "192.0.2.7",
    ("mx.example.", "MX"): "10 mail.mx.example.",
    ("7.2.0.192.in-addr.arpa.", "PTR"): "host.example.",
}


def _answer(wire: bytes) -> bytes:
    query = dns.message.from_wire(wire)
    question = query.question[0]
    response = dns.message.make_response(query)
    kind = question.rdtype.name
    found = RECORDS.get((question.name.to_text(), kind))
    if found:
        response.answer.append(dns.rrset.from_text(question.name, 60, "IN", kind, found))
    elif question.name.to_text() == "broken.example.":
        response.set_rcode(dns.rcode.SERVFAIL)
    elif question.name.to_text() != "empty.example.":
        response.set_rcode(dns.rcode.NXDOMAIN)
    return response.to_wire()


@pytest.fixture
def resolver() -> Iterator[DnsResolver]:
    """A resolver whose only name server answers from RECORDS, and never for `silent.example`."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as server:
        server.bind(("127.0.0.1", 0))

        def serve() -> None:
            while True:
                wire, client = server.recvfrom(4096)
                if wire == b"stop":
                    return
                if b"silent" not in wire:
                    server.sendto(_answer(wire), client)

        thread = threading.Thread(target=serve)
        thread.start()
        host, port = server.getsockname()
        yield DnsResolver([host], port, seconds=0.3)
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as end:
            end.sendto(b"stop", (host, port))
        thread.join()


def test_records_in_presentation_form(resolver: DnsResolver) -> None:
    """TXT strings are joined, the other kinds stand as a zone file has them."""
    assert resolver.lookup("long.example", "TXT") == ("v=spf1 ip4:192.0.2.1 -all",)
    assert resolver.lookup("a.example.", "A") == ("192.0.2.7",)
    assert resolver.lookup("mx.example", "MX") == ("10 mail.mx.example.",)
    assert resolver.lookup("7.2.0.192.in-addr.arpa", "PTR") == ("host.example.",)


def test_nothing_there_is_no_failure(resolver: DnsResolver) -> None:
    """No such name and no such record are empty answers."""
    assert resolver.lookup("nowhere.example", "TXT") == ()
    assert resolver.lookup("empty.example", "A") == ()


@pytest.mark.parametrize("name", ["x" * 70 + ".example", "a..example", "x." * 130 + "example", ""])
def test_impossible_names_are_no_outage(resolver: DnsResolver, name: str) -> None:
    """A name that cannot exist has no records: a sender cannot feign an outage with one."""
    assert resolver.lookup(name, "TXT") == ()


@pytest.mark.parametrize("name", ["broken.example", "silent.example"])
def test_failures_are_failures(resolver: DnsResolver, name: str) -> None:
    """SERVFAIL and silence raise DnsFailed, so that nobody takes them for an empty answer."""
    with pytest.raises(DnsFailed):
        resolver.lookup(name, "TXT")
