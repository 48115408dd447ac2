"""What makes an answer of memory sure, by embedder and language, as tests/benchmarks/fact_cue fitted it.

Cosines of one model, or in one language, say nothing of those of another: two French sentences are as alike to an
English model as question and answer in English. So what was not calibrated is never sure; it rings a bell at most.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from services.memory.cue import Cue, CueSettings, Logistic, Recall, recalled, unsure
from services.memory.search import Hit

TABLE = Path(__file__).with_name("calibration.toml")
OF_SAID = {"use-multilingual-3-and-minilm": {"en"}}  # where tests/benchmarks/recall_cue calibrated what was said
ANY = "any"  # what stands for a language that was not calibrated, fitted on all of them


@dataclass(frozen=True, slots=True)
class Calibration:
    """How likely a fact answers, and from which probability on that may be called sure."""

    related: Logistic
    sure_from: float

    def over(self, settings: CueSettings) -> CueSettings:
        """The operator's settings with this judgement: sure is what both call so."""
        return replace(settings, related=self.related, sure_from=max(self.sure_from, settings.sure_from))


def judgement(hits: Sequence[Hit], settings: CueSettings, model: str, language: str) -> Recall:
    """What hits amount to that an embedder found for a question in a language; see `recalled`."""
    found = recalled(hits, judging(settings, model, language))
    return found if language in calibrated(model) else unsure(found)


def judging(settings: CueSettings, model: str, language: str) -> CueSettings:
    """The operator's settings with what was fitted for an embedder and a language, or for any language."""
    fitted = _fitted().get(model, {})
    one = fitted.get(language) or fitted.get(ANY)
    return one.over(settings) if one else settings


def sure_of_said(cue: Cue, model: str, language: str) -> bool:
    """Whether a search of what was said answers for sure: never where that was not calibrated."""
    return cue.verdict == "sure" and language in OF_SAID.get(model, ())


def calibrated(model: str) -> frozenset[str]:
    """The languages in which an embedder's answers may be sure."""
    return frozenset(_fitted().get(model, {})) - {ANY}


@cache
def _fitted() -> Mapping[str, Mapping[str, Calibration]]:
    written = tomllib.loads(TABLE.read_text(encoding="utf-8"))
    return {
        model: {
            language: Calibration(Logistic(bias, (similarity, coverage)), sure_from)
            for language, (bias, similarity, coverage, sure_from) in of.items()
        }
        for model, of in written.items()
    }
