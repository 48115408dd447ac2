"""Schemathesis asks what the OpenAPI document says may be asked: every answer is one that the document names, in its shape."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any

import httpx
import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from schemathesis.checks import not_a_server_error
from schemathesis.core.failures import FailureGroup
from schemathesis.core.result import Ok
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from deploy.local import Endpoints
from tests.support.beginning import after
from tests.support.chromium import served_here
from tests.support.tending import Tended, tending

TOKEN = "a token for tests"
CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
]
MOST = 50  # requests of one operation: some hundred operations take minutes then, not hours
JSON_NUMBER = {"application/json": {"schema": {"type": "number"}}}
LISTS = {  # where the id of something that is there is read, by the name that paths give it
    "who": ("/api/participants", "participant_id"),
    "thread_id": ("/api/threads", "thread_id"),
    "reply_id": ("/api/drafts", "reply_id"),
    "endpoint_id": ("/api/webhooks", "endpoint_id"),
}


async def held(one: Tended) -> None:
    """Two people's mails, whose replies wait."""
    await one.write("The CSV export stops after 500 rows. We are on the Team plan.")
    await one.write("My name is Grace. Please write to me in German.")


@pytest.fixture
async def place(stack: Endpoints, template_database: str, topic_prefix: str, tmp_path: Path) -> AsyncIterator[str]:
    """A deployment at work that holds something of everything, and where it answers."""
    said = {
        "web": {"api_token": TOKEN, "requests_per_minute": 100_000},
        "send": {"approval": "review"},
        "outgoing_webhooks": {"private_hosts": True},
    }
    async with (
        after(held, tending, stack, template_database, topic_prefix, tmp_path, **said) as one,
        one.at_work(),
        served_here(one.app) as address,
    ):
        yield address


async def known_ids(api: httpx.AsyncClient) -> dict[str, str]:
    """An id of each kind that the deployment holds, after something of each was added."""
    await api.post("/api/webhooks", json={"url": "http://127.0.0.1:9/in", "by": "grace"})
    found = {}
    for name, (path, field) in LISTS.items():
        rows = (await api.get(path)).json()
        if rows:
            found[name] = str(rows[0][field])
    return found


def faults(document: dict[str, Any], place: str, ids: Mapping[str, str], examples: int) -> list[str]:
    """What answers differ in from the document, each difference of an operation once."""
    found: list[str] = []
    for result in schemathesis.openapi.from_dict(document).get_all_operations():
        assert isinstance(result, Ok)
        operation = result.ok()
        known = {name: one for name, one in ids.items() if f"{{{name}}}" in operation.path}
        found += _asked(operation, place, known, examples)
    return found


def _asked(operation: Any, place: str, known: Mapping[str, str], examples: int) -> list[str]:
    found: dict[str, str] = {}
    turns = itertools.cycle(({}, known))  # an id that is nothing's, then one of something that is there

    @settings(max_examples=examples, suppress_health_check=list(HealthCheck), database=None)
    @given(case=operation.as_strategy())
    def ask(case: Any) -> None:
        case.path_parameters.update(next(turns))
        answer = case.call(base_url=place, headers={"authorization": f"Bearer {TOKEN}"})
        try:
            case.validate_response(answer, checks=CHECKS)
        except FailureGroup as group:
            for one in group.exceptions:
                found.setdefault(str(one), f"{operation.label}: {one}\n{case.as_curl_command()}\n{answer.text[:300]}")

    ask()
    return list(found.values())


async def looked_for(
    place: str, examples: int, *, only: Mapping[str, Any] | None = None, reads: bool = False
) -> list[str]:
    """What is found with so many examples of each operation; every second has an id that is there, where one is named.

    `only`: the paths in place of the document's own. `reads`: no operation is asked that may change something.
    """
    async with httpx.AsyncClient(base_url=place, headers={"authorization": f"Bearer {TOKEN}"}) as api:
        document, ids = (await api.get("/openapi.json")).json(), await known_ids(api)
    assert set(ids) == set(LISTS)
    paths = only or document["paths"]
    if reads:
        paths = {path: {"get": said["get"]} for path, said in paths.items() if "get" in said}
    document["paths"] = paths
    return await asyncio.to_thread(faults, document, place, ids, examples)


async def test_every_answer_of_what_reads_is_as_the_document_says(place: str) -> None:
    """No operation that reads answers with a fault of ours, a status that is not named, or a shape that is not described."""
    wrong = await looked_for(place, 2, reads=True)
    assert not wrong, "\n\n".join(wrong)


@pytest.mark.slow
@pytest.mark.timeout(1200)
async def test_every_answer_is_as_the_document_says(place: str) -> None:
    """The same of every operation: half as many requests of each as of other properties, but no more than `MOST`."""
    wrong = await looked_for(place, min(MOST, settings().max_examples // 2))
    assert not wrong, "\n\n".join(wrong)


async def test_what_the_document_does_not_say_is_found(place: str) -> None:
    """A status and a shape that an operation answers with and its document lacks are each found."""
    none = {"get": {"responses": {"204": {"description": "Nothing."}}}}
    shape = {"get": {"responses": {"200": {"description": "A number.", "content": JSON_NUMBER}}}}
    (status,) = await looked_for(place, 1, only={"/api/webhooks/types": none})
    (wrong,) = await looked_for(place, 1, only={"/api/webhooks/types": shape})
    assert "Undocumented status code" in status
    assert "is not of type" in wrong
