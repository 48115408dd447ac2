"""What becomes of a submitted document: indexed, or refused in words."""

from __future__ import annotations

from uuid import UUID

import pytest

from schemas.events.memory import DocumentIndexed, DocumentRefused, DocumentSubmitted
from services.learn_documents.handler import _read


def submitted(**given: str) -> DocumentSubmitted:
    fields = {"document_id": str(UUID(int=1)), "title": "given", "origin": "a.md", "blob": "b" * 64, "by": "grace"}
    return DocumentSubmitted.model_validate({**fields, **given})


def test_a_document_is_indexed_with_ids_of_its_content() -> None:
    """The same content has the same passages; another version has others."""
    one = _read(submitted(), b"# Refunds\n\nWithin 30 days.")
    again = _read(submitted(), b"# Refunds\n\nWithin 30 days.")
    other = _read(submitted(blob="c" * 64), b"# Refunds\n\nWithin 30 days.")
    assert isinstance(one, DocumentIndexed)
    assert isinstance(other, DocumentIndexed)
    assert one == again
    assert (one.title, one.chunks[0].heading) == ("Refunds", "Refunds")
    assert one.chunks[0].chunk_id != other.chunks[0].chunk_id


@pytest.mark.parametrize(
    ("media_type", "content", "said"),
    [
        ("application/zip", b"PK", "application/zip cannot be read yet"),
        ("text/plain", b"\xff\xfe", "not UTF-8"),
        ("text/plain", b" \n ", "the document is empty"),
    ],
)
def test_what_cannot_be_read_is_refused_in_words(media_type: str, content: bytes, said: str) -> None:
    """Nothing unreadable is indexed; the reason is said."""
    event = _read(submitted(media_type=media_type), content)
    assert isinstance(event, DocumentRefused)
    assert event.reason.startswith(said)
