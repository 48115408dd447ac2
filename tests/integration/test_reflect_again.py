"""A reflection that did not hold: seen on the thread, asked for again, learned from in the end."""

from __future__ import annotations

from pathlib import Path

from deploy.local import Endpoints
from services.cli.threads.view import whole
from services.model.offline import OfflineModel
from services.model.port import Answer, Request
from tests.support.offline import EMBEDDER
from tests.support.tending import tending


class Tired(OfflineModel):
    """The offline model, which does not reflect while it is tired."""

    tired = True

    async def ask(self, request: Request) -> Answer:
        if request.purpose == "reflect" and self.tired:
            return Answer("Not now.", (), "end_turn", self.name)
        return await super().ask(request)


async def test_a_thread_says_what_was_learned_from_it_and_what_was_lost(
    stack: Endpoints, database: str, topic_prefix: str, tmp_path: Path
) -> None:
    """`correspondent thread` names the turn that taught nothing, why, and when the model is asked again; then the rest."""
    model = Tired(EMBEDDER)
    async with tending(stack, database, topic_prefix, tmp_path, model_object=model) as app:
        thread_id = await app.write("We are on the Enterprise plan. Where do I export an invoice?")
        await app.wait(minutes=1)
        shown = "\n".join(line.plain for line in whole(await app.thread(thread_id), app.clock()))
        assert "nothing from the turn that ended" in shown
        assert "asked again at 2026-01-05 10:0" in shown
        assert "did not hold: reflection unusable: no call of `reflect`" in shown
        model.tired = False
        await app.wait(hours=1, minutes=1)
        (lost, held) = (await app.thread(thread_id)).learned
        assert (lost.held, held.held, held.retry_at) == (False, True, None)
        assert held.facts > 0
        assert "learned  from the turn that ended" in "\n".join(
            line.plain for line in whole(await app.thread(thread_id), app.clock())
        )
