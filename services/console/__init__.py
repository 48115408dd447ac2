"""Where people meet the house: the REST API of participants and their memory.

An edge: it consumes no topic and owns no table. Reads are queries; a wish goes to the participant's topic, and
learn_facts accepts or refuses it. Out: participant-events.
"""

import asyncio

from services.console.routes import routes
from services.core.bus.processor import Edge
from services.core.house import House


async def _run(house: House, stop: asyncio.Event) -> None:
    await stop.wait()


EDGE = Edge(name="console", run=_run, routes=routes)
