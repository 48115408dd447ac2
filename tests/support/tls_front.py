"""TLS in front of a server that has none: the servers of the embedded stack are built without it.

The client speaks real TLS with a certificate of the test's; behind it the bytes go to the real server. Postgres' clients
ask for TLS in clear first (SSLRequest), which is answered here as a Postgres with `ssl=on` does.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

from deploy.local.ports import HOST

SSL_REQUEST = b"\x00\x00\x00\x08\x04\xd2\x16\x2f"
CHUNK = 65_536  # bytes


@asynccontextmanager
async def tls_front(
    target: tuple[str, int], certificate: tuple[Path, Path], *, postgres: bool = False
) -> AsyncIterator[int]:
    """The port of a front with this certificate and key, for the block. Without TLS it lets nobody through."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*certificate)

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError, asyncio.IncompleteReadError, asyncio.CancelledError):  # cut with the test
            if postgres:
                if await reader.readexactly(len(SSL_REQUEST)) != SSL_REQUEST:
                    writer.close()
                    return
                writer.write(b"S")
                await writer.drain()
                await writer.start_tls(context)
            behind_reader, behind_writer = await asyncio.open_connection(*target)
            await asyncio.gather(_pump(reader, behind_writer), _pump(behind_reader, writer))

    server = await asyncio.start_server(serve, HOST, 0, ssl=None if postgres else context)
    async with server:
        yield server.sockets[0].getsockname()[1]
        server.close()


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while chunk := await reader.read(CHUNK):
            writer.write(chunk)
            await writer.drain()
    writer.close()
