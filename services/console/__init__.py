"""Where people meet the house: the REST API of participants and their memory, and of the knowledge base.

An edge: it consumes no topic and owns no table. Reads are queries; a wish goes to the topic of what it would change,
and learn_facts or learn_documents accepts or refuses it. Out: participant-events, document-events.
"""

import asyncio

from services.console.routes import routes
from services.core.bus.processor import Edge
from services.core.house import House


async def _run(house: House, stop: asyncio.Event) -> None:
    await stop.wait()


EDGE = Edge(name="console", run=_run, routes=routes)
