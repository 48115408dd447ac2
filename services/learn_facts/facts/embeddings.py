"""Vectors of the facts of one unit: made before it, given within it.

A fact that has its vector and may say the same as no other needs nothing more: its event is marked done where it is
recorded. What has none, because the embedder was away, and what may have to be merged, is done when the fact's own
event comes back.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import structlog

from schemas.events.memory import FactRecorded
from schemas.events.replies import FactProposal
from services.core.bus.unit import Unit
from services.core.bus.work import Work
from services.core.errors import EmbedderUnavailable
from services.learn_facts.facts.consequences import stands_alone
from services.learn_facts.facts.events import sentence_of
from services.learn_facts.participant import Participant
from services.memory.embedding_cache import attach, embed_missing, keep, look_up
from services.memory.embeddings import Embedder, EmbedderRefused, Vector

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class FactVectors:
    """Vectors by text, L2-normalised; those of `made` are not in the cache yet."""

    embedder: Embedder
    known: Mapping[str, Vector] = field(default_factory=dict)
    made: Mapping[str, Vector] = field(default_factory=dict)

    async def give(self, unit: Unit, who: Participant) -> None:
        """Give the facts that the unit recorded their vectors; `who` is the participant as they are then."""
        vectors = {**self.known, **self.made}
        facts = [(one, one.data) for one in unit.stored if isinstance(one.data, FactRecorded)]
        given = {data.fact_id: vectors[data.text] for _, data in facts if data.text in vectors}
        if not given:
            return
        await keep(unit.conn, self.embedder, self.made)
        await attach(unit.conn, self.embedder, given)
        for envelope, data in facts:
            # It would come back to this consumer to be compared with others; there is none that it could be one with.
            if data.fact_id in given and stands_alone(who, data):
                unit.mark_done(envelope)


async def vectors_of(work: Work[Any], proposals: Iterable[FactProposal]) -> FactVectors:
    """The vectors of what is proposed; none where the embedder does not answer: no fact waits for it."""
    embedder, texts = work.app.embedder, [sentence_of(one) for one in proposals]
    if not texts:
        return FactVectors(embedder)
    async with work.app.database.reading() as conn:
        known = await look_up(conn, embedder, texts)
    try:
        return FactVectors(embedder, known, await embed_missing(embedder, texts, known))
    except (EmbedderUnavailable, EmbedderRefused) as error:
        log.warning("facts get their vectors later", error=str(error))
        return FactVectors(embedder, known)
