"""The judgement of facts: clear, fuzzy and never-answered questions to invented people's memories (fact_questions.json).

Each person is judged by a model that was fitted on the others. The questions and facts are our own, few and short: they
set where `sure` and `rings a bell` begin, and say little about memories of thousands of facts.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import UUID, uuid5

import psycopg
from psycopg.rows import dict_row

from services.core.db.pool import Connection
from services.core.db.sql import queries
from services.memory.cue import (
    FACT_CUES,
    CueSettings,
    Evidence,
    fact_evidence,
    judged,
    most_relevant,
    related_features,
)
from services.memory.embedding_cache import embed_cached
from services.memory.embeddings import Meaning, MiniLM
from services.memory.questions import read
from services.memory.search import search_facts
from services.operations.vectors.renewal import give_vectors
from tests.benchmarks.fitting import fit_logistic
from tests.benchmarks.measured import Measured
from tests.benchmarks.retrieval import auroc

SQL = queries(__file__, "fact_cue.sql")
PEOPLE = Path(__file__).with_name("fact_questions.json")
SPACE, NOW = UUID(int=7), datetime(2026, 2, 1, tzinfo=UTC)
CLEAR, FUZZY, NEVER = "clear", "fuzzy", "never"


@dataclass(frozen=True, slots=True)
class Put:
    """A question put to one person's memory, and what the search showed."""

    person: int
    kind: str
    evidence: Evidence


async def measure(url: str) -> list[Measured]:
    """How well the kinds are told apart, and what each was answered."""
    async with await psycopg.AsyncConnection.connect(url, autocommit=True, row_factory=dict_row) as conn:
        puts = await _put_all(conn, json.loads(PEOPLE.read_text(encoding="utf-8")))
    print("facts, fitted on all, to be shipped:", _model(puts).related)
    return _lines(puts)


async def _put_all(conn: Connection, people: Sequence[dict[str, Any]]) -> list[Put]:
    embedder, puts = MiniLM(), []
    for number, person in enumerate(people):
        identity = uuid5(SPACE, str(number))
        for place, text in enumerate(person["facts"]):
            values = {"fact_id": uuid5(identity, str(place)), "participant_id": identity, "text": text, "at": NOW}
            await conn.execute(SQL.insert, values)
        await give_vectors(conn, embedder, "w")
        for kind in (CLEAR, FUZZY, NEVER):
            puts += [Put(number, kind, await _evidence(conn, embedder, identity, one)) for one in person[kind]]
    return puts


async def _evidence(conn: Connection, embedder: MiniLM, participant_id: UUID, question: str) -> Evidence:
    words = read(question, NOW).words
    (vector,) = await embed_cached(conn, embedder, [words])
    meaning = Meaning(embedder.name, vector)
    hits = await search_facts(
        conn, workspace="w", participant_id=participant_id, query_text=words, meaning=meaning, now=NOW
    )
    best = most_relevant(hits)
    return fact_evidence(best) if best else Evidence(0.0, 0.0)


def _model(puts: Sequence[Put]) -> CueSettings:
    known = [related_features(put.evidence) for put in puts if put.kind != NEVER]
    unknown = [related_features(put.evidence) for put in puts if put.kind == NEVER]
    return CueSettings(fit_logistic(known, unknown), sure_from=FACT_CUES.sure_from)


def _lines(puts: Sequence[Put]) -> list[Measured]:
    models = {person: _model([put for put in puts if put.person != person]) for person in {p.person for p in puts}}
    cues = {
        kind: [judged(p.evidence, models[p.person]) for p in puts if p.kind == kind] for kind in (CLEAR, FUZZY, NEVER)
    }
    never = [cue.related for cue in cues[NEVER]]
    lines = [
        Measured(
            f"facts, {kind} against never: AUROC", auroc([cue.related for cue in cues[kind]], never), "", n=len(never)
        )
        for kind in (CLEAR, FUZZY)
    ]
    for kind, some in cues.items():
        for verdict in ("sure", "rings a bell", "nothing"):
            share = 100 * sum(cue.verdict == verdict for cue in some) / len(some)
            lines.append(Measured(f"facts, {kind}: verdict {verdict}", share, "%", n=len(some)))
    return lines
