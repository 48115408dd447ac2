from dataclasses import replace
from datetime import UTC, datetime
from uuid import UUID, uuid5

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.memory.calibration import calibrated, judgement, judging, sure_of_said
from services.memory.cue import FACT_CUES, Cue
from services.memory.embeddings import MiniLM
from services.memory.facts import Fact
from services.memory.multilingual import Multilingual
from services.memory.search import Hit

SPACE = UUID(int=11)
UNCALIBRATED = (
    *((MiniLM.name, one) for one in ("fr", "", "any")),
    *((Multilingual.name, one) for one in ("th", "", "any")),
    ("voyage-3/9", "en"),
)
NINE = frozenset({"de", "en", "es", "fr", "it", "ja", "pl", "pt", "zh"})


def hit(similarity: float, coverage: float) -> Hit:
    at = datetime(2026, 3, 1, tzinfo=UTC)
    fact = Fact(
        fact_id=uuid5(SPACE, "one"), participant_id=SPACE, kind="note", key="k", value="v", text="a fact",
        confidence=0.9, importance=0.5, weight=1, trust="authenticated", pinned=False, valid_from=at, valid_to=None,
        expires_at=None, recorded_at=at, superseded_at=None, source_message_id=None, quote=None,
    )  # fmt: skip
    return Hit(fact, 1.0, 1.0, similarity, 1.0, coverage)


def verdict(similarity: float, coverage: float, model: str, language: str) -> str:
    return judgement([hit(similarity, coverage)], FACT_CUES, model, language).cue.verdict


def test_what_is_calibrated() -> None:
    """The default embedder is calibrated for nine languages, the English one for English."""
    assert calibrated(Multilingual.name) == NINE
    assert calibrated(MiniLM.name) == {"en"}
    assert calibrated("voyage-3/1024") == frozenset()


@pytest.mark.parametrize("language", sorted(NINE))
def test_a_calibrated_pair_can_be_sure(language: str) -> None:
    """Near in meaning and in all words is sure, in each language that was calibrated; alike in neither is not."""
    assert verdict(0.9, 1.0, Multilingual.name, language) == "sure"
    assert verdict(0.1, 0.0, Multilingual.name, language) == "nothing"


@given(
    similarity=st.floats(-1, 1),
    coverage=st.floats(0, 1),
    pair=st.sampled_from(UNCALIBRATED),
)
def test_what_was_not_calibrated_is_never_sure(similarity: float, coverage: float, pair: tuple[str, str]) -> None:
    """Whatever was found: an embedder says nothing surely in a language that it was not calibrated for."""
    assert verdict(similarity, coverage, *pair) != "sure"


@pytest.mark.parametrize(
    ("model", "language"), [(Multilingual.name, "de"), (Multilingual.name, ""), (MiniLM.name, "en")]
)
def test_messages_were_said_to_answer_where_nobody_had_measured_it(model: str, language: str) -> None:
    """What was said is calibrated for the default embedder in English; elsewhere it is to be confirmed."""
    sure, bell = Cue("sure", 1.0, 1.0), Cue("rings a bell", 0.5, 1.0)
    assert sure_of_said(sure, Multilingual.name, "en")
    assert not sure_of_said(bell, Multilingual.name, "en")
    assert not sure_of_said(sure, model, language)


def test_a_stricter_operator_is_heard() -> None:
    """Sure is what the calibration and the operator's setting both call so."""
    strict, lax = (replace(FACT_CUES, sure_from=share) for share in (0.999, 0.5))
    assert judging(strict, Multilingual.name, "en").sure_from == 0.999
    assert judging(lax, Multilingual.name, "en").sure_from == judging(FACT_CUES, Multilingual.name, "en").sure_from


def test_a_language_that_was_not_calibrated_is_judged_by_what_was_fitted_on_all() -> None:
    """It may ring a bell by that; an embedder that was never calibrated is judged by the operator's settings."""
    assert judging(FACT_CUES, Multilingual.name, "th").related == judging(FACT_CUES, Multilingual.name, "any").related
    assert judging(FACT_CUES, Multilingual.name, "th").related != FACT_CUES.related
    assert judging(FACT_CUES, "voyage-3/9", "th") == FACT_CUES
