"""Who is told that a topic got records."""

from __future__ import annotations

from collections import Counter

from services.core.bus.bell import Bell
from services.core.bus.delivery import Record
from services.core.bus.group import _concerns
from services.core.bus.publisher import _types
from services.learn_documents import PROCESSOR


def test_every_record_woke_every_consumer_of_its_topic() -> None:
    """Of 45 records a mail that a consumer was woken for it had a handler for 20."""
    rung: Counter[str] = Counter()
    bell = Bell()
    bell.listen(["deliveries"], lambda: rung.update(["sent"]), lambda kind: kind == "reply.sent.v1")
    bell.listen(["deliveries"], lambda: rung.update(["all"]))
    bell.ring(["deliveries"], {"deliveries": {"reply.sending.v1"}})
    assert rung == {"all": 1}
    bell.ring(["deliveries"], {"deliveries": {"reply.sending.v1", "reply.sent.v1"}})
    assert rung == {"all": 2, "sent": 1}
    bell.ring(["deliveries"])
    bell.ring([])
    assert rung == {"all": 4, "sent": 3}, "who does not say of which type rings for all"


def test_a_record_that_names_no_type_may_concern_everybody() -> None:
    """So may one of a type that only a newer version knows."""
    bare, typed = Record("t", None, b""), Record("t", None, b"", (("ce_type", b"reply.sent.v1"),))
    assert _types([bare, typed]) == {"", "reply.sent.v1"}
    assert _concerns(PROCESSOR, "")
    assert _concerns(PROCESSOR, "reply.sent.v1")
    assert _concerns(PROCESSOR, "reply.invented_later.v1")
    assert not _concerns(PROCESSOR, "reply.sending.v1")
