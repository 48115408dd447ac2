"""What becomes of what is asked of a document."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from schemas.events import documents as ev
from services.learn_documents.conversion import Reading, read_markdown
from services.learn_documents.decide import CHUNKS_AN_EVENT, Document, removal, submitted

DOCUMENT = UUID(int=1)
NOW = datetime(2026, 3, 1, tzinfo=UTC)


def asked(**given: Any) -> ev.DocumentSubmitted:
    fields = {"document_id": str(DOCUMENT), "title": "given", "origin": "a.md", "blob": "b" * 64, "by": "grace"}
    return ev.DocumentSubmitted.model_validate({**fields, **given})


def known(**given: Any) -> Document:
    stands = Document(title="Refunds", origin="a.md", blob="b" * 64, public_url="", sendable=False, removed_at=None)
    return replace(stands, **given)


REFUNDS = replace(read_markdown("# Refunds\n\nWithin 30 days."), note="hidden text was left out")


def test_a_document_is_indexed_with_its_own_title() -> None:
    """Title, passages, kind and what was left out stand on the event; the ids are of this edition alone."""
    (one,) = submitted(asked(), None, REFUNDS, 0)
    (other,) = submitted(asked(blob="c" * 64), known(), REFUNDS, 1)
    assert isinstance(one, ev.DocumentIndexed)
    assert isinstance(other, ev.DocumentIndexed)
    assert (one.title, one.chunks[0].heading, one.note) == ("Refunds", "Refunds", "hidden text was left out")
    assert one.chunks[0].chunk_id != other.chunks[0].chunk_id
    assert list(submitted(asked(), None, REFUNDS, 0)) == [one]


def test_the_same_content_changes_nothing() -> None:
    """A content that stands already is no new edition; one that was removed, or has another address, is."""
    assert list(submitted(asked(), known(), REFUNDS, 1)) == []
    assert len(list(submitted(asked(), known(removed_at=NOW), REFUNDS, 2))) == 1
    assert len(list(submitted(asked(public_url="https://a.example"), known(), REFUNDS, 1))) == 1


def test_a_change_of_sendable_alone_was_taken_for_no_change() -> None:
    """A file that may go out from now on is indexed as such, and one that may no more is not sent again."""
    (opened,) = submitted(asked(sendable=True), known(), REFUNDS, 1)
    (closed,) = submitted(asked(), known(sendable=True), REFUNDS, 1)
    assert isinstance(opened, ev.DocumentIndexed)
    assert isinstance(closed, ev.DocumentIndexed)
    assert (opened.sendable, closed.sendable) == (True, False)
    assert list(submitted(asked(sendable=True), known(sendable=True), REFUNDS, 1)) == []


def test_what_cannot_be_read_is_refused() -> None:
    """The reason comes along, and an edition that stands stays as it is."""
    (no,) = submitted(asked(blob="c" * 64), known(), Reading("application/pdf", refused="it is encrypted"), 1)
    assert isinstance(no, ev.DocumentRefused)
    assert no.reason == "it is encrypted"
    (headings,) = submitted(asked(), None, read_markdown("# Only a heading"), 0)
    assert isinstance(headings, ev.DocumentRefused)


def test_a_long_document_comes_in_several_events() -> None:
    """No event grows with the document; every passage is in exactly one of them, in order."""
    text = "\n\n".join(f"# Part {number}\n\nText of part {number}." for number in range(2 * CHUNKS_AN_EVENT + 5))
    first, *more = submitted(asked(), None, read_markdown(text), 0)
    assert isinstance(first, ev.DocumentIndexed)
    assert [type(one) for one in more] == [ev.DocumentContinued] * 2
    chunks = [*first.chunks]
    for one in more:
        assert isinstance(one, ev.DocumentContinued)
        assert one.first_position == len(chunks)
        chunks += one.chunks
    assert [one.heading for one in chunks] == [f"Part {number}" for number in range(2 * CHUNKS_AN_EVENT + 5)]
    assert len({one.chunk_id for one in chunks}) == len(chunks)


def test_what_is_not_there_cannot_be_removed() -> None:
    """A removal of nothing, or a second one, is refused in words."""
    command = ev.DocumentRemovalRequested(document_id=DOCUMENT, by="grace", reason="old")
    (done,) = removal(command, known())
    assert done == ev.DocumentRemoved(document_id=DOCUMENT, reason="old", by="grace")
    for current in (None, known(removed_at=NOW)):
        (no,) = removal(command, current)
        assert isinstance(no, ev.DocumentRefused)
        assert "no such document" in no.reason
