"""Every GET of the API with text that nobody should send: an answer in words, never "the fault is ours"."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
import pytest

from deploy.local import Endpoints
from services.core.web import make_app
from services.web.routes import routes
from tests.support.remembering import ADA, Memory, fact, remembering

HOSTILE = {
    "a NUL": "%00",
    "a NUL in a word": "pl%00an",
    "no UTF-8": "%ff%fe",
    "half a surrogate pair": "%ED%A0%80",
    "10,000 characters": "x" * 10_000,
    "10,000 digits": "9" * 10_000,
    "a text search that is none": quote("'; & | ! :* <-> \\ \""),
    "the first moment": quote("0001-01-01T00:00:00+14:00"),
    "the last moment": quote("9999-12-31T23:59:59-14:00"),
    "below zero": "-1",
    "nothing": "",
}
USUAL = {"who": ADA, "q": "plan", "at": "2026-01-06T00:00:00Z"}
Operation = dict[str, Any]


@pytest.fixture
async def memory(stack: Endpoints, database: str, topic_prefix: str, tmp_path: Path) -> AsyncIterator[Memory]:
    async with remembering(stack, database, topic_prefix, tmp_path, web={"api_token": "tok"}) as one:
        await one.tell("We are on the Team plan.", fact("plan", "Team", "on the Team plan"), on=1)
        yield one


def usual(parameter: dict[str, Any]) -> str:
    """A value that the parameter takes."""
    name = parameter["name"]
    return quote(USUAL.get(name, "00000000-0000-4000-8000-000000000000"))


def asking(path: str, operation: Operation, hostile: str) -> Iterator[str]:
    """The route with a hostile value in each of its parameters in turn, and in one that it does not have."""
    parameters = operation.get("parameters", [])
    needed = [one for one in parameters if one["in"] == "path" or one.get("required")]
    for meant in (*parameters, {"name": "unheard_of", "in": "query"}):
        values = {one["name"]: usual(one) for one in needed} | {meant["name"]: hostile}
        query = [one["name"] for one in (*needed, meant) if one["in"] == "query"]
        filled = path.format(**{name: value for name, value in values.items() if name not in query})
        yield f"{filled}?{'&'.join(f'{name}={values[name]}' for name in dict.fromkeys(query))}"


async def test_a_nul_in_a_path_or_query_was_the_fault_of_the_deployment(memory: Memory) -> None:
    """No route answers 5xx whatever it is asked, an error says so in words, and a NUL is refused everywhere."""
    web_app = make_app([routes(memory.app)])
    reads = {
        path: one["get"] for path, one in web_app.openapi()["paths"].items() if path[:5] == "/api/" and "get" in one
    }
    assert len(reads) > 15
    asked = {
        (what, address)
        for what, hostile in HOSTILE.items()
        for path, operation in reads.items()
        for address in asking(path, operation, hostile)
    }
    transport = httpx.ASGITransport(web_app, raise_app_exceptions=False)
    headers = {"authorization": "Bearer tok"}
    async with httpx.AsyncClient(transport=transport, base_url="http://deployment", headers=headers) as api:
        answers = [(what, address[:200], await api.get(address)) for what, address in sorted(asked)]
    assert [(what, address, answer.text) for what, address, answer in answers if answer.status_code >= 500] == []
    errors = [answer.json() for _, _, answer in answers if answer.status_code >= 400]
    assert all(set(one) == {"error", "message"} for one in errors)
    assert {answer.status_code for what, _, answer in answers if "NUL" in what} == {422}
