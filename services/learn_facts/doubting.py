"""Which standing values a mail makes doubtful though nothing takes their place. Pure.

The model spoke of the key or of the value: where the mail itself says that the value is so no more, or asserts another
one that the model failed to quote, the standing value is to be confirmed instead of silently current.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from schemas.events.base import EventData
from schemas.events.memory import FactCorroborated, FactMarkedStale, FactRecorded, FactRetracted
from schemas.events.replies import FactProposal
from services.learn_facts.assertion import given_up, is_said, tells_of_a_change
from services.learn_facts.forms import same_value
from services.learn_facts.keys import is_of_a_person
from services.learn_facts.participant import Fact, Participant, Source
from services.learn_facts.policy import Policy, valid_from


def doubts(
    who: Participant,
    proposal: FactProposal,
    decided: Sequence[EventData],
    mails: Iterable[Source],
    policy: Policy,
    *,
    unquoted: bool,
) -> Iterator[FactMarkedStale]:
    """What becomes doubtful after a decision on a proposal; `unquoted`: its quote stands in none of the mails."""
    settled = _settled(decided)
    heard = [one for one in mails if one.trusted and not one.is_ours]
    for known in who.facts:
        if known.fact_id in settled or known.stale or known.trust != "authenticated" or not known.single_valued:
            continue
        reason = next((why for one in heard if (why := _why(known, proposal, one, policy, unquoted))), "")
        if reason:
            yield FactMarkedStale(
                participant_id=who.participant_id, fact_id=known.fact_id, parent_id=known.fact_id, reason=reason
            )


def _why(known: Fact, proposal: FactProposal, mail: Source, policy: Policy, unquoted: bool) -> str:
    """Why a mail makes a value doubtful, in words; "" if it does not."""
    since = valid_from(mail.sent_at, mail.received_at, history=mail.history, learning=policy.learning)
    same = same_value(known.value, proposal.value)
    if since <= known.confirmed_at or not (same or known.key == proposal.key):
        return ""
    if given_up(known.value, mail.text):
        return "a newer mail seems to say that it is so no more"
    if same and proposal.op != "delete" and tells_of_a_change(known.value, proposal.quote, mail.text):
        return "the words that are cited for it tell of a change, and not of this value"
    theirs = is_of_a_person(proposal.key, proposal.kind)
    if unquoted and not same and is_said(proposal.value, mail.text, of_a_person=theirs):
        return f"a newer mail seems to say otherwise: {proposal.value!r}"
    return ""


def _settled(decided: Iterable[EventData]) -> set[object]:
    """The facts that the decision itself already speaks of."""
    found: set[object] = set()
    for event in decided:
        if isinstance(event, FactRecorded):
            found |= {event.fact_id, *event.supersedes}
        elif isinstance(event, FactRetracted | FactCorroborated | FactMarkedStale):
            found.add(event.fact_id)
    return found
