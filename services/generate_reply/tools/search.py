"""Tools that look things up: the author's memory, and the knowledge base."""

from __future__ import annotations

from datetime import datetime, timedelta
from itertools import groupby
from typing import Any, NamedTuple

from schemas.model_output import Grain, SearchKnowledgeInput, SearchMemoryInput
from services.generate_reply.desk import Desk
from services.generate_reply.tools.refusal import CallRefused
from services.memory.calibration import judgement
from services.memory.cue import Recall
from services.memory.embeddings import Meaning, meanings
from services.memory.facts import Fact, whose_word
from services.memory.grains import name_of
from services.memory.knowledge import search_knowledge
from services.memory.periods import Window
from services.memory.questions import Asked, read
from services.memory.recall import Answer, in_words, language_of, recall
from services.memory.said import Heard, names_of, search_said
from services.memory.search import newest_facts, search_facts
from services.memory.tuning import tuned
from services.memory.voice import own_words

NOTHING = "nothing found"

Where = dict[str, Any]


class Found(NamedTuple):
    """Facts, in the order in which they are told, and what they amount to where something is looked for."""

    facts: list[Fact]
    recall: Recall | None = None


class Sought(NamedTuple):
    """What memory is asked: a question, the days that the model gives, and the meaning of the words that are sought."""

    asked: Asked
    days: Window | None
    words: str
    meaning: Meaning


async def memory(given: SearchMemoryInput, desk: Desk) -> str:
    """How sure memory is, then facts of the author of this mail, and of nobody else, with their dates.

    Where something is looked for, what was said to them and by them follows.
    """
    if not desk.event.trusted or desk.event.participant_id is None:
        raise CallRefused("the sender is not authenticated: no memory is shown")
    where = {"workspace": desk.workspace, "participant_id": desk.event.participant_id}
    sought = await _sought(given, desk) if given.query_text else None
    found = await (_recalled(sought, desk, where) if sought else _newest(given, desk, where))
    heard = await _heard(sought, given, desk, where) if sought and not given.event_type else None
    messages = [heard.heading, *(one.line for one in heard.said)] if heard and heard.said else []
    kept = [one for one in found.facts if _wanted(given, one.kind, one.text)][: given.max_results]
    desk.did("looked in memory", f"{len(kept)} facts, {len(heard.said) if heard else 0} messages")
    cue = [f"memory: {in_words(found.recall, shown=bool(kept or messages))}"] if found.recall else []
    lines = _by_period(kept, given.grain, desk.now) if given.grain else [*map(_line, kept)]
    return "\n".join([*cue, *lines, *messages]) or NOTHING


async def _sought(given: SearchMemoryInput, desk: Desk) -> Sought:
    """The days that the model gives stand before those that its words speak of."""
    asked, days = read(given.query_text, desk.now), _window(given, desk)
    words = asked.words if days is None else given.query_text
    return Sought(asked, days, words, await _meaning(desk, words))


async def _recalled(sought: Sought, desk: Desk, where: Where) -> Found:
    """The facts that a query brings up."""
    tuning = tuned(desk.app.settings.recall)
    where = {**where, "now": desk.now, "meaning": sought.meaning, "limit": tuning.all_candidates}
    async with desk.app.database.transaction(desk.workspace) as conn:
        if sought.days is None:
            answer = await recall(conn, **where, asked=sought.asked, tuning=tuning)
        else:
            language = await language_of(conn, where["participant_id"], sought.asked)
            where |= {
                "language": language,
                "query_text": sought.words,
                "window": sought.days,
                "settings": tuning.search,
            }
            hits = [one for one in await search_facts(conn, **where) if _lies_in(sought.days, one.fact)]
            answer = Answer(hits, judgement(hits, tuning.cue, sought.meaning.model, language))
    return Found([one.fact for one in answer.hits], answer.recall)


async def _heard(sought: Sought, given: SearchMemoryInput, desk: Desk, where: Where) -> Heard:
    """What was said to the author and by them, in this thread and in others, without the mails that are answered."""
    async with desk.app.database.transaction(desk.workspace) as conn:
        language = await language_of(conn, where["participant_id"], sought.asked)
        names = await names_of(conn, **where)
    own = await own_words(desk.app.embedder, sought.words, names, language)
    async with desk.app.database.transaction(desk.workspace) as conn:
        heard = await search_said(
            conn,
            **where,
            query_text=sought.words,
            meaning=sought.meaning,
            own_words=own,
            language=language,
            window=sought.asked.window,
            days=sought.days,
            limit=given.max_results,
            without_mails=desk.event.mail_ids,
        )
    of_person = [one for one in heard.said if given.person.casefold() in f"{one.author} {one.text}".casefold()]
    return Heard(of_person, heard.sure and of_person == heard.said)


async def _newest(given: SearchMemoryInput, desk: Desk, where: Where) -> Found:
    """What became so last."""
    limit = tuned(desk.app.settings.recall).all_candidates
    async with desk.app.database.transaction(desk.workspace) as conn:
        days = _window(given, desk)
        facts = await newest_facts(conn, **where, now=desk.now, window=days, limit=limit)
        return Found([one for one in facts if days is None or _lies_in(days, one)])


def _by_period(facts: list[Fact], grain: Grain, now: datetime) -> list[str]:
    """The facts under the names of their periods, newest first."""
    newest_first = sorted(facts, key=lambda one: one.valid_from, reverse=True)
    periods = groupby(newest_first, lambda one: name_of(grain, one.valid_from.astimezone(now.tzinfo)))
    return [line for name, found in periods for line in (f"{name}:", *map(_line, found))]


def _line(fact: Fact) -> str:
    return f"[{fact.fact_id}] {fact.valid_from:%Y-%m-%d} {fact.kind}: {fact.text} ({whose_word(fact.trust)})"


async def knowledge(given: SearchKnowledgeInput, desk: Desk) -> str:
    """Passages of our own documents, with the ids to cite."""
    meaning = await _meaning(desk, given.query)
    limit = desk.event.setting("knowledge_chunks", desk.app.settings.context.knowledge_chunks)
    async with desk.app.database.transaction(desk.workspace) as conn:
        found = await search_knowledge(
            conn,
            workspace=desk.workspace,
            space=desk.app.settings.space_of(desk.event.inbox),
            query_text=given.query,
            meaning=meaning,
            limit=limit,
        )
    desk.passages.update(str(one.chunk_id) for one in found)
    desk.sendable.update(str(one.chunk_id) for one in found if one.sendable)
    desk.did("looked in the knowledge base", f"{len(found)} passages")
    return "\n\n".join(one.shown for one in found) or NOTHING


def _window(given: SearchMemoryInput, desk: Desk) -> Window | None:
    if given.minimum_days_ago == 0 and given.maximum_days_ago >= 36_500:
        return None
    return Window(
        start=desk.now - timedelta(days=given.maximum_days_ago), end=desk.now - timedelta(days=given.minimum_days_ago)
    )


def _lies_in(days: Window, fact: Fact) -> bool:
    """Whether a fact began, or was last said, in the days that the model gives: never what is older, or newer."""
    return any(days.start <= when < days.end for when in (fact.valid_from, fact.last_said_at))


def _wanted(given: SearchMemoryInput, kind: str, text: str) -> bool:
    if given.event_type and given.event_type.casefold() != kind:
        return False
    return not given.person or given.person.casefold() in text.casefold()


async def _meaning(desk: Desk, text: str) -> Meaning:
    (meaning,) = await meanings(desk.app.embedder, [text or " "])
    return meaning
