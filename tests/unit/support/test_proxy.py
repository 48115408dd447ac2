"""The fault proxy, with an echoing server behind it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from tests.support.proxy import FaultProxy


@pytest.fixture
async def proxy() -> AsyncIterator[FaultProxy]:
    async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while data := await reader.read(1000):
                writer.write(data)
        except ConnectionError:
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(echo, "127.0.0.1", 0)
    async with server, FaultProxy("127.0.0.1", server.sockets[0].getsockname()[1]) as proxy:
        yield proxy


class Caller:
    """A client with one connection."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader, self.writer = reader, writer

    @classmethod
    async def connect(cls, proxy: FaultProxy) -> Caller:
        return cls(*await asyncio.open_connection("127.0.0.1", proxy.port))

    async def hear(self, word: bytes) -> bytes:
        self.writer.write(word)
        return await self.reader.readexactly(len(word))


async def test_bytes_go_through_unchanged(proxy: FaultProxy) -> None:
    """What is sent comes back whole, more than one chunk of it too."""
    caller = await Caller.connect(proxy)
    word = bytes(range(256)) * 2000
    assert await caller.hear(word) == word
    assert proxy.connections == 1


async def test_the_end_of_one_side_reaches_the_other(proxy: FaultProxy) -> None:
    """A client that closes its half still gets the answer, and then the end."""
    caller = await Caller.connect(proxy)
    caller.writer.write(b"last words")
    caller.writer.write_eof()
    assert await caller.reader.read() == b"last words"


async def test_cut_resets_open_connections_only(proxy: FaultProxy) -> None:
    """An open connection is reset; the next one works."""
    caller = await Caller.connect(proxy)
    await caller.hear(b"hello")
    proxy.cut()
    with pytest.raises(ConnectionResetError):
        await caller.reader.read()
    assert await (await Caller.connect(proxy)).hear(b"again") == b"again"


async def test_pause_holds_bytes_back_until_resume(proxy: FaultProxy) -> None:
    """While paused nothing arrives, on connections old and new; afterwards all of it does, in order."""
    callers = [await Caller.connect(proxy)]
    await callers[0].hear(b"hello")
    proxy.pause()
    callers.append(await Caller.connect(proxy))
    answers = [asyncio.create_task(caller.hear(b"word")) for caller in callers]
    done, _ = await asyncio.wait(answers, timeout=0.2)
    assert not done
    proxy.resume()
    assert await asyncio.gather(*answers) == [b"word", b"word"]


async def test_a_paused_connection_can_be_cut(proxy: FaultProxy) -> None:
    """A hang that ends in a reset leaves no connection behind."""
    caller = await Caller.connect(proxy)
    await caller.hear(b"hello")
    proxy.pause()
    caller.writer.write(b"never heard")
    await asyncio.sleep(0.05)
    proxy.cut()
    with pytest.raises(ConnectionResetError):
        await caller.reader.read()
    assert proxy.connections == 0


async def test_refuse_resets_new_connections_until_resume(proxy: FaultProxy) -> None:
    """Old connections are cut, new ones reset at once, and after `resume` they work on the same port."""
    caller = await Caller.connect(proxy)
    await caller.hear(b"hello")
    proxy.refuse()
    with pytest.raises(ConnectionResetError):
        await caller.reader.read()
    with pytest.raises((ConnectionResetError, asyncio.IncompleteReadError)):
        await (await Caller.connect(proxy)).hear(b"refused")
    proxy.resume()
    assert await (await Caller.connect(proxy)).hear(b"again") == b"again"


async def test_a_server_that_is_down_looks_down(proxy: FaultProxy) -> None:
    """When nobody listens behind the proxy, its client is reset."""
    async with FaultProxy("127.0.0.1", 1) as dead:
        with pytest.raises((ConnectionResetError, asyncio.IncompleteReadError)):
            await (await Caller.connect(dead)).hear(b"anyone?")
