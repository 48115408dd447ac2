"""What a model answers is sealed like the event on which it was asked, so that event has to be sealed itself."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from schemas.events import EVENTS
from services.pipeline import PROCESSORS

EXAMPLES = Path(__file__).parents[2] / "schemas" / "examples"
ASKED_ON = sorted({kind.TYPE for one in PROCESSORS if one.asks_model for kind in one.handlers})
TAKES_WORDS_AWAY = {"investigation.retention_due.v1", "period.retention_due.v1"}  # no model is asked on these


@pytest.mark.parametrize("kind", ASKED_ON)
def test_an_answer_about_a_person_was_kept_in_the_clear(kind: str) -> None:
    """An event about somebody on which a model may be asked has a part that their key seals, else an erase stops nothing."""
    text = (EXAMPLES / f"{kind}.json").read_text(encoding="utf-8")
    data = EVENTS[kind].model_validate(json.loads(text)["data"])
    is_sealed = data.skeleton().keys() < type(data).model_fields.keys()
    assert is_sealed or kind in TAKES_WORDS_AWAY or data.subject_id() is None
