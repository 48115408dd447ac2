"""How a request is refused over HTTP, or not decided yet, as the OpenAPI document says it of each route."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict

# How long a request waits for the decision of the processor that it asks; then it says that nothing is decided yet.
WAIT_S = 5.0


class NotGranted(BaseModel):
    """Why a request was not granted; some say more, such as what came meanwhile."""

    model_config = ConfigDict(extra="allow")

    error: str  # a code for programs
    message: str  # words for people


# FastAPI makes a validator for each status of each route that has a model, and that was most of a start: one status has
# it, so that the document defines it, and the others refer to it.
_SHAPE: dict[str, Any] = {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/NotGranted"}}}}
REFUSALS: dict[int | str, dict[str, Any]] = {
    status: {"description": said, **({"model": NotGranted} if status == 422 else _SHAPE)}
    for status, said in (
        (400, "The cursor leads to no page of this list."),
        (401, "The token is missing, or is nobody's."),
        (403, "The token is not for this."),
        (404, "There is no such thing."),
        (408, "The body took too long."),
        (409, "It does not fit what stands now; look again."),
        (413, "The body is too large."),
        (422, "The request cannot be read so."),
        (429, "Too many requests; try again later."),
        (500, "The fault is ours."),
        (503, "It is not decided yet, or something we need does not answer; send the same again later."),
    )
}
PENDING: dict[int | str, dict[str, Any]] = {
    202: {"description": "The request is on the log, and not decided yet: do not ask again, look again."}
}
