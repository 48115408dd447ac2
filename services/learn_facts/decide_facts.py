"""Pure decisions about facts: what a proposal becomes, given what is believed and the mail that it cites.

A fact is stored only if its quote really stands in the cited mail of an authenticated author. Conflicts are
settled by trust (human > authenticated > inferred), then by time; every decision carries its rule in words.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from uuid import UUID, uuid5

from schemas.events.base import EventData
from schemas.events.memory import (
    FactCorroborated,
    FactPinned,
    FactRecorded,
    FactRefused,
    FactRequested,
    FactRetracted,
    Trust,
)
from schemas.events.replies import FactProposal
from services.core.memory.quotes import Span, find_quote
from services.learn_facts.participant import KnownFact, Participant, Source
from services.learn_facts.policy import (
    RANK,
    STORE_FROM,
    Support,
    confidence,
    end_of_day,
    importance,
    single_valued,
    valid_from,
)

Events = Iterator[EventData]


def propose(who: Participant, proposal: FactProposal, source: Source | None, fact_id: UUID) -> Events:
    """What becomes of one ADD, UPDATE or DELETE of the model."""
    span = find_quote(proposal.quote, source.text) if source else None
    refusal = _refusal(proposal, source, span)
    if refusal or source is None or span is None:
        yield _refused(who, proposal, refusal)
    elif proposal.op == "delete":
        yield from _delete(who, proposal, source)
    else:
        yield from _assert(who, proposal, source, span, fact_id)


def request(who: Participant, asked: FactRequested, fact_id: UUID, now: datetime) -> Events:
    """What becomes of a person's wish: people are believed before all else."""
    known = next((one for one in who.facts if one.fact_id == asked.fact_id), None)
    if asked.op == "add":
        yield _by_person(who, asked, fact_id, now, [one for one in who.facts if _conflicts(one, asked.kind, asked.key)])
    elif known is None:
        yield FactRefused(**_of(who), op=asked.op, kind=asked.kind, key=asked.key, reason="there is no such fact")
    elif asked.op == "correct":
        kept = asked.model_copy(update={"kind": known.kind, "key": known.key})
        yield _by_person(who, kept, fact_id, now, [known])
    elif asked.op == "forget":
        yield FactRetracted(**_of(who), fact_id=known.fact_id, reason=f"{asked.by} took it back")
    else:
        yield FactPinned(**_of(who), fact_id=known.fact_id, pinned=asked.op == "pin", by=asked.by)


def _refusal(proposal: FactProposal, source: Source | None, span: Span | None) -> str:
    if source is None:
        return "the quote stands in no mail of this turn"
    if not source.trusted:
        return "the sender is not authenticated"
    if span is None:
        return "the quote does not stand in the cited mail"
    if proposal.op != "delete" and importance(proposal.kind, proposal.importance) < STORE_FROM:
        return f"importance {proposal.importance} is below the threshold"
    return ""


def _assert(who: Participant, proposal: FactProposal, source: Source, span: Span, fact_id: UUID) -> Events:
    support = Support("authenticated", source.mail_id, source.thread_id)
    rivals = [one for one in who.facts if _conflicts(one, proposal.kind, proposal.key) or _meant(one, proposal)]
    same = next((one for one in [*rivals, *who.facts] if _says_same(one, proposal)), None)
    if same is not None:
        if all(one.mail_id != source.mail_id for one in same.supports):
            yield _corroborated(who, same, support, span)
        return
    since = valid_from(source.sent_at, source.received_at, history=source.history)
    stronger = [one for one in rivals if RANK[one.trust] > RANK["authenticated"]]
    later = [one for one in rivals if one.valid_from > since]
    if stronger or later:
        why = "a person here said otherwise" if stronger else "what stands is newer"
        yield _refused(who, proposal, f"{why}: {(stronger or later)[0].value!r}")
        return
    yield FactRecorded(
        **_of(who),
        fact_id=fact_id,
        kind=proposal.kind,
        key=proposal.key,
        value=proposal.value,
        text=proposal.text or proposal.value,
        single_valued=single_valued(proposal.kind),
        confidence=confidence([support]),
        importance=importance(proposal.kind, proposal.importance),
        trust="authenticated",
        valid_from=since,
        expires_at=end_of_day(proposal.valid_to),
        source_mail=source.mail_id,
        source_thread=source.thread_id,
        source_message_id=source.message_id,
        quote=span.quote,
        span_start=span.start,
        span_end=span.end,
        supersedes=tuple(one.fact_id for one in rivals),
        rule="the newer value of an authenticated sender replaces the older" if rivals else "new",
    )


def _delete(who: Participant, proposal: FactProposal, source: Source) -> Events:
    meant = [one for one in who.facts if _meant(one, proposal)]
    if not meant:
        meant = [one for one in who.facts if one.key == proposal.key and not proposal.fact_id]
    if not meant:
        yield _refused(who, proposal, "there is no such fact")
    since = valid_from(source.sent_at, source.received_at, history=source.history)
    for one in meant:
        if RANK[one.trust] > RANK["authenticated"]:
            yield _refused(who, proposal, f"a person here recorded it: {one.value!r}")
        elif one.valid_from > since:
            yield _refused(who, proposal, f"what stands is newer: {one.value!r}")
        else:
            reason = proposal.text or "the customer took it back"
            yield FactRetracted(**_of(who), fact_id=one.fact_id, reason=reason, source_mail=source.mail_id)


def _corroborated(who: Participant, fact: KnownFact, support: Support, span: Span) -> FactCorroborated:
    return FactCorroborated(
        **_of(who),
        fact_id=fact.fact_id,
        confidence=confidence([*fact.supports, support]),
        source_mail=support.mail_id,
        source_thread=support.thread_id,
        trust=support.trust,
        quote=span.quote,
    )


def _by_person(
    who: Participant, asked: FactRequested, fact_id: UUID, now: datetime, rivals: list[KnownFact]
) -> FactRecorded:
    trust: Trust = "human"
    return FactRecorded(
        **_of(who),
        fact_id=fact_id,
        kind=asked.kind,
        key=asked.key,
        value=asked.value,
        text=asked.text or asked.value,
        single_valued=single_valued(asked.kind),
        confidence=confidence([Support(trust, None, None)]),
        importance=importance(asked.kind, 8),
        trust=trust,
        valid_from=now,
        expires_at=end_of_day(asked.valid_to),
        supersedes=tuple(one.fact_id for one in rivals),
        rule=f"{asked.by} said so",
    )


def _conflicts(known: KnownFact, kind: str, key: str) -> bool:
    return single_valued(kind) and known.single_valued and known.key == key


def _meant(known: KnownFact, proposal: FactProposal) -> bool:
    return bool(proposal.fact_id) and str(known.fact_id) == proposal.fact_id


def _says_same(known: KnownFact, proposal: FactProposal) -> bool:
    return known.key == proposal.key and known.value.casefold().split() == proposal.value.casefold().split()


def _refused(who: Participant, proposal: FactProposal, reason: str) -> FactRefused:
    return FactRefused(**_of(who), op=proposal.op, kind=proposal.kind, key=proposal.key, reason=reason)


def _of(who: Participant) -> dict[str, UUID]:
    return {"participant_id": who.participant_id}


def relation_id(participant_id: UUID, subject: str, predicate: str, other: str) -> UUID:
    """The edge that these three words are."""
    return uuid5(participant_id, "\x1f".join((subject.casefold(), predicate, other.casefold())))
