"""Facts in many languages: found by their words, and sure only where they answer."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import UUID, uuid5

import psycopg
import pytest
import yaml
from psycopg.rows import dict_row

from services.core.db.pool import Connection
from services.core.db.vectors import VectorTypes
from services.core.settings import RecallSettings
from services.memory.embeddings import Embedder, Meaning, MiniLM, meanings
from services.memory.multilingual import Multilingual
from services.memory.questions import read
from services.memory.recall import Answer, recall
from services.memory.search import search_facts
from services.memory.tuning import tuned
from services.operations.vectors.renewal import give_vectors

SPACE = UUID("7be1a9f3-4b57-5d0c-9c0e-2f5f4a1f6b21")
NOW = datetime(2026, 3, 18, 12, tzinfo=UTC)
QUESTIONS = Path(__file__).parents[1] / "benchmarks" / "fact_questions"
INSERT = """
INSERT INTO facts (fact_id, workspace, participant_id, kind, key, value, text, words, single_valued, confidence, importance,
                   trust, valid_from, recorded_at, source_event_id, version)
VALUES (%(id)s, 'w', %(who)s, 'customer_info', %(text)s, %(text)s, %(text)s, text_words(%(text)s), FALSE, 0.8, 0.6,
        'authenticated', %(at)s, %(at)s, %(id)s, 1)
"""

MAIL = """
INSERT INTO mails (mail_id, workspace, thread_id, participant_id, inbox, mode, blob, message_id, content_sha256, subject,
                   author_name, author_addr, recipients, references_ids, received_at, text, quoted, signature, language,
                   identity, trusted, signatures, verdict, reason, filter, flags)
SELECT %(id)s, 'w', %(id)s, %(who)s, 'support', 'live', 'b', '<m@x.example>', 'c', 's', 'A', 'a@x.example', '{}', '{}',
       %(at)s, 'Good morning', '', '', 'en', 'verified', TRUE, '{}', 'accept', '', '', '{}'
"""


@pytest.fixture
async def conn(database: str) -> AsyncIterator[Connection]:
    async with await psycopg.AsyncConnection.connect(database, autocommit=True, row_factory=dict_row) as connection:
        await VectorTypes().register(connection)
        yield connection


async def remember(conn: Connection, who: UUID, *texts: str) -> None:
    for text in texts:
        await conn.execute(INSERT, {"id": uuid5(who, text), "who": who, "text": text, "at": NOW})


async def ask(conn: Connection, embedder: Embedder, who: UUID, question: str, language: str = "") -> Answer:
    """What is answered to a sentence of a mail in some language, or alone."""
    alone = read(question, NOW)
    asked = replace(alone, language=language or alone.language)
    (meaning,) = await meanings(embedder, [asked.words])
    return await recall(
        conn, workspace="w", participant_id=who, asked=asked, meaning=meaning, now=NOW, tuning=tuned(RecallSettings())
    )


async def by_words(conn: Connection, who: UUID, question: str, language: str) -> list[str]:
    """The facts that share a word with a question, most of it first."""
    meaning = Meaning("nobody", (await meanings(MiniLM(), ["x"]))[0].vector)
    hits = await search_facts(
        conn, workspace="w", participant_id=who, query_text=question, meaning=meaning, now=NOW, language=language
    )
    return [hit.fact.text for hit in sorted(hits, key=lambda hit: -hit.coverage) if hit.coverage > 0]


@pytest.mark.parametrize(
    ("language", "question", "fact", "other"),
    [
        ("de", "Welche Rechnungen fehlen?", "Die Rechnung vom März fehlt ihm.", "Er hat einen Hund."),
        ("de", "Und die Rechnung?", "Er sucht seine Rechnungsnummer.", "Er hat einen Hund."),
        ("fr", "Quels utilisateurs avons-nous ?", "Un utilisateur a quitté la société.", "Il a un chien."),
        ("es", "¿Qué facturas faltan?", "Falta la factura de marzo.", "Tiene un perro."),
        ("pl", "Co z fakturami?", "Brakuje faktury z marca.", "Ma psa."),
        ("ja", "契約はいつ更新されますか？", "更新は3月3日です。", "犬を飼っています。"),
        ("zh", "订阅什么时候续订？", "订阅将于3月3日到期。", "他有一只狗。"),
        ("ko", "구독은 언제 갱신되나요?", "구독은 3월에 끝납니다.", "그는 개를 키웁니다."),
        ("th", "ใบแจ้งหนี้อยู่ที่ไหน", "เขาไม่ได้รับใบแจ้งหนี้", "เขามีสุนัข"),
        ("en", "Which company is it?", "They own two companies.", "He has a dog."),
        ("", "Which company is it?", "They own two companies.", "He has a dog."),
    ],
)
async def test_facts_are_found_by_the_words_of_their_language(
    conn: Connection, language: str, question: str, fact: str, other: str
) -> None:
    """Inflected words, compounds and scripts without spaces are found, without any vector."""
    who = uuid5(SPACE, question + language)
    await remember(conn, who, fact, other)
    assert (await by_words(conn, who, question, language))[:1] == [fact]


async def test_a_fact_of_an_older_release_is_found_by_its_words(conn: Connection) -> None:
    """A row that has no words yet is read as it is, and gets them with its next vector, without a lock on the table."""
    who = uuid5(SPACE, "old")
    await remember(conn, who, "契約は3月3日に更新されます。")
    await conn.execute("UPDATE facts SET words = NULL WHERE participant_id = %s", [who])
    assert len(await by_words(conn, who, "契約はいつ更新されますか？", "ja")) == 1
    await give_vectors(conn, MiniLM(), "w")
    row = await (
        await conn.execute("SELECT words IS NULL AS lacks FROM facts WHERE participant_id = %s", [who])
    ).fetchone()
    assert row == {"lacks": False}


@pytest.mark.parametrize("text", ["", "'", "\\", "a:* & !b | (c)", "':*", "契" * 300, "x" * 300, "ก'ก", "\u3042", "🎉"])
@pytest.mark.parametrize("language", ["", "en", "de", "pl", "ja", "xx", "'; DROP TABLE facts"])
async def test_any_text_is_a_question_in_any_language(conn: Connection, text: str, language: str) -> None:
    """What a stranger writes never breaks the search, whatever language it is taken for."""
    await by_words(conn, uuid5(SPACE, "any"), text, language)


@pytest.mark.parametrize("language", sorted(path.stem for path in QUESTIONS.glob("*.yaml")))
async def test_sure_is_true_in_each_language(conn: Connection, language: str) -> None:
    """Of the benchmark's questions none that was never answered is sure, and nine of ten clear ones are answered."""
    people: list[dict[str, Any]] = yaml.safe_load((QUESTIONS / f"{language}.yaml").read_text(encoding="utf-8"))
    embedder, never, clear = Multilingual(), [], []
    for number, person in enumerate(people):
        who = uuid5(SPACE, f"{language}{number}")
        await remember(conn, who, *person["facts"])
        await give_vectors(conn, embedder, "w")
        never += [(await ask(conn, embedder, who, one, language)).recall.cue.verdict for one in person["never"]]
        clear += [(await ask(conn, embedder, who, one, language)).recall.cue.verdict for one in person["clear"]]
    assert never.count("sure") <= len(never) * 0.02
    assert clear.count("nothing") <= len(clear) * 0.1
    assert clear.count("sure") >= len(clear) * 0.5


async def test_an_english_model_is_not_sure_of_french(conn: Connection) -> None:
    """With the English embedder the same words in French ring a bell at most: what it was not calibrated for."""
    who = uuid5(SPACE, "french")
    await remember(conn, who, "La date de renouvellement de notre abonnement est le 3 mars.")
    await give_vectors(conn, MiniLM(), "w")
    question = "Quelle est la date de renouvellement de notre abonnement ?"
    assert (await ask(conn, MiniLM(), who, question)).recall.cue.verdict == "rings a bell"


async def test_a_short_question_is_in_the_language_that_the_person_writes(conn: Connection) -> None:
    """A question too short to tell its language is judged by that of the person's last mail, else by none."""
    who = uuid5(SPACE, "short")
    await remember(conn, who, "They have 14 users.")
    await give_vectors(conn, Multilingual(), "w")
    question = "How many users?"
    assert read(question, NOW).language == ""
    assert (await ask(conn, Multilingual(), who, question)).recall.cue.verdict == "rings a bell"
    await conn.execute(MAIL, {"id": uuid5(who, "mail"), "who": who, "at": NOW})
    assert (await ask(conn, Multilingual(), who, question)).recall.cue.verdict == "sure"
