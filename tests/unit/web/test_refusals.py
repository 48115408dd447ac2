"""How the OpenAPI document says refusals."""

from __future__ import annotations

from fastapi import APIRouter, FastAPI
from fastapi.routing import APIRoute

from services.web.refusals import REFUSALS


def test_a_start_made_a_validator_for_each_status_of_each_route() -> None:
    """The document says the shape of every refusal, and one validator a route is enough for that."""
    router, app = APIRouter(responses=REFUSALS), FastAPI()

    @router.get("/thing")
    async def thing() -> None: ...

    app.include_router(router)
    [route] = [one for one in router.routes if isinstance(one, APIRoute)]
    assert len(route.response_fields) == 1
    document = app.openapi()
    shape = {"application/json": {"schema": {"$ref": "#/components/schemas/NotGranted"}}}
    said = document["paths"]["/thing"]["get"]["responses"]
    assert [said[str(status)]["content"] for status in REFUSALS] == [shape] * len(REFUSALS)
    assert document["components"]["schemas"]["NotGranted"]["required"] == ["error", "message"]
