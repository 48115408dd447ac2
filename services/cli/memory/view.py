"""Memory in words: lines for a terminal. Pure; what people wrote is printed as it stands, never as markup."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any

from services.operations.fact_uses import FactUse
from services.operations.memory.briefs import PersonBrief
from services.operations.memory.facts import Entry, RememberedFact, SourceLine
from services.operations.memory.graph import Edge
from services.operations.memory.outcomes import Decided
from services.operations.memory.people import Person
from services.operations.memory.relationship import Issue, LifecycleStep, Mood

if TYPE_CHECKING:
    from services.memory.condensed import CondensedPeriod
    from services.memory.said import Said
    from services.memory.search import Hit

_DAY, _MINUTE = "%Y-%m-%d", "%Y-%m-%d %H:%M"


def person(one: Person) -> str:
    """Who it is, and how they stand."""
    tags = f"; {', '.join(one.tags)}" if one.tags else ""
    name = f"{one.name} <{one.addr}>" if one.name else one.addr
    mood = f"mood {one.sentiment:+.2f}, risk {one.risk}"
    return f"{name}  {one.participant_id}  {one.state}, {mood}, since {one.first_seen_at:{_DAY}}{tags}"


def issue(one: Issue) -> str:
    """A trouble: how often, and whether it is over."""
    times = "once" if one.reports == 1 else f"{one.reports} times"
    state = "resolved" if one.resolved else "open"
    return f"issue {one.issue_key}: reported {times}, {state}, last {one.last_at:{_DAY}} in thread {one.thread_id}"


def step(one: LifecycleStep) -> str:
    """A step of the lifecycle: who, why, because of which event."""
    refused = f"  REFUSED: {one.refused}" if one.refused else ""
    why = f"{one.trigger}: {one.reason}{refused}  [{one.cause}]"
    return f"{one.at:{_MINUTE}} {one.from_state} -> {one.to_state}  {why}"


def mood(one: Mood) -> str:
    """What a turn made of their mood and risk."""
    row = f", frustrated {one.frustrated_in_row} in a row" if one.frustrated_in_row else ""
    about = f" about {one.issue_key}" if one.issue_key else ""
    return (
        f"{one.at:{_MINUTE}} mood {one.sentiment:+.2f}, risk {one.risk}{row}: {one.intent}{about} "
        f"in thread {one.thread_id}  [{one.cause}]"
    )


def edge(one: Edge) -> str:
    """Subject, predicate, object, and the fact that says so."""
    return (
        f"{one.subject}  {one.predicate}  {one.object}  (since {one.since:{_DAY}}; confidence {one.confidence:.2f}) "
        f"[{one.fact_id}]"
    )


def line(fact: RememberedFact, now: datetime) -> str:
    """A fact on one line: what, since when, how sure, how it stands."""
    until = fact.valid_to or fact.expires_at
    time = f"{fact.valid_from:{_DAY}} to {until:{_DAY}}" if until else f"since {fact.valid_from:{_DAY}}"
    pinned = ", pinned" if fact.pinned else ""
    return (
        f"{fact.fact_id}  {fact.kind}/{fact.key} = {fact.value}  ({time}; {fact.trust}, "
        f"confidence {fact.confidence:.2f}, {fact.status(now)}{pinned})"
    )


def entry(one: Entry, now: datetime, use: FactUse | None = None) -> str:
    """A fact with the words that it rests on, every source, every decision, and what it was used for where counted."""
    lines = [line(one.fact, now), f"    {one.fact.text}"]
    lines += [f"    {used(use)}"] if use else []
    lines += [f"    {source(each)}" for each in one.sources]
    lines += [f"    {each.at:{_MINUTE}} {each.decision}: {each.reason}  [{each.cause}]" for each in one.log]
    return "\n".join(lines)


def used(one: FactUse) -> str:
    """How often a fact was shown, answered a question and is cited by a draft, and when last."""
    shown = f" (last {one.shown_at:{_DAY}})" if one.shown_at else ""
    asked = f" (last {one.asked_at:{_DAY}})" if one.asked_at else ""
    cited = f" (last {one.cited_at:{_DAY}})" if one.cited_at else ""
    return f"shown: {one.shown}{shown}, answered questions: {one.asked}{asked}, cited: {one.cited}{cited}"


def source(one: SourceLine) -> str:
    """Who said it, where, and in which words."""
    if not (one.mail_id or one.reply_id):
        return f"said by a person here on {one.said_at:{_DAY}}"
    whose = "our mail" if one.reply_id else "mail"
    quote = " ".join(one.quote.split())
    return f"{whose} <{one.message_id}> of {one.said_at:{_DAY}} ({one.trust}): “{quote}”"


def brief(one: PersonBrief) -> str:
    """A brief under the line that names its version, who wrote it, when, and from which ones."""
    who = f"by {one.by}" if one.by else "after a turn"
    bases = f", from {' '.join(base[:8] for base in one.bases)}" if one.bases else ""
    return f"{one.version[:8]}  {one.written_at:{_MINUTE}} {who}{bases}\n{one.text or '(deleted, or kept no longer)'}"


def period(one: CondensedPeriod) -> str:
    """A told period: how it stands, then each sentence with the rows that it names."""
    how = "stands" if one.stands else "a row has changed: not shown"
    counts = {"rows": one.rows, "too many": one.left_out, "sentences": len(one.sentences), "dropped": len(one.dropped)}
    told = ", ".join(f"{name} {count}" for name, count in counts.items() if count)
    lines = [f"{one.period}  {one.grain}, {how}  ({told})"]
    for sentence in one.sentences:
        lines.append(f"    {sentence['text']}  [{', '.join(id[:8] for id in sentence['rows'])}]")
    return "\n".join([*lines, *(f"    dropped: {why}" for why in dict.fromkeys(one.dropped))])


def hit(one: Hit) -> str:
    """A found fact with its score."""
    return f"{one.score:.3f}  {one.fact.fact_id}  {one.fact.kind}/{one.fact.key}: {one.fact.text}"


def hit_of(one: Hit) -> str:
    """A found fact of one of everybody, with whose it is."""
    return f"{hit(one)}  (participant {one.fact.participant_id})"


def said(one: Said) -> str:
    """A found passage with its score, its day, who says it, and its thread."""
    return f"{one.score:.3f}  {one.line}  (thread {one.thread_id})"


def refusal(row: dict[str, Any]) -> str:
    """Something that did not hold, and why."""
    return f"{row['at']:{_MINUTE}} {row['decision']}: {row['key']} = {row['value']}: {row['reason']}  [{row['cause']}]"


def decided(one: Decided) -> str:
    """What became of a request."""
    about = f" {one.fact_id}" if one.fact_id else ""
    return f"{one.decision}{about}: {one.reason}"
