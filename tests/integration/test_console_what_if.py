"""What if: the draft that other rules would give, asked for from the screen or by a program, and kept nowhere."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import pytest

from deploy.local import Endpoints
from services.core.web import make_app
from services.model.port import Answer, Model, Request
from services.operations.what_if import A_MINUTE, LONGEST
from services.web.console.diffs import words_between
from services.web.routes import routes
from tests.support.beginning import after, answered
from tests.support.console import form, signed_in, text_of
from tests.support.tending import Tended, tending

TOKEN = "a token for tests only"
DISCLOSED = "I am an AI assistant."
NOT_COUNTED = ("console_audit", "console_sessions", "users")  # who looks signs in, and that a form was sent is recorded


@dataclass
class Listened:
    """The deployment's own model; what it is asked is noted, and it fails while `away`."""

    model: Model
    asked: list[Request] = field(default_factory=list)
    away: bool = False
    slow_s: float = 0.0

    async def ask(self, request: Request) -> Answer:
        await asyncio.sleep(self.slow_s)
        if self.away:
            raise TimeoutError("the model is away <b>now</b>")
        self.asked.append(request)
        return await self.model.ask(request)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.model, name)


@pytest.fixture
async def app(stack: Endpoints, template_database: str, topic_prefix: str, tmp_path: Path) -> AsyncIterator[Tended]:
    """A deployment whose agent has answered one mail."""
    changes: dict[str, Any] = {"web": {"api_token": TOKEN}}
    async with after(answered, tending, stack, template_database, topic_prefix, tmp_path, **changes) as one:
        model: Any = Listened(one.app.model)
        yield replace(one, app=replace(one.app, model=model))


def listened(app: Tended) -> Listened:
    """What the model was asked."""
    found: Any = app.app.model
    return found


async def address(app: Tended) -> str:
    (row,) = await app.rows("SELECT reply_id FROM deliveries WHERE state = 'sent'")
    return f"/replies/{row['reply_id']}/what-if"


async def everything(app: Tended) -> dict[str, int]:
    """How many rows each table has."""
    tables = await app.rows("SELECT tablename AS name FROM pg_tables WHERE schemaname = current_schema()")
    names = sorted(row["name"] for row in tables if row["name"] not in NOT_COUNTED)
    assert {"events", "checkpoints", "deliveries", "outbox"} & set(names)
    return {name: (await app.rows(f"SELECT count(*) AS rows FROM {name}"))[0]["rows"] for name in names}


async def test_other_rules_give_another_draft_and_nothing_of_it_is_kept(app: Tended) -> None:
    """Without the rule that has it disclosed, the model leaves it out: struck in the difference; no table has a row more."""
    async with signed_in(app.app) as grace:
        page = await grace.get(f"/console{await address(app)}")
        rules = form(page, "/what-if").fields["layer behaviours"]
        assert DISCLOSED in rules
        other = "\n".join(one for one in rules.splitlines() if DISCLOSED not in one)
        before = await everything(app)
        tried = await form(page, "/what-if").send(grace, **{"layer behaviours": other})
        assert tried.status_code == 200
        assert await everything(app) == before
    (struck,) = [one.partition("</del>")[0] for one in tried.text.split("<del>")[1:] if DISCLOSED in one]
    assert DISCLOSED in struck
    assert DISCLOSED not in tried.text.partition("The new one alone")[2].partition("</details>")[0]
    assert form(tried, "/what-if").fields["layer behaviours"] == other
    assert listened(app).asked, "a model was asked"


async def test_the_model_gets_what_was_typed_and_besides_the_context_of_that_day(app: Tended) -> None:
    """One layer is other words; what the customer wrote, memory and the rest are as they were."""
    async with signed_in(app.app) as grace:
        page = await grace.get(f"/console{await address(app)}")
        was = form(page, "/what-if").fields
        await form(page, "/what-if").send(grace, **{"layer persona": "You are a pirate. </persona> {{ 7 * 7 }}"})
    layers = {one.name: one for one in listened(app).asked[-1].layers}
    assert layers["persona"].text == "You are a pirate. </persona> {{ 7 * 7 }}"
    assert layers["behaviours"].text == was["layer behaviours"]
    assert "What does the Team plan cost?" in layers["mail"].text
    assert not layers["mail"].trusted


async def test_nothing_changed_is_said_so(app: Tended) -> None:
    """The offline model answers the same twice, and the page says that nothing was changed."""
    async with signed_in(app.app) as grace:
        page = await grace.get(f"/console{await address(app)}")
        tried = text_of(await form(page, "/what-if").send(grace))
    assert "Nothing was changed" in tried
    assert "Word for word what it wrote then." in tried


async def test_only_our_own_words_can_be_other_and_what_is_typed_is_text(app: Tended) -> None:
    """A layer of the customer's is not taken from a form, refused from a program; markup is shown and runs nothing."""
    hostile = "<script>alert(1)</script>"
    where = await address(app)
    async with signed_in(app.app) as grace:
        page = await grace.get(f"/console{where}")
        tried = await form(page, "/what-if").send(grace, **{"layer mail": "refund me", "layer persona": hostile})
        assert tried.status_code == 200
        assert hostile not in tried.text
        assert "refund me" not in str(listened(app).asked[-1].layers)
        long = await form(page, "/what-if").send(grace, **{"layer persona": "x" * (LONGEST + 1)})
        assert (long.status_code, "at most 20,000 characters" in text_of(long)) == (422, True)
        assert (await grace.get(f"/console/replies/{uuid4()}/what-if")).status_code == 404
    transport = httpx.ASGITransport(make_app([routes(app.app)]), raise_app_exceptions=False)
    asked = len(listened(app).asked)
    async with httpx.AsyncClient(
        transport=transport, base_url="http://deployment", headers={"authorization": f"Bearer {TOKEN}"}
    ) as api:
        refused = await api.post(f"/api{where}", json={"changed": {"mail": "refund me"}})
        assert (refused.status_code, refused.json()["error"]) == (422, "trial_refused")
        assert len(listened(app).asked) == asked
        taken = (await api.post(f"/api{where}", json={"changed": {"behaviours": "- Be brief."}})).json()
    assert DISCLOSED in taken["text"]
    assert DISCLOSED not in taken["would"]["text"]
    assert taken["would"]["usage"]["calls"] == len(listened(app).asked) - asked


async def test_who_may_not_answer_tries_nothing(app: Tended) -> None:
    """A viewer sees no link and gets no page; a form without its session's token is refused, and asks no model."""
    where = f"/console{await address(app)}"
    async with signed_in(app.app, "Vic", role="viewer") as vic, signed_in(app.app) as grace:
        (thread,) = await app.rows("SELECT thread_id FROM threads")
        page = await vic.get(f"/console/threads/{thread['thread_id']}")
        assert "/what-if" not in page.text
        assert "/what-if" in (await grace.get(f"/console/threads/{thread['thread_id']}")).text
        token = form(page, "/sign-out").fields["form_token"]
        assert (await vic.get(where)).status_code == 403
        assert (await vic.post(where, data={"form_token": token})).status_code == 403
        assert (await grace.post(where, data={"form_token": "forged"})).status_code == 403
    assert listened(app).asked == []


async def test_trials_have_a_bound_and_a_model_that_is_away_is_said(app: Tended) -> None:
    """So many a minute for each person; what was typed stays, and nothing of the error runs."""
    async with signed_in(app.app) as grace, signed_in(app.app, "Bob", role="agent") as bob:
        page = await grace.get(f"/console{await address(app)}")
        listened(app).away = True
        failed = await form(page, "/what-if").send(grace, **{"layer persona": "You are brief."})
        assert (failed.status_code, "the model did not decide" in text_of(failed)) == (503, True)
        assert "<b>now" not in failed.text
        assert form(failed, "/what-if").fields["layer persona"] == "You are brief."
        listened(app).away = False
        answers = [(await form(page, "/what-if").send(grace)).status_code for _ in range(A_MINUTE)]
        assert answers == [200] * (A_MINUTE - 1) + [429]
        own = form(await bob.get(f"/console{await address(app)}"), "/what-if")
        assert (await own.send(bob)).status_code == 200


async def test_a_model_that_takes_for_ever_holds_no_page(app: Tended, monkeypatch: pytest.MonkeyPatch) -> None:
    """All rounds together end after a time, which is said."""
    monkeypatch.setattr("services.generate_reply.trial.LONGEST_S", 0.05)
    listened(app).slow_s = 3600.0
    async with signed_in(app.app) as grace:
        page = await grace.get(f"/console{await address(app)}")
        failed = await form(page, "/what-if").send(grace)
    assert (failed.status_code, "it took too long" in text_of(failed)) == (503, True)


@pytest.mark.parametrize(
    ("before", "after", "runs"),
    [
        ("a b c", "a x c", [("same", "a "), ("out", "b"), ("in", "x"), ("same", " c")]),
        ("", "new", [("in", "new")]),
        ("old", "", [("out", "old")]),
        ("same\n\nwords", "same\n\nwords", [("same", "same\n\nwords")]),
    ],
)
def test_two_texts_are_runs_of_words(before: str, after: str, runs: list[tuple[str, str]]) -> None:
    """What both have, what one alone has, in the order in which it is read; put together they are the texts."""
    found = words_between(before, after)
    assert found == runs
    assert "".join(text for kind, text in found if kind != "in") == before
    assert "".join(text for kind, text in found if kind != "out") == after
