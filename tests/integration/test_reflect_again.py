"""A reflection that did not hold: seen on the thread, asked for again, learned from in the end."""

from __future__ import annotations

from pathlib import Path

from deploy.local import Endpoints
from services.core.model.offline import OfflineModel
from services.core.model.port import Answer, Request
from services.tools.threads import whole
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
    model = Tired()
    async with tending(stack, database, topic_prefix, tmp_path, model_object=model) as house:
        thread_id = await house.write("We are on the Enterprise plan. Where do I export an invoice?")
        await house.wait(minutes=1)
        shown = "\n".join(line.plain for line in whole(await house.thread(thread_id), house.clock()))
        assert "nothing from the turn that ended" in shown
        assert "asked again at 2026-01-05 10:0" in shown
        assert "did not hold: reflection unusable: no call of `reflect`" in shown
        model.tired = False
        await house.wait(hours=1, minutes=1)
        (lost, held) = (await house.thread(thread_id)).learned
        assert (lost.held, held.held, held.retry_at) == (False, True, None)
        assert held.facts > 0
        assert "learned  from the turn that ended" in "\n".join(
            line.plain for line in whole(await house.thread(thread_id), house.clock())
        )
