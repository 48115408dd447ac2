"""The graph is the facts: an edge is there while its fact is, and nowhere else."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest

from deploy.local import Endpoints
from services.core.web import make_app
from services.operations.memory.graph import Graph, graph_of
from services.operations.memory.people import find_person
from services.web.routes import routes
from tests.support.remembering import ADA, Memory, day, fact, remembering

TOKEN = "a token for tests"
BO = "bo@birch.example"


@pytest.fixture
async def memory(stack: Endpoints, database: str, topic_prefix: str, tmp_path: Path) -> AsyncIterator[Memory]:
    async with remembering(stack, database, topic_prefix, tmp_path, web={"api_token": TOKEN}) as memory:
        yield memory


async def _graph(memory: Memory, who: str = ADA, **given: object) -> Graph:
    async with memory.app.database.transaction(memory.workspace) as conn:
        one = await find_person(conn, memory.workspace, who)
        return await graph_of(conn, memory.workspace, one, now=day(30), **given)  # type: ignore[arg-type]


def _said(graph: Graph) -> list[tuple[str, str]]:
    return sorted((edge.predicate, edge.object) for edge in graph.own)


async def test_an_update_left_the_old_edge(memory: Memory) -> None:
    """Who changes their plan is on one, now; as of before the change, on the former."""
    await memory.tell("We are on the Team plan.", fact("plan", "Team", "We are on the Team plan"), on=1)
    await memory.tell(
        "We moved to the Enterprise plan.", fact("plan", "Enterprise", "We moved to the Enterprise plan"), on=5
    )
    assert _said(await _graph(memory)) == [("plan", "Enterprise")]
    assert _said(await _graph(memory, at=day(3))) == [("plan", "Team")]


async def test_what_was_forgotten_kept_its_edge(memory: Memory) -> None:
    """An edge goes with the fact that it is."""
    await memory.tell("I work at Acme.", fact("company", "Acme", "I work at Acme", kind="identity"), on=1)
    (edge,) = (await _graph(memory)).own
    await memory.ask("forget", 2, fact_id=edge.fact_id)
    assert (await _graph(memory)).own == []


async def test_what_had_expired_kept_its_edge(memory: Memory) -> None:
    """An edge ends with the last day of its fact, with no word from anybody; as of a day before it is there."""
    ended = fact("plan", "Trial", "on the Trial plan until 15 January", valid_to="2026-01-15")
    await memory.tell("We are on the Trial plan until 15 January.", ended, on=1)
    assert _said(await _graph(memory)) == []
    assert _said(await _graph(memory, at=day(5))) == [("plan", "Trial")]


async def test_others_are_found_by_what_both_name_and_stay_themselves(memory: Memory) -> None:
    """Two people of one company are connected through it; people of one name are nobody but themselves."""
    works = fact("company", "Acme", "I work at Acme", kind="identity")
    await memory.tell("I work at Acme.", works, on=1)
    await memory.tell("I work at Acme.", works, on=2, sender=f"Ada Lee <{BO}>")
    found = await _graph(memory)
    (other,) = found.others
    assert (other.participant_id, other.predicate, other.object) == (memory.person(BO), "company", "Acme")
    await memory.tell("I work at Birch.", fact("company", "Birch", "I work at Birch", kind="identity"), on=3, sender=BO)
    assert (await _graph(memory)).others == []


async def test_only_what_the_mail_names_is_looked_up(memory: Memory) -> None:
    """`about` keeps the edges that name a thing, or have a key."""
    await memory.tell(
        "I work at Acme. We use Okta.",
        fact("company", "Acme", "I work at Acme", kind="identity"),
        fact("uses okta", "Okta", "We use Okta"),
        on=1,
    )
    assert _said(await _graph(memory, about="okta")) == [("uses okta", "Okta")]
    assert _said(await _graph(memory, about="company")) == [("company", "Acme")]


async def test_over_http_the_graph_is_read_with_its_ways_to_others_and_not_without_a_token(memory: Memory) -> None:
    """The person's edges, those of others to the same thing, only what is asked `about`, and as of a day the former."""
    works = fact("company", "Acme", "I work at Acme", kind="identity")
    await memory.tell("I work at Acme.", works, on=1)
    await memory.tell("I work at Acme.", works, on=2, sender=f"Bo Birch <{BO}>")
    await memory.tell("We are on the Team plan.", fact("plan", "Team", "We are on the Team plan"), on=3)
    await memory.tell("We moved to the Pro plan.", fact("plan", "Pro", "We moved to the Pro plan"), on=5)
    transport = httpx.ASGITransport(make_app([routes(memory.app)]), raise_app_exceptions=False)
    path, headers = f"/api/participants/{ADA}/graph", {"authorization": f"Bearer {TOKEN}"}
    async with httpx.AsyncClient(transport=transport, base_url="http://deployment") as api:
        assert (await api.get(path)).status_code == 401
        whole = (await api.get(path, headers=headers)).json()
        former = (await api.get(path, headers=headers, params={"at": day(4).isoformat()})).json()
        plan = (await api.get(path, headers=headers, params={"about": "plan"})).json()
        assert (await api.get("/api/participants/nobody@x.example/graph", headers=headers)).status_code == 404
    assert sorted(edge["object"] for edge in whole["own"]) == ["Acme", "Pro"]
    assert [(edge["subject"], edge["object"]) for edge in whole["others"]] == [("Bo Birch", "Acme")]
    assert sorted(edge["object"] for edge in former["own"]) == ["Acme", "Team"]
    assert [edge["object"] for edge in plan["own"]] == ["Pro"]
    assert (former["others"], plan["others"]) == ([], [])
