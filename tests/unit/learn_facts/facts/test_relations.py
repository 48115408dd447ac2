"""Edges of the graph."""

from __future__ import annotations

from services.learn_facts.facts.relations import relation_id
from tests.unit.learn_facts.people import id_of


def test_an_edge_of_the_graph_is_its_words() -> None:
    """The id of an edge folds case of its ends, and keeps three words apart from two."""
    one = relation_id(id_of("p"), "Ada", "works_at", "Acme")
    assert one == relation_id(id_of("p"), "ADA", "works_at", "acme")
    assert one != relation_id(id_of("p"), "Ada works_at", "", "Acme")
