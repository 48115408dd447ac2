"""A saved case is what was saved, to the byte."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from uuid import UUID

import pytest

from schemas.events.threads import TurnFailed
from services.core.bus.envelope import first
from services.operations.replay.case import Case, CaseUnreadable, StoredEvent, load, save

ID = UUID(int=1)
FAILED = TurnFailed(thread_id=ID, turn_id=ID, processor="generate_reply", error="none")
EVENT = StoredEvent.of(first(FAILED, id=ID, source="test", time=datetime(2026, 3, 2, tzinfo=UTC), workspace="main"))
CASE = Case(
    name="a case",
    processors=("read_email",),
    start=EVENT,
    history=(),
    answers=(),
    expected=(EVENT,),
    blobs={"the mail": bytes(range(256)) + b"\r\n.\r\n"},
)


def test_a_case_with_a_raw_mail_is_read_back_as_it_was(tmp_path: Path) -> None:
    """Bytes that are no text in any charset come back as they went."""
    assert load(save(CASE, tmp_path)) == CASE


def test_a_case_of_before_has_no_blobs(tmp_path: Path) -> None:
    """What was saved before cases held mails is still read."""
    path = tmp_path / "old.json"
    path.write_text(CASE.model_dump_json(exclude={"blobs"}))
    assert load(path).blobs == {}


def test_a_mail_that_somebody_has_spoilt_is_refused(tmp_path: Path) -> None:
    """What is no base64 is no mail; the file is named."""
    path = save(CASE, tmp_path)
    path.write_text(path.read_text().replace('"the mail": "', '"the mail": "?'))
    with pytest.raises(CaseUnreadable, match=r"a case\.json"):
        load(path)
