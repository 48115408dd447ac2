"""The judgement of facts: clear, fuzzy and never-answered questions to invented people's memories, in nine languages.

Each question is judged by a model that was fitted without it: of a person, on the other people; of what was never
answered, on other such questions. They are our own (fact_questions/), few and short: they set where `sure` and `rings a
bell` begin, and say little about memories of thousands of facts.

`python -m tests.benchmarks.fact_cue` measures both local embedders, and with `--write` writes the product's table anew.
"""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import UUID, uuid5

import psycopg
import yaml
from psycopg.rows import dict_row

from services.core.db.pool import Connection
from services.core.db.sql import queries
from services.core.db.vectors import VectorTypes
from services.memory.calibration import ANY, TABLE
from services.memory.cue import FACT_CUES, Cue, Evidence, Logistic, fact_evidence, judged, most_relevant, related_features
from services.memory.embedding_cache import embed_cached
from services.memory.embeddings import Embedder, Meaning, MiniLM
from services.memory.multilingual import Multilingual
from services.memory.questions import read
from services.memory.search import search_facts
from services.operations.vectors.renewal import give_vectors
from tests.benchmarks.fitting import fit_logistic
from tests.benchmarks.measured import Measured, table
from tests.benchmarks.recall_support import migrated_database
from tests.benchmarks.retrieval import auroc

SQL = queries(__file__, "fact_cue.sql")
LANGUAGES = {path.stem: path for path in sorted(Path(__file__).with_name("fact_questions").glob("*.yaml"))}
EMBEDDERS: Mapping[type[Embedder], tuple[str, ...]] = {Multilingual: tuple(LANGUAGES), MiniLM: ("en",)}
"""Those of the product, and the languages in which they separate what is known from what is not."""

SPACE, NOW = UUID(int=7), datetime(2026, 2, 1, tzinfo=UTC)
CLEAR, FUZZY, NEVER = "clear", "fuzzy", "never"
VERDICTS = ("sure", "rings a bell", "nothing")
MOST_SURE_OF_NOTHING = 0.85  # what the likeliest of the never answered may come to; `sure` begins at .9


@dataclass(frozen=True, slots=True)
class Put:
    """A question put to one person's memory, what the search showed, and the fold that it is judged in."""

    language: str
    fold: int
    kind: str
    evidence: Evidence


async def measure(url: str, embedders: Iterable[type[Embedder]] = (Multilingual,)) -> list[Measured]:
    """How well the kinds are told apart, and what each was answered."""
    return [
        line
        for embedder in embedders
        for language, puts in _by_language(await put_all(url, embedder(), EMBEDDERS[embedder])).items()
        for line in _lines(f"{embedder.__name__}, {language}", puts)
    ]


async def put_all(url: str, embedder: Embedder, languages: Iterable[str]) -> list[Put]:
    """Every question of these languages, asked of the product."""
    async with await psycopg.AsyncConnection.connect(url, autocommit=True, row_factory=dict_row) as conn:
        await VectorTypes().register(conn)
        return [put for language in languages for put in await _put_language(conn, embedder, language)]


async def _put_language(conn: Connection, embedder: Embedder, language: str) -> list[Put]:
    people: list[dict[str, Any]] = yaml.safe_load(LANGUAGES[language].read_text(encoding="utf-8"))
    puts = []
    for number, person in enumerate(people):
        identity = uuid5(SPACE, f"{embedder.name}/{language}/{number}")
        for place, text in enumerate(person["facts"]):
            values = {"fact_id": uuid5(identity, str(place)), "participant_id": identity, "text": text, "at": NOW}
            await conn.execute(SQL.insert, values)
        await give_vectors(conn, embedder, "w")
        for kind in (CLEAR, FUZZY, NEVER):
            for place, question in enumerate(person[kind]):
                fold = place % len(people) if kind == NEVER else number
                puts.append(Put(language, fold, kind, await _evidence(conn, embedder, identity, question, language)))
    return puts


async def _evidence(conn: Connection, embedder: Embedder, person: UUID, question: str, language: str) -> Evidence:
    words = read(question, NOW).words
    (vector,) = await embed_cached(conn, embedder, [words])
    meaning = Meaning(embedder.name, vector)
    hits = await search_facts(
        conn, workspace="w", participant_id=person, query_text=words, meaning=meaning, now=NOW, language=language
    )
    best = most_relevant(hits)
    return fact_evidence(best) if best else Evidence(0.0, 0.0)


def fitted(puts: Sequence[Put]) -> Logistic:
    """The model of some questions, lowered until none that was never answered comes near to `sure`."""
    known = [related_features(put.evidence) for put in puts if put.kind != NEVER]
    unknown = [related_features(put.evidence) for put in puts if put.kind == NEVER]
    return fit_logistic(known, unknown).at_most(MOST_SURE_OF_NOTHING, unknown)


def _by_language(puts: Sequence[Put]) -> dict[str, list[Put]]:
    return {language: [put for put in puts if put.language == language] for language in {p.language: 0 for p in puts}}


def _judged(puts: Sequence[Put]) -> dict[str, list[Cue]]:
    """What each was answered by a model that had not seen it, by kind."""
    models = {fold: fitted([put for put in puts if put.fold != fold]) for fold in {p.fold for p in puts}}
    settings = {fold: replace(FACT_CUES, related=model) for fold, model in models.items()}
    return {kind: [judged(p.evidence, settings[p.fold]) for p in puts if p.kind == kind] for kind in (CLEAR, FUZZY, NEVER)}


def _lines(name: str, puts: Sequence[Put]) -> list[Measured]:
    cues = _judged(puts)
    never = [cue.related for cue in cues[NEVER]]
    lines = [
        Measured(f"{name}, {kind}: AUROC", auroc([cue.related for cue in cues[kind]], never), "", n=len(cues[kind]))
        for kind in (CLEAR, FUZZY)
    ]
    shares = {kind: {one: 100 * sum(c.verdict == one for c in some) / len(some) for one in VERDICTS} for kind, some in cues.items()}
    answered, wrong = 100 - shares[CLEAR]["nothing"], shares[NEVER]["sure"]
    lines.append(Measured(f"{name}, never: sure", wrong, "%", 2, wrong <= 2, len(never)))
    lines.append(Measured(f"{name}, clear: answered", answered, "%", 90, answered >= 90, len(cues[CLEAR])))
    lines += [Measured(f"{name}, {kind}: sure", shares[kind]["sure"], "%", n=len(cues[kind])) for kind in (CLEAR, FUZZY)]
    lines += [Measured(f"{name}, {kind}: rings a bell", shares[kind]["rings a bell"], "%", n=len(cues[kind])) for kind in (FUZZY, NEVER)]
    return lines


def _written(puts: Mapping[str, Sequence[Put]]) -> str:
    """The table of the product: bias, weight of similarity, weight of coverage."""
    lines = ["# Written by `python -m tests.benchmarks.fact_cue --write`: bias, weight of the cosine, weight of the words."]
    for model, some in puts.items():
        models = {language: fitted(own) for language, own in _by_language(some).items()} | {ANY: fitted(some)}
        lines += ["", f'["{model}"]', *(f"{name} = {[one.bias, *one.weights]}" for name, one in models.items())]
    return "\n".join(lines) + "\n"


async def _alone(url: str, write: bool) -> None:
    puts = {embedder.name: await put_all(url, embedder(), of) for embedder, of in EMBEDDERS.items()}
    if write:
        TABLE.write_text(_written(puts), encoding="utf-8")
    lines = [(f"{name}, {language}", own) for name, some in puts.items() for language, own in _by_language(some).items()]
    print(table([line for name, own in lines for line in _lines(name, own)]))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.fact_cue")
    parser.add_argument("--write", action="store_true", help="write the table that the product reads")
    options = parser.parse_args()
    with migrated_database() as database:
        asyncio.run(_alone(database, options.write))
