"""Taking apart two mailboxes that had one id: each fact goes by the mails that it rests on."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from schemas.events.memory import FactCorroborated, FactRecorded, FactRetracted, FactsUnmerged
from services.learn_facts.identity.decide import arrives, divided, leaves
from services.learn_facts.identity.load import KeptFact, KeptSource
from services.learn_facts.participant import Fact, Participant

AT = datetime(2026, 3, 1, tzinfo=UTC)
SHARED, OWN = Participant(UUID(int=1), exists=True), Participant(UUID(int=2), exists=True)


def fact(number: int, **changed: Any) -> KeptFact:
    """A row of `facts`."""
    row: dict[str, Any] = {"fact_id": UUID(int=number), "kind": "customer_info", "key": f"key {number}", "value": "x", "text": "x",
           "single_valued": True, "confidence": 0.7, "importance": 0.5, "trust": "authenticated", "valid_from": AT,
           "expires_at": None, "superseded_at": None, "merged_into": None}  # fmt: skip
    return KeptFact(**(row | changed))


def source(number: int, mail: int | None, moves: bool) -> KeptSource:
    """A row of `fact_sources`, of the other mailbox or not."""
    return KeptSource(
        fact_id=UUID(int=number),
        mail_id=UUID(int=mail) if mail else None,
        reply_id=None,
        thread_id=None,
        trust="authenticated",
        quote="x",
        span_start=0,
        span_end=1,
        said_at=AT,
        message_id="m",
        moves=moves,
    )


def test_what_rests_on_the_others_mails_alone_leaves() -> None:
    """Retracted here and recorded there, with each mail that says so; a mail of both keeps it here; a person's entry stays."""
    facts = [fact(11), fact(12), fact(13)]
    sources = [
        source(11, 1, True),
        source(11, 2, True),
        source(12, 1, True),
        source(12, 3, False),
        source(13, None, False),
    ]
    division = divided(facts, sources)
    gone = [one.fact_id for one in leaves(SHARED, division) if isinstance(one, FactRetracted)]
    assert gone == [UUID(int=11)]
    there = list(arrives(OWN, division))
    assert [type(one) for one in there] == [FactRecorded, FactCorroborated, FactRecorded]
    assert [one.source_mail for one in there] == [UUID(int=1), UUID(int=2), UUID(int=1)]  # type: ignore[attr-defined]
    assert all(one.participant_id == OWN.participant_id for one in there)  # type: ignore[attr-defined]


def test_what_was_merged_into_it_stands_for_itself() -> None:
    """A fact of this mailbox that a fact of the other one showed is believed again."""
    facts = [fact(11), fact(12, superseded_at=AT, merged_into=UUID(int=11))]
    events = list(leaves(SHARED, divided(facts, [source(11, 1, True), source(12, 3, False)])))
    assert [type(one) for one in events] == [FactsUnmerged, FactRetracted]
    assert events[0].members == (UUID(int=12),)  # type: ignore[attr-defined]


def test_what_the_mailbox_has_said_since_stands() -> None:
    """A value that it gave under its own id already is not replaced by an older one; asked again, nothing comes twice."""
    newer = Fact(UUID(int=21), "customer_info", "key 11", "y", "authenticated", AT, True)
    division = divided([fact(11)], [source(11, 1, True)])
    (event,) = arrives(Participant(OWN.participant_id, exists=True, every_fact=(newer,)), division)
    assert isinstance(event, FactRecorded)
    assert (event.past, event.superseded_by) == (True, UUID(int=21))
    moved = Fact(event.fact_id, "customer_info", "key 11", "x", "authenticated", AT, True)
    assert not list(arrives(Participant(OWN.participant_id, exists=True, every_fact=(moved,)), division))
