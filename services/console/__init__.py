"""Where people meet the house: the REST API of participants and their memory, and of the knowledge base.

An edge: it consumes no topic and owns no table. Reads are queries; a wish goes to the topic of what it would change,
and learn_facts or learn_documents accepts or refuses it. Out: participant-events, document-events.
"""

import asyncio
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from services.core.bus.processor import Edge
    from services.core.house import House

    EDGE: Edge


async def _run(house: "House", stop: asyncio.Event) -> None:
    await stop.wait()


def __getattr__(name: str) -> Any:
    """The edge is made for a process that serves it: a command, which reads the same tables, needs no web server."""
    if name != "EDGE":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from services.console.routes import routes
    from services.core.bus.processor import Edge

    globals()["EDGE"] = Edge(name="console", run=_run, routes=routes)
    return globals()["EDGE"]
