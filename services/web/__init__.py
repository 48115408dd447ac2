"""The REST API of threads, drafts, participants and their memory, and the knowledge base; and the console, its pages.

An edge: it consumes no topic and owns no table. Reads are queries; a request goes to the topic of what it would change,
and that topic's owner accepts or refuses it. Out: thread-events, deliveries, participant-events, document-events.
"""

import asyncio
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from services.core.app import App
    from services.core.bus.processor import Edge

    EDGE: Edge


async def _run(app: "App", stop: asyncio.Event) -> None:
    await stop.wait()


def __getattr__(name: str) -> Any:
    """The edge is made for a process that serves it: a command, which reads the same tables, needs no web server."""
    if name != "EDGE":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from services.core.bus.processor import Edge
    from services.web.routes import served
    from services.web.webhooks import documented

    globals()["EDGE"] = Edge(name="web", run=_run, routes=served, calls=documented)
    return globals()["EDGE"]
