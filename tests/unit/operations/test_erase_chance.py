"""A proof of a large store does not fail by chance: among enough random bytes every short word stands somewhere."""

from __future__ import annotations

import base64
import json
from random import Random
from uuid import UUID

from services.operations.erase.stores import _json, _lying
from services.operations.erase.words import Marks

MARKS = Marks(frozenset({"ada@acme.example"}), frozenset({"ada", "88123"}))
NOISE = Random(42).randbytes(1_000_000)  # in which they stand, as bytes and in base64
SEALED = {"$key": str(UUID(int=1)), "$of": "x", "$sealed": base64.b64encode(NOISE).decode(), "thread_id": "t"}


def test_a_short_word_among_ciphertext_is_no_finding() -> None:
    """Three letters stand alone in any few megabytes; longer words and addresses are still looked for among them."""
    text = NOISE.decode("utf-8", "replace")
    assert "ada" in MARKS.found_in(text)
    assert MARKS.found_in_any(text) == set()
    assert MARKS.found_in_any(f"{text} 88123 ada@acme.example") == {"88123", "ada@acme.example"}
    assert MARKS.found_in_any("the file of ada") == {"ada"}


def test_the_sealed_part_of_a_row_or_record_is_not_searched_and_what_lies_beside_it_is() -> None:
    """What is sealed is searched opened; what somebody wrote in its place, and all the rest, as it lies."""
    assert "ada" in MARKS.found_in(json.dumps(SEALED))
    assert MARKS.found_in(_json({"data": SEALED, "list": [SEALED]})) == set()
    assert MARKS.found_in(_lying(json.dumps(SEALED).encode())) == set()
    assert MARKS.found_in(_json({"data": {**SEALED, "subject": "for ada"}})) == {"ada"}
    assert MARKS.found_in(_json({"data": {**SEALED, "$sealed": "said ada to 88123"}})) == {"ada", "88123"}
    assert MARKS.found_in(_lying(b'{"$sealed": broken, said ada')) == {"ada"}
