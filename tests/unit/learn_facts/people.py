"""Participants, facts, sources and proposals as the decisions about them take them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any
from uuid import UUID, uuid5

from schemas.events.memory import FactRequested
from schemas.events.replies import FactProposal
from services.learn_facts.participant import Fact, Participant, Source
from services.memory.support import Support

PERSON = UUID("b0000000-0000-4000-8000-000000000001")
NOW = datetime(2026, 3, 2, 9, 15, tzinfo=UTC)
TEXT = "Hello,\nwe are on the Enterprise plan now, 40 seats.\nAda"


def id_of(name: str) -> UUID:
    return uuid5(PERSON, name)


def person(*facts: Fact, past: Sequence[Fact] = (), **given: Any) -> Participant:
    return Participant(**{"participant_id": PERSON, "exists": True, "every_fact": (*facts, *past), **given})


def merged(member: UUID, into: UUID) -> Fact:
    """A fact that is shown as another one."""
    return past(str(member), fact_id=member, merged_into=into, supports=())


def support(name: str = "old mail", *, thread: str = "old thread", trust: Any = "authenticated") -> Support:
    return Support(trust, id_of(name), id_of(thread))


def known(value: str = "Starter", **given: Any) -> Fact:
    fields: dict[str, Any] = {
        "fact_id": id_of(f"fact {value}"),
        "kind": "customer_info",
        "key": "plan",
        "value": value,
        "trust": "authenticated",
        "valid_from": datetime(2025, 1, 1, tzinfo=UTC),
        "single_valued": True,
        "supports": (support(),),
    }
    return Fact(**{**fields, **given})


def past(value: str, **given: Any) -> Fact:
    fields: dict[str, Any] = {
        "fact_id": id_of(f"fact {value}"),
        "kind": "customer_info",
        "key": "plan",
        "value": value,
        "trust": "authenticated",
        "valid_from": datetime(2025, 1, 1, tzinfo=UTC),
        "superseded_at": datetime(2025, 6, 1, tzinfo=UTC),
        "valid_to": datetime(2025, 6, 1, tzinfo=UTC),
        "superseded_by": id_of("successor"),
        "withdrawn_at": None,
        "single_valued": True,
        "supports": (support(),),
    }
    return Fact(**{**fields, **given})


def source(**given: Any) -> Source:
    fields: dict[str, Any] = {
        "mail_id": id_of("mail"),
        "thread_id": id_of("thread"),
        "message_id": "mail@example.org",
        "text": TEXT,
        "received_at": NOW,
        "sent_at": None,
        "history": False,
        "trusted": True,
    }
    return Source(**{**fields, **given})


def proposal(**given: Any) -> FactProposal:
    fields: dict[str, Any] = {
        "op": "add",
        "kind": "customer_info",
        "key": "plan",
        "value": "" if given.get("op") == "delete" else "Enterprise",
        "text": "Ada is on the Enterprise plan.",
        "quote": "on the Enterprise plan now",
        "importance": 6,
    }
    return FactProposal.model_validate({**fields, **given})


def asked(op: str, **given: Any) -> FactRequested:
    fields: dict[str, Any] = {"participant_id": PERSON, "op": op, "by": "grace", "kind": "customer_info", "key": "plan"}
    return FactRequested.model_validate({**fields, **given})
