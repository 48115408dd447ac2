"""What is worked out once a process is the same for each deployment, and nothing else of one reaches another."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import certifi
import httpx
import httpx2
import numpy as np
import pytest
from fastapi import APIRouter

from services.core.web import make_app
from services.memory.multilingual import Multilingual
from tests.support import once
from tests.support.once import worked_out_once


def router_of(name: str, usual: int = 1) -> APIRouter:
    """The routes of a deployment of this name."""
    router = APIRouter()

    @router.get("/doubled/{number}")
    async def doubled(number: int, times: int = usual) -> dict[str, int]:
        return {name: 2 * number * times}

    return router


async def answers(router: APIRouter) -> list[object]:
    """What the route says, and what it says to a number that is none."""
    transport = httpx.ASGITransport(make_app([router]))
    async with httpx.AsyncClient(transport=transport, base_url="http://deployment") as client:
        return [(await client.get("/doubled/4")).json(), (await client.get("/doubled/four")).status_code]


async def test_a_route_is_analysed_once_and_answers_for_its_own_deployment() -> None:
    """The second has the parameters of the first and its own answer; with another default it is another route."""
    with worked_out_once():
        routers = router_of("first"), router_of("second"), router_of("third", usual=3)
    assert [await answers(one) for one in routers] == [[{"first": 8}, 422], [{"second": 8}, 422], [{"third": 24}, 422]]
    first, second, third = (one.routes[0].response_field for one in routers)  # type: ignore[attr-defined]
    assert first is second
    assert first is not third


def test_a_text_that_comes_again_has_its_vector_and_nobody_changes_it() -> None:
    """In whatever order and company it comes: as the model gives it, and each time another array."""
    model, texts = Multilingual(), ["Where is my invoice?", "The export stops."]
    with worked_out_once():
        for vector in model.embed_now(texts):
            vector[:] = 0
        again = model.embed_now([*reversed(texts), texts[0]])
    assert set(texts) <= once._vectors.keys()
    alone = [model.embed_now([text])[0] for text in (*reversed(texts), texts[0])]
    assert all(np.dot(one, other) > 0.99 for one, other in zip(again, alone, strict=True))


@pytest.mark.parametrize("library", [httpx, httpx2], ids=["httpx", "httpx2"])
def test_whom_a_client_trusts_is_read_once_and_again_where_it_says_another(
    library: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two clients have one context; whoever trusts nobody, a file of their own, or other ones by the environment, do not."""

    def context(**said: Any) -> Any:
        return library.AsyncClient(**said)._transport._pool._ssl_context

    with worked_out_once():
        usual = context()
        assert context() is usual
        mine = library.create_ssl_context(verify=False)
        assert context(verify=mine) is mine
        assert context(verify=False) is not usual
        (tmp_path / "ca.pem").write_text(Path(certifi.where()).read_text(encoding="utf-8"), encoding="utf-8")
        monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "ca.pem"))
        assert context() not in (usual, mine)
        assert context(trust_env=False) not in (usual, mine)
