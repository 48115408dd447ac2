"""Ids that everybody who meets the thing makes the same."""

from __future__ import annotations

from uuid import UUID

from services.core.ids import document_id, participant_id


def test_case_does_not_make_another_person() -> None:
    """The same address in any case is one participant of a workspace."""
    assert participant_id("main", "Ada@Example.org") == participant_id("main", "ada@example.ORG")


def test_workspaces_share_nobody() -> None:
    """The same address in another workspace is another participant."""
    assert participant_id("main", "ada@example.org") != participant_id("other", "ada@example.org")


def test_ids_stay_what_they_are() -> None:
    """Stored events name these ids: the way they are made never changes."""
    assert participant_id("main", "ada@example.org") == UUID("0514b271-c9e4-50a3-898d-8e9af906d46b")
    assert document_id("main", "docs/exports.md") == UUID("5cddcad3-4a44-56a5-ace1-0ce9e6d14732")


def test_a_person_is_no_document() -> None:
    """Two kinds of things with the same name have two ids."""
    assert participant_id("main", "x") != document_id("main", "x")
