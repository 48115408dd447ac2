"""Fetching a page: from public addresses alone, within limits, and with words for what goes wrong."""

from __future__ import annotations

import asyncio
import gzip
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import pytest

from services.core.public_hosts import is_public
from services.core.settings import KnowledgeSettings
from services.operations.knowledge.pages import Fetched, FetchRefused, fetch

PAGE = b"<html><body>Hello</body></html>"
LOCAL = KnowledgeSettings(private_hosts=True, fetch_s=3, redirects=2, max_document_mb=0.001)


def answer(status: str, *headers: str, body: bytes = b"") -> bytes:
    head = "\r\n".join([f"HTTP/1.1 {status}", f"content-length: {len(body)}", "connection: close", *headers])
    return head.encode() + b"\r\n\r\n" + body


@asynccontextmanager
async def server(answers: dict[str, bytes], *, hangs: bool = False) -> AsyncIterator[str]:
    """A web server that answers each path with fixed bytes; its address."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        request = await reader.readuntil(b"\r\n\r\n")
        writer.write(answers.get(request.split()[1].decode(), answer("404 Not Found")))
        await writer.drain()
        if hangs:
            await asyncio.sleep(30)
        writer.close()

    listening = await asyncio.start_server(serve, "127.0.0.1", 0)
    port = listening.sockets[0].getsockname()[1]
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        listening.close()


async def test_a_page_comes_with_its_kind_and_the_address_it_was_found_at() -> None:
    """Redirects are followed, relative ones too."""
    pages = {
        "/a": answer("302 Found", "location: /b"),
        "/b": answer("200 OK", "content-type: text/html; charset=x", body=PAGE),
    }
    async with server(pages) as here:
        assert await fetch(f"{here}/a", LOCAL) == Fetched(PAGE, "text/html", f"{here}/b")


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("/gone", "answers 404 Not Found"),
        ("/picture", "is image/png, which is not read"),
        ("/large", "is larger than 0.001 MB"),
        ("/packed", "comes encoded as gzip"),
        ("/round", "redirects more than 2 times"),
        ("/file", "is no plain http or https address"),
        ("/nothing", "cannot be fetched"),
    ],
)
async def test_what_cannot_be_had_is_said_in_words(path: str, said: str) -> None:
    """Another kind, a large one, a bomb, a circle, a way out of the web, no answer at all."""
    pages = {
        "/picture": answer("200 OK", "content-type: image/png", body=b"x"),
        "/large": answer("200 OK", "content-type: text/html", body=b"x" * 5000),
        "/packed": answer(
            "200 OK", "content-type: text/html", "content-encoding: gzip", body=gzip.compress(bytes(9**6))
        ),
        "/round": answer("301 Moved", "location: /round"),
        "/file": answer("301 Moved", "location: file:///etc/passwd"),
        "/nothing": b"",
    }
    async with server(pages) as here:
        with pytest.raises(FetchRefused, match=said):
            await fetch(here + path, LOCAL)


async def test_a_slow_server_is_left() -> None:
    """The limit holds for the whole of it, however the server drips."""
    async with server(
        {"/": b"HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: 10\r\n\r\nx"}, hangs=True
    ) as here:
        with pytest.raises(FetchRefused, match=r"takes longer than 0\.3 s"):
            await fetch(here, LOCAL.model_copy(update={"fetch_s": 0.3}))


async def test_a_private_address_is_refused_before_anything_is_asked() -> None:
    """Also where a public page, or a name, leads there."""
    limits = LOCAL.model_copy(update={"private_hosts": False})
    async with server({"/": answer("200 OK", body=PAGE)}) as here:
        with pytest.raises(FetchRefused, match=r"which is not public; knowledge\.private_hosts"):
            await fetch(here, limits)
    with pytest.raises(FetchRefused, match=r"intranet is at 10\.0\.0\.5, which is not public"):
        await fetch("http://intranet/", limits, resolver=found("93.184.216.34", "10.0.0.5"))
    with pytest.raises(FetchRefused, match="there is no host named"):
        await fetch("http://nowhere.invalid/", limits, resolver=nobody)


async def test_the_address_that_was_checked_is_the_one_that_is_asked() -> None:
    """A name is looked up once: what it would lead to a moment later does not matter."""
    async with server({"/": answer("200 OK", "content-type: text/plain", body=b"Hello")}) as here:
        port = here.rpartition(":")[2]
        page = await fetch(f"http://once.example:{port}/", LOCAL, resolver=found("127.0.0.1"))
    assert page.content == b"Hello"


@pytest.mark.parametrize("address", ["http://user:pw@a.example/", "https:///x", "http://[::1", "gopher://a.example"])
async def test_an_odd_address_is_refused(address: str) -> None:
    """Credentials, no host, broken brackets, another protocol."""
    with pytest.raises(FetchRefused):
        await fetch(address, LOCAL, resolver=found("93.184.216.34"))


@pytest.mark.parametrize(
    ("address", "public"),
    [
        ("93.184.216.34", True), ("2606:2800:220:1::1", True), ("127.0.0.1", False), ("10.1.2.3", False),
        ("169.254.169.254", False), ("100.64.0.1", False), ("0.0.0.0", False), ("224.0.0.1", False), ("::1", False),
        ("fe80::1%eth0", False), ("fd00::1", False), ("::ffff:127.0.0.1", False), ("2002:7f00:1::", False),
        ("64:ff9b::7f00:1", False), ("64:ff9b::5db8:d822", True), ("::7f00:1", False), ("::a9fe:a9fe", False),
        ("64:ff9b:1::7f00:1", False), ("64:ff9b:1:7f00:1::", False), ("::ffff:0:7f00:1", False),
        ("::ffff:0:a9fe:a9fe", False), ("::5db8:d822", False), ("2606:4700::1111", True),
    ],
)  # fmt: skip
def test_which_addresses_are_public(address: str, public: bool) -> None:
    """Loopback, private, link-local, shared and multicast are not, also when carried inside of IPv6."""
    assert is_public(address) is public


def found(*addresses: str) -> Callable[[str, int], Awaitable[list[str]]]:
    """A resolver that gives these addresses for every name."""

    async def resolve(host: str, port: int) -> list[str]:
        return list(addresses)

    return resolve


async def nobody(host: str, port: int) -> list[str]:
    raise OSError
