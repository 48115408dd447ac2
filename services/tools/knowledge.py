"""Handing documents in to the knowledge base."""

from __future__ import annotations

from uuid import UUID, uuid5

from schemas.events.memory import DocumentSubmitted
from services.core.bus.envelope import first
from services.core.bus.runner import enter
from services.core.house import House
from services.core.ids import document_id


async def submit(
    house: House, content: bytes, *, origin: str, title: str, by: str, media_type: str = "text/markdown"
) -> UUID:
    """Put a document on the log; the same content from the same origin is one event. The document's id."""
    workspace = house.settings.workspace
    blob = await house.blobs.put(content)
    data = DocumentSubmitted(
        document_id=document_id(workspace, origin), title=title, origin=origin, media_type=media_type, blob=blob, by=by
    )
    event_id = uuid5(data.document_id, blob)
    await enter(house, first(data, id=event_id, source="console", time=house.now(), workspace=workspace))
    return data.document_id
