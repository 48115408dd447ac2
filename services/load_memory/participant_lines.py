"""How a person, a trouble, an answer of memory and a fact read in the context: one line, and the same as data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from services.load_memory.section import Entry, entry, entry_of
from services.memory.cue import Recall
from services.memory.facts import HAPPENED, whose_word
from services.memory.periods import Window
from services.memory.questions import Asked
from services.memory.recall import in_words
from services.memory.search import Hit

STEADY = 0.05  # a mood that moved by less


def care(mails: int) -> str:
    """What the prompt asks for when the risk is high, after so many frustrated mails in a row."""
    since = f"{mails} mails in a row" if mails > 1 else "in their last mail"
    return f"This customer has been frustrated {since}: take special care, apologise for facts, not feelings."


def mood(now: float, before: float | None) -> str:
    """The mood, -1 to 1, and whether the last turn made it better or worse; no trend where none was noted."""
    if before is None:
        trend = ""
    elif abs(now - before) < STEADY:
        trend = ", steady"
    else:
        trend = f", {'rising' if now > before else 'falling'} from {before:+.2f}"
    return f"mood {now:+.2f} (-1 furious, +1 delighted){trend}"


def person_entry(row: Mapping[str, Any], issues: Sequence[Mapping[str, Any]]) -> Entry:
    """A row of `participants`, with all the issues that they ever reported."""
    who, since = row["name"] or row["addr"], row["first_seen_at"]
    parts = [who, row["state"], f"risk {row['risk']}", mood(row["sentiment"], row["sentiment_before"])]
    parts += [f"issues: {len(issues)}, {sum(one['resolved'] for one in issues)} resolved"] if issues else []
    parts += [f"tags: {', '.join(row['tags'])}"] if row["tags"] else []
    text = ", ".join([*parts, f"with us since {since:%Y-%m-%d}"])
    if row["risk"] == "high":
        text += f". {care(row['frustrated_in_row'])}"
    shown = {"name": row["name"], "address": row["addr"], "state": row["state"], "risk": row["risk"]}
    return entry(text, **shown, tags=list(row["tags"]))


def issue_entry(row: Mapping[str, Any]) -> Entry:
    """A row of `participant_issues`; a repeat says which report the next one is."""
    times = "once" if row["reports"] == 1 else f"{row['reports']} times"
    state = "resolved" if row["resolved"] else "open"
    text = f"- issue: {row['issue_key']} (reported {times}, {state}, last {row['last_at']:%Y-%m-%d})"
    if row["reports"] > 1:
        text += f". Not new: a further report is number {row['reports'] + 1}; say that you know it has happened before."
    return entry(text, issue=row["issue_key"], reports=row["reports"], resolved=row["resolved"])


def recall_entry(asked: Asked, found: Recall, shown: bool) -> Entry:
    """What memory answers to one question of the mail: sure, rings a bell (when, and what about), or nothing."""
    gist = f"the fact [{found.best.fact.fact_id}] below." if found.best else ""
    return entry(
        f'- asked "{asked.text}": {in_words(found, shown, gist)}',
        recall=found.cue.verdict,
        question=asked.text,
        of_memory=asked.of_memory,
        related=round(found.cue.related, 3),
        about=_span(asked.window),
        window=_span(found.window),
        gist=found.gist,
        fact=str(found.best.fact.fact_id) if found.best else None,
    )


def fact_entry(hit: Hit, why: str, now: datetime, unconfirmed_below: float) -> Entry:
    """A fact that was found, with its time, whether it is confirmed, and why it is here."""
    fact = hit.fact
    until = min((end for end in (fact.valid_to, fact.expires_at, fact.superseded_at) if end), default=None)
    ended = until is not None and until <= now
    time = f"since {fact.valid_from:%Y-%m-%d}" + (f", ends {until:%Y-%m-%d}" if until else "")
    if fact.kind in HAPPENED and not fact.expires_at:
        time = f"on {fact.valid_from:%Y-%m-%d}" + (", not so any more" if ended else "")
    elif ended:
        time = f"{fact.valid_from:%Y-%m-%d} to {until:%Y-%m-%d}, not so any more"
    doubt = "" if fact.confidence >= unconfirmed_below else ", not confirmed"
    return entry_of(
        [fact.text],
        f"- [{fact.fact_id}] {fact.kind}/{fact.key}: ",
        f" ({whose_word(fact.trust)}, {time}{doubt})",
        above="as above",
        id=str(fact.fact_id),
        kind=fact.kind,
        key=fact.key,
        value=fact.value,
        text=fact.text,
        confidence=fact.confidence,
        recorded_at=fact.recorded_at.isoformat(),
        ended=ended,
        why=why,
        score=round(hit.score, 4),
        similarity=None if hit.similarity is None else round(hit.similarity, 4),
    )


def _span(window: Window | None) -> list[str] | None:
    return [window.start.isoformat(), window.end.isoformat()] if window else None
