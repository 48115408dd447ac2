"""A person's request about a fact, decided under the locks of all of the addresses that it concerns."""

from __future__ import annotations

from collections.abc import Sequence

from schemas.events.memory import FactRequested
from services.core.bus.unit import Unit
from services.core.bus.work import Work
from services.learn_facts.apply_facts import SQL
from services.learn_facts.decide_requests import request
from services.learn_facts.load import load
from services.learn_facts.merging import keeper_of, people_of
from services.learn_facts.participant import Participant
from services.learn_facts.proposals import policy_of_app, record_all
from services.learn_facts.withdrawal import ended_by, follows


async def on_request(work: Work[FactRequested]) -> None:
    """A person adds, corrects, pins or takes back a fact."""
    asked = work.event
    async with work.unit() as unit:
        people, keeper = await _concerned(unit, asked)
        others = [one for one in people if one is not keeper]
        decided = list(request(keeper, asked, unit.id_for("fact"), unit.now, policy_of_app(work), others))
        await record_all(unit, keeper, decided)
        ended = ended_by(decided)
        if ended is None:
            return
        ids = [one.participant_id for one in people]
        row = await unit.one(SQL.briefed, workspace=unit.workspace, participant_ids=ids)
        for one in people:
            also = follows(one, ended, asked, people, unit.now, bool(row and row["there"]))
            await record_all(unit, one, list(also))


async def _concerned(unit: Unit, asked: FactRequested) -> tuple[Sequence[Participant], Participant]:
    """All of the person whose fact is meant, each held, and the one who has the fact."""
    keeper = await keeper_of(unit, asked.participant_id, asked.fact_id)
    people = {id: await load(unit, id) for id in sorted(await people_of(unit.conn, keeper))}
    return tuple(people.values()), people[keeper]
