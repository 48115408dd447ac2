"""What the layer of incidents tells of others' reports."""

from __future__ import annotations

from datetime import UTC, datetime
from uuid import UUID, uuid5

from services.load_memory.layers.incidents import told_to
from services.memory.troubles import Report

SPACE = UUID(int=7)
AT = datetime(2026, 3, 2, 9, tzinfo=UTC)
ROW = {"incident_id": SPACE, "is_open": True, "closed_at": None, "answer": ""}


def report(address: str, trouble: str) -> Report:
    """A customer's report."""
    own = uuid5(SPACE, address)
    ids = dict.fromkeys(("report_id", "participant_id", "thread_id", "mail_id", "person"), own)
    return Report(**ids, trouble=trouble, names=frozenset(), said_at=AT, incident_id=SPACE, address=address)


def test_where_one_report_opens_an_incident_no_other_customer_hears_its_words() -> None:
    """With `customers = 1` the word of one is told to themselves; to others, what two said."""
    ann, bo = report("ann@one.example", "zebra export"), report("bo@two.example", "csv export")
    assert told_to(ROW, [ann], bo.person, 1) is None
    own, both = told_to(ROW, [ann], ann.person, 1), told_to(ROW, [ann, bo], SPACE, 1)
    assert own is not None
    assert "zebra" in own.text
    assert both is not None
    assert "«export»" in both.text
    assert "zebra" not in both.text
