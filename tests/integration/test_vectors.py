"""After a change of the embedder everything gets its vectors anew, by itself; no two models' vectors ever meet."""

from __future__ import annotations

import asyncio
import json
import signal
import sys
from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from deploy.local import Endpoints
from services import learn_documents
from services.cli.main import app as command_line
from services.core.db.locks import HeldElsewhere
from services.core.errors import EmbedderUnavailable
from services.memory.embeddings import TextRefused
from services.memory.multilingual import Multilingual
from services.operations.history_lock import HistoryHeld, holding
from services.operations.knowledge.listing import find_passages
from services.operations.memory.search import find
from services.operations.rebuild import run as rebuild
from services.operations.rebuild.scopes import scope
from services.operations.rebuild.shadow_schema import connected
from services.operations.vectors import index, keep
from services.operations.vectors.renewal import count_lacking, give_vectors
from tests.support.documents import shelve
from tests.support.remembering import DRIVEN, Memory, day, fact, remembering
from tests.support.vectors import HashVectors
from tests.support.workers import environment_of

ONE, OTHER = HashVectors("one model"), HashVectors("another model")
GUIDE = "# Kettles\n\nDescale a kettle with vinegar.\n\n# Teapots\n\nA teapot is rinsed with hot water.\n"
MODELS = """
SELECT embedding_model AS model FROM facts WHERE workspace = %(workspace)s
UNION ALL SELECT embedding_model FROM chunks WHERE workspace = %(workspace)s
"""


@pytest.fixture
async def memory(stack: Endpoints, database: str, topic_prefix: str, tmp_path: Path) -> AsyncIterator[Memory]:
    """Ada's three facts and a document of two passages, all with vectors of `ONE`."""
    async with remembering(stack, database, topic_prefix, tmp_path) as one:
        told = using(one, ONE)
        mail = await told.mail("We are on the Team plan. We use Xero. We live in Graz.", on=1)
        tool, plan, city = (
            fact("uses", "Xero", "use Xero"),
            fact("plan", "Team", "on the Team plan"),
            fact("city", "Graz", "live in Graz"),
        )
        await told.learn(mail, tool, plan, city)
        await shelve(told.app, "guide.md", GUIDE)
        await told.settle([*DRIVEN, learn_documents.PROCESSOR])
        yield told


def using(memory: Memory, embedder: Any) -> Memory:
    """The same deployment with another embedder in its settings."""
    return replace(memory, app=replace(memory.app, embedder=embedder))


async def models(memory: Memory) -> Counter[str | None]:
    """How many facts and passages have vectors of each model."""
    return Counter(row["model"] for row in await memory.rows(MODELS, workspace=memory.workspace))


def silent(done: int, of: int) -> None:
    """Says nothing."""


async def similarities(memory: Memory) -> set[bool]:
    """Whether facts and passages are compared with a question by their meaning."""
    answer = await find(memory.app, memory.person(), "Which plan?", now=day(2))
    assert len(answer.hits) == 3
    return {hit.similarity is not None for hit in answer.hits}


async def test_two_models_of_equal_length_never_mix(memory: Memory) -> None:
    """With another embedder of 384 numbers, facts and passages are found by their words, until they have its vectors."""
    assert await similarities(memory) == {True}
    (best, _) = await find_passages(memory.app, "Kettles\nDescale a kettle with vinegar.", limit=2)
    assert "vinegar" in best.text
    changed = using(memory, OTHER)
    assert await similarities(changed) == {False}
    (best, _) = await find_passages(changed.app, "rinse a teapot", limit=2)
    assert "rinsed" in best.text
    await keep.look(changed.app, silent)
    assert await models(memory) == {OTHER.name: 5}
    assert await similarities(changed) == {True}
    assert await similarities(memory) == {False}


async def test_the_deployment_sees_to_it_at_its_start_and_says_so(
    memory: Memory, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nobody has to ask: the process that keeps time tells that the embedder has changed, and makes vectors anew."""
    stop = asyncio.Event()
    keeping = asyncio.create_task(keep.keep(using(memory, OTHER).app, stop))
    while (await models(memory))[OTHER.name] < 5:
        assert not keeping.done()
        await asyncio.sleep(0.02)
    stop.set()
    await keeping
    said = capsys.readouterr()
    assert "the embedder has changed" in said.out + said.err


async def test_a_deployment_that_stops_waits_for_no_embedder(memory: Memory) -> None:
    """An embedder that never answers keeps no deployment from stopping, and what is left is done by the next one."""
    asked = asyncio.Event()

    class Silent(HashVectors):
        async def embed(self, texts: Any) -> Any:
            asked.set()
            await asyncio.Event().wait()

    stop = asyncio.Event()
    keeping = asyncio.create_task(keep.keep(using(memory, Silent("silent")).app, stop))
    await asked.wait()
    stop.set()
    await keeping
    await keep.look(using(memory, OTHER).app, silent)
    assert await models(memory) == {OTHER.name: 5}


@pytest.mark.parametrize("batches", [1, 2])
async def test_killed_in_the_middle_the_next_one_goes_on(memory: Memory, batches: int) -> None:
    """After a SIGKILL between two batches what was done stands, and only the rest is embedded."""
    settings = memory.app.settings
    given = json.dumps(settings.model_dump(mode="json", exclude_unset=True, exclude={"secret"}))
    command = [sys.executable, "-m", "tests.support.renewer", given, OTHER.name, str(batches)]
    child = await asyncio.create_subprocess_exec(*command, env=environment_of(settings))
    assert await child.wait() == -signal.SIGKILL
    done = 2 * batches
    assert await models(memory) == {OTHER.name: done, ONE.name: 5 - done}
    fresh = HashVectors(OTHER.name)
    await keep.look(using(memory, fresh).app, silent)
    assert sum(fresh.asked) == 5 - done
    assert await models(memory) == {OTHER.name: 5}


async def test_going_back_asks_the_embedder_for_nothing(memory: Memory) -> None:
    """Vectors that were made once come from the cache."""
    fresh = HashVectors(ONE.name)
    await keep.look(using(memory, OTHER).app, silent)
    await keep.look(using(memory, fresh).app, silent)
    assert (fresh.asked, await models(memory)) == ([], {ONE.name: 5})


async def test_one_process_at_a_time_makes_them(memory: Memory) -> None:
    """Who finds another at it leaves it alone."""

    class Watched(HashVectors):
        async def embed(self, texts: Any) -> Any:
            with pytest.raises(HeldElsewhere):
                await keep.look(using(memory, HashVectors(OTHER.name)).app, silent)
            return await super().embed(texts)

    await keep.look(using(memory, Watched(OTHER.name)).app, silent)
    assert await models(memory) == {OTHER.name: 5}


async def test_a_text_that_is_refused_keeps_no_other_from_its_vector(memory: Memory) -> None:
    """It alone stays without one, and is found by its words; a service that takes none is an error."""
    choosy = HashVectors("choosy", refuses={"vinegar"})
    assert await keep.look(using(memory, choosy).app, silent) == 1
    assert await models(memory) == {"choosy": 4, ONE.name: 1}
    with pytest.raises(TextRefused):
        await keep.look(using(memory, HashVectors("closed", refuses={""})).app, silent)


async def test_an_embedder_that_is_away_loses_nothing(memory: Memory) -> None:
    """Vectors that are there stay until there are new ones."""

    class Away(HashVectors):
        async def embed(self, texts: Any) -> Any:
            raise EmbedderUnavailable("no answer")

    with pytest.raises(EmbedderUnavailable):
        await keep.look(using(memory, Away("away")).app, silent)
    assert await models(memory) == {ONE.name: 5}


async def test_nothing_is_written_while_somebody_is_erased_or_tables_are_folded(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who holds the history is waited for; then it goes on."""
    monkeypatch.setattr("services.operations.history_lock.WAIT_S", 0.0)
    changed = using(memory, OTHER)
    async with holding(memory.app.settings.database_url):
        with pytest.raises(HistoryHeld):
            await keep.look(changed.app, silent)
        assert await models(memory) == {ONE.name: 5}
    await keep.look(changed.app, silent)
    assert await models(memory) == {OTHER.name: 5}


async def test_of_what_went_meanwhile_no_vector_is_kept(memory: Memory) -> None:
    """A text that is gone, or another, when its vector comes leaves nothing behind: no vector of it, and no cache."""
    facts = await memory.rows("SELECT fact_id, text FROM facts ORDER BY key")

    class Slow(HashVectors):
        async def embed(self, texts: Any) -> Any:
            for row, statement in zip(facts, ("DELETE FROM facts", "UPDATE facts SET text = 'another'"), strict=False):
                if row["text"] in texts:
                    await memory.rows(f"{statement} WHERE fact_id = %(id)s RETURNING 1", id=row["fact_id"])
            return await super().embed(texts)

    slow = Slow("slow")
    await keep.look(using(memory, slow).app, silent)
    kept = await memory.rows("SELECT count(*) AS n FROM embeddings WHERE model = 'slow'")
    assert kept == [{"n": 3}]
    assert await models(memory) == {"slow": 3, ONE.name: 1}


async def test_a_fold_keeps_vectors_with_their_models(memory: Memory) -> None:
    """Tables that are folded anew have the vectors of before, each under the name of its model."""
    settings = memory.app.settings
    await rebuild.swap(settings, scope("all"), lambda _: None)
    assert await models(memory) == {ONE.name: 5}
    assert await similarities(memory) == {True}


async def test_the_index_follows_the_model(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is made where there are facts enough, again where a fold or a crash took it; that of the last model goes."""
    monkeypatch.setattr(index, "LEAST_FACTS", 3)
    assert await indices(memory) == {}
    await keep.look(memory.app, silent)
    assert await indices(memory) == {index.index_name(ONE.name): True}
    await keep.look(using(memory, OTHER).app, silent)
    assert await indices(memory) == {index.index_name(OTHER.name): True}
    await memory.rows(
        "UPDATE pg_index SET indisvalid = false WHERE indexrelid = to_regclass(%(name)s) RETURNING 1",
        name=index.index_name(OTHER.name),
    )
    await keep.look(using(memory, OTHER).app, silent)
    assert await indices(memory) == {index.index_name(OTHER.name): True}
    monkeypatch.setattr(index, "EF_CONSTRUCTION", 100)
    await keep.look(using(memory, OTHER).app, silent)
    assert await indices(memory) == {index.index_name(OTHER.name): True}


async def indices(memory: Memory) -> dict[str, bool]:
    """The indices of vectors, and whether they are whole."""
    query = """
        SELECT c.relname AS name, i.indisvalid AS valid FROM pg_class c JOIN pg_index i ON i.indexrelid = c.oid
        WHERE c.relname LIKE 'facts\\_by\\_meaning%%'"""
    return {row["name"]: row["valid"] for row in await memory.rows(query)}


async def test_another_workspace_keeps_its_own(memory: Memory) -> None:
    """A deployment renews what is of its workspace alone."""
    await memory.rows("UPDATE facts SET workspace = 'theirs' WHERE key = 'city' RETURNING 1")
    async with connected(memory.app.settings.database_url) as conn:
        assert await give_vectors(conn, OTHER, memory.workspace) == 4
        assert (await count_lacking(conn, OTHER.name, "theirs")).total == 1


async def test_the_command_shows_whose_they_are_and_gives_them_now(memory: Memory) -> None:
    """An operator sees what is found by its words alone, and need not wait for the deployment."""
    shown = await run(memory, "vectors")
    assert (shown.exit_code, "one model" in shown.output, "found by words alone" in shown.output) == (0, True, True)
    assert f"The embedder in use is {Multilingual.name}." in shown.output
    renewed = await run(memory, "vectors", "--renew")
    assert (renewed.exit_code, "one model" in renewed.output, "in use" in renewed.output) == (0, False, True)
    assert await models(memory) == {Multilingual.name: 5}


async def run(memory: Memory, *words: str) -> Result:
    """One command on the memory's deployment."""
    home = str(memory.app.settings.home)
    with pytest.MonkeyPatch.context() as environment:
        for name, value in environment_of(memory.app.settings).items():
            environment.setenv(name, value)
        return await asyncio.to_thread(CliRunner().invoke, command_line, ["--home", home, *words])
