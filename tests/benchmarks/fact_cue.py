"""The judgement of facts: clear, fuzzy and never-answered questions to invented people's memories, in nine languages.

Each question is judged by a model that was fitted without it: of a person, on the other people; of what was never
answered, on other such questions. They are our own (fact_questions/), few and short: they set where `sure` and `rings a
bell` begin, and say little about memories of thousands of facts. One or two more persons' (fact_questions_blind/) are never
fitted on: they are judged by the table as it is shipped; Dutch and Turkish ones have no judgement of their own in it.

`python -m tests.benchmarks.fact_cue` measures both local embedders, and with `--write` writes the product's table anew.
"""

from __future__ import annotations

import argparse
import asyncio
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import UUID, uuid5

import numpy as np
import psycopg
import yaml
from psycopg.rows import dict_row

from services.core.db.pool import Connection
from services.core.db.sql import queries
from services.core.db.vectors import VectorTypes
from services.memory.calibration import ANY, TABLE, Calibration, calibrated, judging
from services.memory.cue import FACT_CUES, Cue, Evidence, fact_evidence, judged, most_relevant, related_features
from services.memory.embedding_cache import embed_cached
from services.memory.embeddings import Embedder, Meaning, MiniLM
from services.memory.multilingual import Multilingual
from services.memory.questions import read
from services.memory.search import search_facts
from services.operations.vectors.renewal import give_vectors
from tests.benchmarks.fitting import fit_logistic
from tests.benchmarks.measured import Measured, at_least, at_most, table
from tests.benchmarks.recall_support import migrated_database
from tests.benchmarks.retrieval import auroc

SQL = queries(__file__, "fact_cue.sql")
LANGUAGES = {path.stem: path for path in sorted(Path(__file__).with_name("fact_questions").glob("*.yaml"))}
BLIND = {path.stem: path for path in sorted(Path(__file__).with_name("fact_questions_blind").glob("*.yaml"))}
EMBEDDERS: Mapping[type[Embedder], tuple[str, ...]] = {Multilingual: tuple(LANGUAGES), MiniLM: ("en",)}
"""Those of the product, and the languages in which they separate what is known from what is not."""

SPACE, NOW = UUID(int=7), datetime(2026, 2, 1, tzinfo=UTC)
CLEAR, FUZZY, NEVER = "clear", "fuzzy", "never"
VERDICTS = ("sure", "rings a bell", "nothing")
RINGING = 0.1  # of the never answered may ring a bell, which is asked back
MARGIN = 2.0  # how much better the odds of what is sure are than those of the likeliest that was never answered


@dataclass(frozen=True, slots=True)
class Put:
    """A question put to one person's memory, what the search showed, and the fold that it is judged in."""

    language: str
    fold: int
    kind: str
    evidence: Evidence


async def measure(url: str, embedders: Iterable[type[Embedder]] = (Multilingual,)) -> list[Measured]:
    """How well the kinds are told apart, what each was answered, and the same of questions that nothing was fitted on."""
    lines = [
        line
        for embedder in embedders
        for language, puts in _by_language(await put_all(url, embedder(), EMBEDDERS[embedder])).items()
        for line in _lines(f"{embedder.__name__}, {language}", puts)
    ]
    return [*lines, *_blind_lines(await put_all(url, Multilingual(), BLIND, BLIND))]


async def put_all(
    url: str, embedder: Embedder, languages: Iterable[str], files: Mapping[str, Path] = LANGUAGES
) -> list[Put]:
    """Every question of these languages, asked of the product."""
    async with await psycopg.AsyncConnection.connect(url, autocommit=True, row_factory=dict_row) as conn:
        await VectorTypes().register(conn)
        return [put for language in languages for put in await _put_language(conn, embedder, language, files[language])]


async def _put_language(conn: Connection, embedder: Embedder, language: str, file: Path) -> list[Put]:
    people, puts = _people(file), []
    for number, person in enumerate(people):
        identity = uuid5(SPACE, f"{embedder.name}/{file.parent.name}/{language}/{number}")
        for place, text in enumerate(person["facts"]):
            values = {"fact_id": uuid5(identity, str(place)), "participant_id": identity, "text": text, "at": NOW}
            await conn.execute(SQL.insert, values)
        await give_vectors(conn, embedder, "w")
        for kind in (CLEAR, FUZZY, NEVER):
            for place, question in enumerate(person[kind]):
                fold = place % len(people) if kind == NEVER else number
                puts.append(Put(language, fold, kind, await _evidence(conn, embedder, identity, question, language)))
    return puts


def _people(file: Path) -> list[dict[str, Any]]:
    people: list[dict[str, Any]] = yaml.safe_load(file.read_text(encoding="utf-8"))
    return people


async def _evidence(conn: Connection, embedder: Embedder, person: UUID, question: str, language: str) -> Evidence:
    words = read(question, NOW).words
    (vector,) = await embed_cached(conn, embedder, [words])
    meaning = Meaning(embedder.name, vector)
    hits = await search_facts(
        conn, workspace="w", participant_id=person, query_text=words, meaning=meaning, now=NOW, language=language
    )
    best = most_relevant(hits)
    return fact_evidence(best) if best else Evidence(0.0, 0.0)


def fitted(puts: Sequence[Put]) -> Calibration:
    """The model of some questions. Of what was never answered a tenth may ring a bell; sure is what is clearly likelier than
    any of it."""
    known = [related_features(put.evidence) for put in puts if put.kind != NEVER]
    unknown = [related_features(put.evidence) for put in puts if put.kind == NEVER]
    model = fit_logistic(known, unknown)
    logits = [_logit(model.probability(one)) for one in unknown]
    raised = max(0.0, _logit(FACT_CUES.bell_from) - float(np.quantile(logits, 1 - RINGING)))
    sure_from = raised + max(_logit(FACT_CUES.sure_from), max(logits) + math.log(MARGIN))
    return Calibration(replace(model, bias=round(model.bias + raised, 2)), round(1 / (1 + math.exp(-sure_from)), 4))


def _logit(probability: float) -> float:
    return math.log(probability / (1 - probability))


def _by_language(puts: Sequence[Put]) -> dict[str, list[Put]]:
    return {language: [put for put in puts if put.language == language] for language in {p.language: 0 for p in puts}}


def _judged(puts: Sequence[Put]) -> dict[str, list[Cue]]:
    """What each was answered by a model that had not seen it, by kind."""
    models = {fold: fitted([put for put in puts if put.fold != fold]) for fold in {p.fold for p in puts}}
    settings = {fold: model.over(FACT_CUES) for fold, model in models.items()}
    return {
        kind: [judged(p.evidence, settings[p.fold]) for p in puts if p.kind == kind] for kind in (CLEAR, FUZZY, NEVER)
    }


def _lines(name: str, puts: Sequence[Put]) -> list[Measured]:
    cues = _judged(puts)
    never = [cue.related for cue in cues[NEVER]]
    lines = [
        Measured(f"{name}, {kind}: AUROC", auroc([cue.related for cue in cues[kind]], never), "", n=len(cues[kind]))
        for kind in (CLEAR, FUZZY)
    ]
    shares = {
        kind: {one: 100 * sum(c.verdict == one for c in some) / len(some) for one in VERDICTS}
        for kind, some in cues.items()
    }
    answered, wrong = 100 - shares[CLEAR]["nothing"], shares[NEVER]["sure"]
    lines.append(Measured(f"{name}, never: sure", wrong, "%", 2, wrong <= 2, len(never)))
    lines.append(Measured(f"{name}, clear: answered", answered, "%", 90, answered >= 90, len(cues[CLEAR])))
    lines += [
        Measured(f"{name}, {kind}: sure", shares[kind]["sure"], "%", n=len(cues[kind])) for kind in (CLEAR, FUZZY)
    ]
    lines += [
        Measured(f"{name}, {kind}: rings a bell", shares[kind]["rings a bell"], "%", n=len(cues[kind]))
        for kind in (FUZZY, NEVER)
    ]
    return lines


def _blind_lines(puts: Sequence[Put]) -> list[Measured]:
    """What questions that nothing was fitted on are answered by the table as it is shipped, by language and together."""
    verdicts = {language: [(p.kind, _as_shipped(p)) for p in some] for language, some in _by_language(puts).items()}
    verdicts["all languages"] = [one for some in verdicts.values() for one in some]
    return [line for name, some in verdicts.items() for line in _of_blind(f"blind, {name}", some)]


def _as_shipped(put: Put) -> str:
    """The verdict of the product: in a language that was not calibrated nothing is sure."""
    verdict = judged(put.evidence, judging(FACT_CUES, Multilingual.name, put.language)).verdict
    return "rings a bell" if verdict == "sure" and put.language not in calibrated(Multilingual.name) else verdict


def _of_blind(name: str, given: Sequence[tuple[str, str]]) -> Iterator[Measured]:
    of = {kind: [verdict for one, verdict in given if one == kind] for kind in (CLEAR, FUZZY, NEVER)}
    shares = {kind: 100 * some.count("sure") / len(some) for kind, some in of.items()}
    answered = {kind: 100 - 100 * some.count("nothing") / len(some) for kind, some in of.items()}
    yield at_most(f"{name}, never: sure", shares[NEVER], "%", 2, len(of[NEVER]))
    yield at_least(f"{name}, clear: answered", answered[CLEAR], "%", 90, len(of[CLEAR]))
    yield Measured(f"{name}, fuzzy: answered", answered[FUZZY], "%", n=len(of[FUZZY]))
    yield Measured(f"{name}, never: rings a bell", answered[NEVER] - shares[NEVER], "%", n=len(of[NEVER]))


def _written(puts: Mapping[str, Sequence[Put]]) -> str:
    """The table of the product: bias, weights of similarity and coverage, and where `sure` begins."""
    lines = [
        "# Bias, weights of cosine and words, where sure begins: `python -m tests.benchmarks.fact_cue --write` fits them."
    ]
    for model, some in puts.items():
        models = {language: fitted(own) for language, own in _by_language(some).items()} | {ANY: fitted(some)}
        lines += [
            "",
            f'["{model}"]',
            *(f"{name} = {[one.related.bias, *one.related.weights, one.sure_from]}" for name, one in models.items()),
        ]
    return "\n".join(lines) + "\n"


async def _alone(url: str, write: bool) -> None:
    puts: dict[str, list[Put]] = {}
    for made, languages in EMBEDDERS.items():
        embedder = made()
        puts[embedder.name] = await put_all(url, embedder, languages)
    if write:
        TABLE.write_text(_written(puts), encoding="utf-8")
    lines = [
        (f"{name}, {language}", own) for name, some in puts.items() for language, own in _by_language(some).items()
    ]
    blind = _blind_lines(await put_all(url, Multilingual(), BLIND, BLIND))
    print(table([*(line for name, own in lines for line in _lines(name, own)), *blind]))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.fact_cue")
    parser.add_argument("--write", action="store_true", help="write the table that the product reads")
    options = parser.parse_args()
    with migrated_database() as database:
        asyncio.run(_alone(database, options.write))
