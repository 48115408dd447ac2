"""A TCP proxy that can fail: put it between a client and a server, then cut, pause or refuse what goes through.

It listens on one loopback port for its whole life, so that a client that calls again meets the fault or its end. All
of it runs in one event loop. A Kafka client leaves the proxy for the address that the broker advertises: start the
stack with `kafka_advertised` set to the proxy's address, whose port is then chosen first (`listen`).
"""

from __future__ import annotations

import asyncio
import socket
import struct
from types import TracebackType
from typing import Self

CHUNK = 65_536  # bytes
RESET = struct.pack("ii", 1, 0)  # linger for no time: closing sends RST, not FIN


class FaultProxy:
    """Forwards to `host:port`; an asynchronous context manager, whose own address is `address`."""

    def __init__(self, host: str, port: int, *, listen: int = 0) -> None:
        self.port = listen
        self._target = (host, port)
        self._flowing = asyncio.Event()
        self._flowing.set()
        self._refusing = False
        self._links: dict[asyncio.Task[None], list[asyncio.StreamWriter]] = {}
        self._server: asyncio.Server | None = None

    @property
    def address(self) -> str:
        """`host:port` for the client."""
        return f"127.0.0.1:{self.port}"

    @property
    def connections(self) -> int:
        """How many connections are open now."""
        return len(self._links)

    def cut(self) -> None:
        """Reset all open connections, at both ends; new ones are let through."""
        for link, ends in self._links.items():
            for end in ends:
                _reset(end)
            link.cancel()

    def pause(self) -> None:
        """Let no byte through, in either direction, and keep connections open: a network that hangs."""
        self._flowing.clear()

    def refuse(self) -> None:
        """Cut, and reset each new connection at once, until `resume`."""
        self._refusing = True
        self.cut()

    def resume(self) -> None:
        """End `pause` and `refuse`; what was held back arrives now."""
        self._refusing = False
        self._flowing.set()

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", self.port)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._server is not None
        self._server.close()
        self.cut()
        await asyncio.gather(*self._links, return_exceptions=True)

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self._refusing:
            _reset(writer)
            return
        link = asyncio.current_task()
        assert link is not None
        self._links[link] = [writer]
        try:
            server, to_server = await asyncio.open_connection(*self._target)
            self._links[link].append(to_server)
            await asyncio.gather(self._pump(reader, to_server), self._pump(server, writer))
        except (OSError, asyncio.CancelledError):
            _reset(writer)
        finally:
            for end in self._links.pop(link):
                end.close()

    async def _pump(self, source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
        """Move bytes until the source ends; then the sink learns of the end, too."""
        while data := await source.read(CHUNK):
            await self._flowing.wait()
            sink.write(data)
            await sink.drain()
        await self._flowing.wait()
        if not sink.is_closing():
            sink.write_eof()


def _reset(writer: asyncio.StreamWriter) -> None:
    if not writer.is_closing():
        writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
    writer.transport.abort()
