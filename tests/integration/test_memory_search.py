from collections.abc import AsyncIterator, Sequence
from datetime import UTC, datetime, timedelta
from uuid import UUID, uuid5

import numpy as np
import psycopg
import pytest
from pgvector import HalfVector
from psycopg.rows import dict_row
from psycopg.sql import SQL

from services.core.db.pool import Connection
from services.core.db.vectors import VectorTypes
from services.memory.cue import recalled
from services.memory.embedding_cache import attach, embed_cached, keep, look_up
from services.memory.embeddings import Meaning, MiniLM, Vector
from services.memory.passages import recall_passages, search_passages
from services.memory.periods import Window
from services.memory.search import Hit, SearchSettings, search_facts
from services.memory.temporal import window_of
from services.operations.vectors.index import index_name, index_statements
from services.operations.vectors.renewal import give_vectors

SPACE = UUID("0d3b8d0e-6f53-5b0c-8f43-4d2a5f1d9a11")
ANNA, BEN = uuid5(SPACE, "anna"), uuid5(SPACE, "ben")
NOW = datetime(2026, 3, 18, 12, tzinfo=UTC)

INSERT = """
INSERT INTO facts (fact_id, workspace, participant_id, kind, key, value, text, single_valued, confidence, importance,
                   trust, valid_from, valid_to, expires_at, recorded_at, superseded_at, retracted_at,
                   source_event_id, version)
VALUES (%(fact_id)s, %(workspace)s, %(participant_id)s, %(kind)s, %(key)s, %(text)s, %(text)s, %(single_valued)s, 0.8,
        %(importance)s, 'authenticated', %(valid_from)s, %(valid_to)s, %(expires_at)s, %(recorded_at)s, %(superseded_at)s,
        %(retracted_at)s, %(fact_id)s, 1)
"""


class CountingEmbedder:
    """MiniLM, and a list of what it was asked for."""

    name, dimensions = MiniLM.name, MiniLM.dimensions

    def __init__(self) -> None:
        self._model = MiniLM()
        self.asked: list[str] = []

    async def embed(self, texts: Sequence[str]) -> list[Vector]:
        self.asked += texts
        return await self._model.embed(texts)


@pytest.fixture(scope="module")
def embedder() -> CountingEmbedder:
    return CountingEmbedder()


@pytest.fixture
async def conn(database: str) -> AsyncIterator[Connection]:
    async with await psycopg.AsyncConnection.connect(database, autocommit=True, row_factory=dict_row) as connection:
        await VectorTypes().register(connection)
        yield connection


async def remember(conn: Connection, text: str, days_ago: float = 1, **changes: object) -> UUID:
    """One fact of Anna's, as old as it is told."""
    at = NOW - timedelta(days=days_ago)
    row = {
        "fact_id": uuid5(SPACE, f"{text}{days_ago}{changes}"), "workspace": "w", "participant_id": ANNA, "kind": "note",
        "key": text, "text": text, "single_valued": False, "valid_from": at, "valid_to": None, "expires_at": None,
        "recorded_at": at, "superseded_at": None, "retracted_at": None, "importance": 0.7, **changes,
    }  # fmt: skip
    await conn.execute(INSERT, row)
    return row["fact_id"]


async def find(conn: Connection, embedder: CountingEmbedder, query: str, **changes: object) -> list[Hit]:
    """Embeds what lacks a vector, then searches Anna's memory."""
    await give_vectors(conn, embedder, "w")
    (vector,) = await embed_cached(conn, embedder, [query])
    where = {"workspace": "w", "participant_id": ANNA, "now": NOW, "limit": 5, **changes}
    return await search_facts(conn, query_text=query, meaning=Meaning(embedder.name, vector), **where)


def texts(hits: list[Hit]) -> list[str]:
    return [hit.fact.text for hit in hits]


@pytest.mark.parametrize("language", ["", "en", "de", "ja"])
@pytest.mark.parametrize(
    "word", ["a" * 2_048, "é" * 1_024, "İ" * 900, "https://a.example/" + "b" * 3_000, "a'\\\\" * 600]
)
async def test_a_mail_with_one_long_word_was_not_answered(conn, embedder, word, language):
    """A key, a link or a line of base64 as long as no word: it is not asked for, and the words beside it find the fact."""
    await remember(conn, "Her dog is called Rex")
    await remember(conn, "She prefers tea to coffee")
    found = await find(conn, embedder, f"Rex {word}", language=language)
    assert "Her dog is called Rex" in texts(found)


async def test_facts_are_found_by_meaning(conn, embedder):
    """A fact that shares no word with the question is found by what it means."""
    for text in ("The router loses its connection every evening", "She prefers tea to coffee", "Her dog is called Rex"):
        await remember(conn, text)
    assert texts(await find(conn, embedder, "internet outage"))[0].startswith("The router")


async def test_facts_are_found_by_their_words(conn, embedder):
    """An order number, which no vector understands, is found by the word itself."""
    for number in range(4170, 4180):
        await remember(conn, f"Order {number} was shipped with the parcel service")
    assert texts(await find(conn, embedder, "where is order 4176?"))[0].startswith("Order 4176 ")


async def test_nobody_sees_another_participants_facts(conn, embedder):
    """Facts of other participants and of other workspaces are never returned."""
    await remember(conn, "Anna ordered a blue kettle")
    await remember(conn, "Ben ordered a blue kettle", participant_id=BEN)
    await remember(conn, "Another firm's Anna ordered a blue kettle", workspace="other")
    assert texts(await find(conn, embedder, "blue kettle")) == ["Anna ordered a blue kettle"]


async def test_expired_facts_leave_by_themselves(conn, embedder):
    """After its expiry a fact is not found any more, although nobody touched its row."""
    await remember(conn, "On vacation until 20 March", expires_at=NOW + timedelta(days=2))
    assert len(await find(conn, embedder, "vacation")) == 1
    assert await find(conn, embedder, "vacation", now=NOW + timedelta(days=3)) == []


async def test_a_past_belief_can_be_asked_for(conn, embedder):
    """`as_of` answers with what was believed then: the superseded value, and not what was learnt since."""
    await remember(conn, "Lives in Graz", days_ago=30, superseded_at=NOW - timedelta(days=10))
    await remember(conn, "Lives in Linz", days_ago=10)
    assert texts(await find(conn, embedder, "home town")) == ["Lives in Linz"]
    assert texts(await find(conn, embedder, "home town", as_of=NOW - timedelta(days=20))) == ["Lives in Graz"]
    assert await find(conn, embedder, "home town", as_of=NOW - timedelta(days=40)) == []


async def test_an_end_counts_from_when_it_was_known(conn, embedder):
    """Told on day 10 that it had ended on day 12, we still believed it on day 11; windows asked as of then say so too."""
    known = NOW - timedelta(days=10)
    ended = NOW - timedelta(days=12)
    await remember(conn, "Lives in Graz", days_ago=30, valid_to=ended, superseded_at=known, kind="customer_info")
    before, after = NOW - timedelta(days=11), NOW - timedelta(days=9)
    assert texts(await find(conn, embedder, "home town", as_of=before)) == ["Lives in Graz"]
    assert await find(conn, embedder, "home town", as_of=after) == []
    day_after_end = window_of((ended + timedelta(days=1)).date().isoformat(), NOW)
    assert len(await find(conn, embedder, "home town", as_of=before, window=day_after_end)) == 1
    assert await find(conn, embedder, "home town", as_of=after, window=day_after_end) == []


async def test_a_window_finds_what_was_so_then(conn, embedder):
    """A question about last month finds what has changed since, but nothing that was taken back or came later."""
    changed = NOW - timedelta(days=5)
    await remember(conn, "Was on the Basic plan", days_ago=100, superseded_at=changed, kind="customer_info")
    await remember(conn, "Is on the Pro plan", days_ago=5, kind="customer_info")
    await remember(
        conn, "Was on the Gold plan", days_ago=90, superseded_at=changed, retracted_at=changed, kind="customer_info"
    )
    window = window_of("which plan last month?", NOW)
    assert texts(await find(conn, embedder, "plan", window=window)) == ["Was on the Basic plan"]


async def test_a_window_prefers_what_began_within_it(conn, embedder):
    """ "That order from last month" is the one of last month, not last year's, although both still stand."""
    for days in (400, 30, 2):
        await remember(conn, "Ordered a kettle", days_ago=days)
    hits = await find(conn, embedder, "that order from last month", window=window_of("last month", NOW))
    assert hits[0].fact.valid_from == NOW - timedelta(days=30)
    assert NOW - timedelta(days=2) not in [hit.fact.valid_from for hit in hits]


async def test_what_happened_lies_in_no_other_days(conn, embedder):
    """Occurrences of any kind and day are found in a window exactly if they happened in it; what is so goes on."""
    kinds = ("event", "interaction", "resolution", "issue_history", "action", "note")
    days = (0.5, 3, 8, 29, 31, 90, 400, 700)
    for kind in kinds:
        for ago in days:
            await remember(conn, f"The export failed, {kind} of {ago} days ago", days_ago=ago, kind=kind)
    await remember(conn, "Exports to CSV", days_ago=700, kind="customer_info")
    for most, least in ((30, 0), (7, 2), (1, 0), (800, 365), (100, 30)):
        window = Window(NOW - timedelta(days=most), NOW - timedelta(days=least))
        hits = await find(conn, embedder, "did the export fail?", window=window, limit=60)
        found = sorted(hit.fact.text for hit in hits if hit.fact.kind in kinds)
        inside = [ago for ago in days if least < ago <= most]
        assert found == sorted(f"The export failed, {kind} of {ago} days ago" for kind in kinds for ago in inside)
        assert ("Exports to CSV" in texts(hits)) == (most <= 700 or least < 700)


async def test_an_event_with_an_end_goes_on_until_then(conn, embedder):
    """A vacation that began before the days that are asked, and ended in them, lies in them."""
    await remember(conn, "On vacation", days_ago=20, kind="event", expires_at=NOW - timedelta(days=5))
    for most, least, there in ((7, 0, True), (4, 0, False), (30, 22, False)):
        window = Window(NOW - timedelta(days=most), NOW - timedelta(days=least))
        assert bool(await find(conn, embedder, "vacation", window=window)) == there


async def test_a_fact_that_was_said_once_in_so_many_words_reads_back_as_sure_as_it_is(conn, embedder):
    """0.7 is not below 0.7, although the column is of single precision."""
    await remember(conn, "Is on the Pro plan")
    await conn.execute("UPDATE facts SET confidence = 0.7")
    ((hit),) = await find(conn, embedder, "plan")
    assert hit.fact.confidence == 0.7


async def said_again(conn: Connection, fact_id: UUID, days_ago: float, trust: str = "authenticated") -> None:
    """One more support of a fact of Anna's."""
    at = NOW - timedelta(days=days_ago)
    count = "SELECT count(*) + 1 FROM fact_sources WHERE fact_id = %(fact_id)s"
    await conn.execute(
        "INSERT INTO fact_sources (fact_id, version, workspace, participant_id, trust, quote, said_at, at) VALUES"
        f" (%(fact_id)s, ({count}), 'w', %(participant_id)s, %(trust)s, '', %(at)s, %(at)s)",
        {"fact_id": fact_id, "participant_id": ANNA, "trust": trust, "at": at},
    )


async def test_a_fact_that_was_said_ten_times_scored_below_one_that_was_said_once(conn, embedder):
    """Recency counts from the last time that the customer said it; what we say ourselves makes nothing younger."""
    steady = await remember(conn, "Drinks green tea", days_ago=900)
    once = await remember(conn, "Drinks green tea", days_ago=200)
    for month in range(10, 28):
        await said_again(conn, steady, days_ago=month * 30, trust="ours")
    hits = {hit.fact.fact_id: hit for hit in await find(conn, embedder, "tea")}
    assert hits[steady].fact.last_said_at == NOW - timedelta(days=900)
    assert hits[steady].score < hits[once].score
    for month in range(1, 11):
        await said_again(conn, steady, days_ago=month * 30)
    hits = {hit.fact.fact_id: hit for hit in await find(conn, embedder, "tea")}
    assert hits[steady].fact.last_said_at == NOW - timedelta(days=30)
    assert hits[steady].score > hits[once].score


async def test_what_is_pinned_is_always_shown(conn, embedder):
    """In a large memory a pinned fact is among the hits of any question, beside the most relevant one."""
    for number in range(120):
        await remember(conn, f"The printer on floor {number} is out of paper")
    pinned = await remember(conn, "Never call before noon")
    await conn.execute("UPDATE facts SET pinned = true WHERE fact_id = %s", [pinned])
    few = SearchSettings(candidates=20)  # so that neither words nor meaning nominate it
    hits = await find(conn, embedder, "printer on floor 77", settings=few)
    assert len(hits) == 5
    assert "The printer on floor 77 is out of paper" in texts(hits)
    assert "Never call before noon" in texts(hits)


async def test_small_memories_come_back_whole(conn, embedder):
    """Up to a hundred facts are all returned, most relevant first; of a larger memory only the limit."""
    for number in range(100):
        await remember(conn, f"Note number {number}")
    assert len(await find(conn, embedder, "note")) == 100
    await remember(conn, "One more note")
    assert len(await find(conn, embedder, "note")) == 5


async def test_the_most_relevant_fact_is_always_among_the_hits(conn, embedder):
    """However many weightier facts stand before it in a large memory, the one that answers is found."""
    for number in range(110):
        await remember(conn, f"Anna called about kettle number {number}.", importance=1.0)
    await remember(conn, "Anna exports the stock list on Mondays.", days_ago=4000, importance=0.0)
    hits = await find(conn, embedder, "Which stock list is exported on Mondays?", limit=1)
    assert texts(hits) == ["Anna exports the stock list on Mondays."]


async def test_the_database_holds_one_current_value(conn):
    """A second current value of a single-valued key is refused; after superseding the first it is not."""
    first = await remember(conn, "Lives in Graz", key="city", single_valued=True)
    with pytest.raises(psycopg.errors.UniqueViolation):
        await remember(conn, "Lives in Linz", key="city", single_valued=True)
    await conn.execute("UPDATE facts SET superseded_at = %s WHERE fact_id = %s", [NOW, first])
    await remember(conn, "Lives in Linz", key="city", single_valued=True)


@pytest.mark.parametrize("participant_id", [ANNA, None])
async def test_vectors_of_another_model_are_not_compared(conn, embedder, participant_id):
    """A vector of another model is left out, though it is as long as the query's; its words still find the fact."""
    for text in ("Ordered a blue kettle", "Likes tea"):
        await remember(conn, text)
    (vector,) = await embed_cached(conn, embedder, ["kettle"])
    told = {"vector": HalfVector(vector)}
    await conn.execute("UPDATE facts SET embedding = %(vector)s::halfvec, embedding_model = 'another'", told)
    where = {"workspace": "w", "participant_id": participant_id, "query_text": "kettle", "now": NOW}
    hits = await search_facts(conn, meaning=Meaning(embedder.name, vector), **where)
    assert {hit.similarity for hit in hits} == {None}
    assert (hits[0].fact.text, hits[0].lexical > 0) == ("Ordered a blue kettle", True)
    theirs = await search_facts(conn, meaning=Meaning("another", vector), **where)
    assert [round(hit.similarity, 3) for hit in theirs] == [1, 1]


async def test_a_vector_goes_in_and_out_as_it_is(conn, embedder):
    """pgvector's own types carry it: every bit of a float32 comes back, and half of them where halves are kept."""
    vector = np.array([0.1, -1 / 3, 1e-9, *[0.05] * 381], dtype=np.float32)
    await keep(conn, embedder, {"a text": vector})
    assert (await look_up(conn, embedder, ["a text"]))["a text"].tobytes() == vector.tobytes()
    fact_id = await remember(conn, "Ordered a blue kettle")
    await attach(conn, embedder, {fact_id: vector})
    row = await (await conn.execute("SELECT embedding FROM facts WHERE fact_id = %s", [fact_id])).fetchone()
    assert row["embedding"].to_numpy().tobytes() == vector.astype(np.float16).tobytes()


async def test_a_vector_without_a_model_is_refused(conn, embedder):
    """The database holds no vector that does not say whose it is, of facts or of passages."""
    await remember(conn, "Ordered a blue kettle")
    with pytest.raises(psycopg.errors.CheckViolation):
        await conn.execute("UPDATE facts SET embedding = '[1,0,0]'")


@pytest.mark.parametrize("query", ["", "the and of", "a | b & !c <-> 'd", "100 % sure?", "\\ ' \" : *"])
@pytest.mark.parametrize("participant_id", [ANNA, None])
async def test_any_text_is_a_query(conn, embedder, query, participant_id):
    """Stop words, operators and quotes are no errors; vectors alone then decide."""
    await remember(conn, "Ordered a blue kettle")
    assert len(await find(conn, embedder, query, participant_id=participant_id)) == 1


async def test_a_workspace_is_searched_across_participants(conn, embedder):
    """Without a participant the facts of all of them are found, of this workspace only."""
    await remember(conn, "Anna reported that the export hangs")
    await remember(conn, "Ben reported that the export hangs", participant_id=BEN)
    await remember(conn, "Elsewhere the export hangs", workspace="other")
    await remember(conn, "Ben likes tea", participant_id=BEN)
    found = texts(await find(conn, embedder, "export hangs", participant_id=None, limit=2))
    assert sorted(found) == ["Anna reported that the export hangs", "Ben reported that the export hangs"]


@pytest.mark.parametrize(("model", "dimensions"), [(MiniLM.name, 384), ('another\'s "model" %s', 384), ("short", 3)])
async def test_the_vector_index_fits_the_query(conn, model, dimensions):
    """A model's own index, whatever its name and length, serves the very statement that a workspace is searched with."""
    for statement in index_statements(model, dimensions):
        await conn.execute(statement)
    await conn.execute("SET enable_seqscan = off")
    await conn.execute("DROP INDEX facts_by_model, facts_of_participant")
    meaning = Meaning(model, np.eye(1, dimensions, dtype=np.float32)[0])
    await search_facts(conn, workspace="w", participant_id=None, query_text="", meaning=meaning, now=NOW)
    await conn.execute("SELECT pg_stat_force_next_flush()")
    scans = "SELECT idx_scan FROM pg_stat_user_indexes WHERE indexrelname = %s"
    assert await (await conn.execute(scans, [index_name(model)])).fetchone() == {"idx_scan": 1}


async def test_a_text_is_embedded_once(conn, embedder):
    """A text that this model has embedded comes from the cache, bit for bit, also within one call."""
    embedder.asked.clear()
    first = await embed_cached(conn, embedder, ["a kettle", "a teapot", "a kettle"])
    again = await embed_cached(conn, embedder, ["a teapot", "a kettle"])
    assert embedder.asked == ["a kettle", "a teapot"]
    assert (first[0] == again[1]).all()
    assert (first[0] == first[2]).all()


async def test_losing_the_cache_loses_nothing(conn, embedder):
    """An emptied cache of vectors is filled again; facts keep theirs."""
    await remember(conn, "Ordered a blue kettle")
    before = await find(conn, embedder, "kettle")
    await conn.execute("TRUNCATE embeddings")
    assert await find(conn, embedder, "kettle") == before


async def test_recall_says_how_sure_it_is(conn, embedder):
    """A question that a fact answers is sure; one that has nothing to do with any is nothing."""
    for text in ("Ordered a blue kettle in February", "Prefers to be called by phone", "Works for a bakery in Graz"):
        await remember(conn, text)
    assert recalled(await find(conn, embedder, "Which kettle was ordered?")).cue.verdict == "sure"
    assert recalled(await find(conn, embedder, "quarterly tax audit of the subsidiary")).cue.verdict == "nothing"


SCOPE = SQL("""
    SELECT md5(n::text)::uuid AS id, md5(stream)::uuid AS stream, n AS position, speaker, text,
           to_tsvector('english', text) AS tsv, vector::halfvec AS embedding,
           NULL::timestamptz AS at
    FROM jsonb_to_recordset(%(rows)s) AS row (n int, stream text, speaker text, text text, vector text)
""")


async def passages(conn: Connection, query: str, rows: list[tuple[str, str, str]]) -> list[str]:
    """What is found in rows of (stream, speaker, text), by words alone."""
    given = [{"n": n, "stream": s, "speaker": who, "text": text} for n, (s, who, text) in enumerate(rows)]
    hits = await search_passages(
        conn,
        scope=SCOPE,
        parameters={"rows": psycopg.types.json.Jsonb(given)},
        query_text=query,
        query_vector=np.zeros(384, dtype=np.float32),
        limit=3,
    )
    ids = {uuid_of: n for n, uuid_of in enumerate([await _md5(conn, n) for n in range(len(rows))])}
    return [rows[ids[hit.id]][2] for hit in hits]


async def _md5(conn: Connection, number: int) -> UUID:
    row = await (await conn.execute("SELECT md5(%s)::uuid AS id", [str(number)])).fetchone()
    assert row is not None
    identity: UUID = row["id"]
    return identity


async def test_the_answer_stands_beside_the_question(conn):
    """The turn after the one that holds the words is found, before turns that have nothing to do with it."""
    rows = [
        ("a", "Ann", "Which colour should the kettle have?"),
        ("a", "Ben", "Blue please, as dark as you have it."),
        ("b", "Ann", "The weather was very nice at the lake."),
        ("b", "Ben", "We went there by train, which took long."),
    ]
    found = await passages(conn, "kettle colour", rows)
    assert set(found[:2]) == {rows[0][2], rows[1][2]}


async def test_a_name_in_a_greeting_counted_as_a_word(conn):
    """Who speaks is known by who says a passage; that somebody greets them says nothing of what is asked."""
    rows = [("a", "Ben", "Hi Ann! Ben here, for Ann."), ("b", "Carl", "A kettle."), ("c", "Ann", "The lake was nice.")]
    assert (await passages(conn, "Did Ann and Ben speak of a kettle?", rows))[0] == "A kettle."


async def test_nothing_but_names_is_still_found(conn):
    """A question of names alone has them as its words."""
    rows = [("a", "Ben", "Hi Ann! How was the lake?"), ("b", "Ben", "The weather was nice."), ("c", "Ann", "Thanks.")]
    assert (await passages(conn, "Ann?", rows))[0] in (rows[0][2], rows[2][2])


async def test_words_said_by_somebody_else_are_not_sure(conn, embedder):
    """Asked what Ann ordered where only Ben did, the memory finds the passage and does not call itself sure."""
    rows = [("a", "Ben", "I ordered the blue kettle."), ("b", "Ann", "The lake was nice.")]
    given = [{"n": n, "stream": s, "speaker": who, "text": f"{who}: {text}"} for n, (s, who, text) in enumerate(rows)]
    vectors = await embed_cached(conn, embedder, [row["text"] for row in given])
    for row, vector in zip(given, vectors, strict=True):
        row["vector"] = HalfVector(vector).to_text()
    verdicts = {}
    for name in ("Ben", "Ann"):
        query = f"Which kettle did {name} order?"
        (vector,) = await embed_cached(conn, embedder, [query])
        found = await recall_passages(
            conn,
            scope=SCOPE,
            parameters={"rows": psycopg.types.json.Jsonb(given)},
            query_text=query,
            query_vector=vector,
            limit=1,
        )
        verdicts[name] = found.cue.verdict
    assert verdicts == {"Ben": "sure", "Ann": "rings a bell"}


async def test_nothing_to_search_is_nothing_found(conn):
    """An empty scope has no passages."""
    assert await passages(conn, "kettle", []) == []


async def test_passages_need_no_words_in_common(conn):
    """A question of stop words only still returns passages and no error."""
    assert len(await passages(conn, "what is the", [("a", "Ann", "One kettle."), ("a", "Ben", "Two kettles.")])) == 2
