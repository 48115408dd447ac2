"""bench-offline-answers: does the offline model answer questions in other words than the articles', and invent nothing?

Sixty questions to two invented knowledge bases (`offline_questions/`), with what a right answer holds, and thirty that
nothing in them answers. Four bases that were written later are counted apart: a hotel; a clinic, whose documents are in
English and German; a shop that lends bicycles, in Spanish and French; one for guitars, in English, German and French.
None is fitted on; `--fit` prints the judgements anew, from other questions, those in other languages to a canteen's.

An answer is `stated`, or `offered`: introduced as what may be meant, and asked back. It is right if one of the passages
that it gives says what was asked. Wrong is what is stated and not right; what is offered beside the point is counted apart.
"""

from __future__ import annotations

import asyncio
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import yaml

from schemas.model_output import tool_schema
from services.core.app import App
from services.demo.world import make_world
from services.learn_documents.chunks import chunk
from services.memory.cue import Logistic
from services.memory.embeddings import Embedder, MiniLM, meanings
from services.memory.knowledge import Passage, search_knowledge
from services.memory.multilingual import Multilingual
from services.model.offline import OfflineModel
from services.model.offline.answers import MAYBE
from services.model.offline.meaning import ENGLISH, OTHER, Reader, evidence, language
from services.model.offline.sentences import one_line
from services.model.offline.view import Passage as OfflinePassage
from services.model.port import Exchange, Layer, Request, Tool, ToolResult
from services.operations.idle import until_idle
from tests.benchmarks.fitting import fit_logistic
from tests.benchmarks.knowledge_rank import PAIRS, pairs
from tests.benchmarks.measured import Measured, at_least, at_most
from tests.benchmarks.recall_support import Options, run
from tests.benchmarks.stage import bench_app
from tests.support.documents import shelve

QUESTIONS = Path(__file__).with_name("offline_questions")
BASES = {"leafboard": PAIRS / "documents", "bicycles": QUESTIONS / "bicycles_documents"}
LATER = {name: QUESTIONS / f"{name}_documents" for name in ("hotel", "clinic", "cycle_hire", "guitars")}
RIGHT, WRONG, BESIDE, REFUSED = "right", "wrong", "offered beside the point", "refused"
SHARE = 0.8  # of those that have an answer: 48 of 60
PASSAGES = 6  # what a prompt holds
AT = "2026-05-04T09:00:00+00:00"
Features = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Put:
    """A question, what right answers hold (nothing where none is), and the reply to it."""

    question: str
    holds: tuple[str, ...]
    reply: str
    citations: int

    @property
    def outcome(self) -> str:
        """One of the four."""
        if not self.citations:
            return REFUSED
        if any(one_line(one) in self.reply for one in self.holds):
            return RIGHT
        return BESIDE if MAYBE in self.reply else WRONG


def questions(base: str) -> list[tuple[str, tuple[str, ...]]]:
    """The questions to a knowledge base, with what right answers hold."""
    read = yaml.safe_load((QUESTIONS / f"{base}.yaml").read_text(encoding="utf-8"))
    return [(question, tuple(holds)) for question, holds in read]


async def shelve_base(app: App, base: str) -> None:
    """Hand the documents of a knowledge base in."""
    for path in sorted((BASES | LATER)[base].glob("*.md")):
        await shelve(app, path.name, path.read_text(encoding="utf-8"))


async def answered(app: App, base: str) -> list[Put]:
    """Each question put to the offline model with what the product finds for it, over documents that were indexed."""
    model = OfflineModel(app.embedder)
    return [await _put(app, model, question, holds) for question, holds in questions(base)]


def counted(put: Sequence[Put]) -> Counter[str]:
    """How often an outcome was, of questions that have an answer and, under `unanswerable: ...`, of the others."""
    return Counter(f"{'' if one.holds else 'unanswerable: '}{one.outcome}" for one in put)


async def _put(app: App, model: OfflineModel, question: str, holds: tuple[str, ...]) -> Put:
    found = await _found(app, question)
    items = tuple({"id": str(p.chunk_id), "title": p.title, "heading": p.heading, "text": p.text} for p in found)
    mail = {"from_address": "ann@x.example", "subject": "", "text": question, "at": AT}
    layers = Layer("knowledge", "", items), Layer("mail", question, (mail,), trusted=False)
    tools = tuple(Tool(name, "", tool_schema(name)) for name in ("reply", "search_knowledge"))
    answer = await model.ask(Request("reply", "", layers, "", tools))
    if answer.calls[-1].name == "search_knowledge":
        again = await _found(app, str(answer.calls[-1].input["query"]))
        result = ToolResult(answer.calls[-1].id, "\n\n".join(one.shown for one in again))
        answer = await model.ask(Request("reply", "", layers, "", tools, history=(Exchange(answer, (result,)),)))
    given = answer.calls[-1].input
    return Put(question, holds, one_line(str(given.get("text", ""))), len(given.get("citations", ())))


async def _found(app: App, question: str) -> list[Passage]:
    [meaning] = await meanings(app.embedder, [question])
    async with app.database.reading() as conn:
        return await search_knowledge(
            conn, workspace=app.settings.workspace, space="", query_text=question, meaning=meaning, limit=PASSAGES
        )


async def fitted(embedder: Embedder) -> dict[str, Logistic]:
    """By language, the judgement whether what is nearest answers, from questions that the benchmark does not ask."""
    more = yaml.safe_load((QUESTIONS / "fitting.yaml").read_text(encoding="utf-8"))
    leafboard, canteen = _base(BASES["leafboard"]), _base(QUESTIONS / "canteen_documents")
    demo = _passages((one.title, one.text) for one in make_world(7).documents)
    asked = [(leafboard, one.question, f"{one.document}: {one.heading}") for one in pairs()]
    asked += [(leafboard, question, "") for question, _ in more["leafboard"]]
    asked += [(demo, question, holds[0] if holds else "") for question, holds in more["demo"]]
    other = [(question, holds) for question, holds in questions("canteen") if language(question) == OTHER]
    asked += [(canteen, question, holds[0] if holds else "") for question, holds in other]
    reader = Reader(embedder)
    seen: dict[str, tuple[list[Features], list[Features]]] = {of: ([], []) for of in (ENGLISH, OTHER)}
    for passages, question, answer in asked:
        near = (await reader.read([question], passages)).nearest(question, passages)
        shown = (f"{one.passage.title}: {one.passage.heading.rpartition(' > ')[2]} {one.sentences}" for one in near[:2])
        answers = bool(answer) and any(answer in one for one in shown)
        seen[language(question)][not answers].append(evidence(near))
    return {of: fit_logistic(*both) for of, both in seen.items()}


def _base(folder: Path) -> tuple[OfflinePassage, ...]:
    return _passages((path.stem, path.read_text(encoding="utf-8")) for path in sorted(folder.glob("*.md")))


def _passages(documents: Iterable[tuple[str, str]]) -> tuple[OfflinePassage, ...]:
    return tuple(
        OfflinePassage(f"{name}#{number}", name, part.heading, part.text)
        for name, text in documents
        for number, part in enumerate(chunk(text))
    )


async def _measure(options: Options) -> list[Measured]:
    lines = list(_lines(await _put_to(BASES), ""))
    for base in () if options.quick else LATER:
        lines += _lines(await _put_to([base]), f"{base}, ")
    return lines


async def _put_to(bases: Iterable[str]) -> list[Put]:
    put = []
    for base in bases:
        async with bench_app() as app:
            await shelve_base(app, base)
            await until_idle(app)
            put += await answered(app, base)
    return put


def _lines(put: Sequence[Put], of: str) -> Iterator[Measured]:
    counts, known = counted(put), sum(bool(one.holds) for one in put)
    wrong = counts[WRONG] + counts[f"unanswerable: {WRONG}"]
    yield at_least(f"{of}answerable: right", counts[RIGHT], "questions", SHARE * known, known)
    yield at_most(f"{of}stated and wrong", wrong, "questions", 0, len(put))
    yield Measured(f"{of}answerable: {BESIDE}", counts[BESIDE], "questions", n=known)
    yield Measured(f"{of}answerable: {REFUSED}", counts[REFUSED], "questions", n=known)
    for outcome in (BESIDE, REFUSED):
        name = f"unanswerable: {outcome}"
        yield Measured(f"{of}{name}", counts[name], "questions", n=len(put) - known)


def benchmark(options: Options) -> list[Measured]:
    """The lines of the first two knowledge bases together, and those of each later one."""
    return asyncio.run(_measure(options))


if __name__ == "__main__":
    if "--fit" in sys.argv:
        for embedder in (Multilingual(), MiniLM()):
            print(f'"{embedder.name}":', asyncio.run(fitted(embedder)))
        sys.exit()
    sys.exit(run("offline_answers", benchmark))
