"""The language a text is written in (py3langid), or nothing where the text is too short to tell."""

from __future__ import annotations

from functools import lru_cache
from threading import Lock

from py3langid.langid import MODEL_FILE, LanguageIdentifier

LEAST_LETTERS = 20
SAID = 3  # letters of an alphabet that say as much as one Han character, kana or Hangul syllable
_IDEOGRAPHS = "\u2e80"
SAMPLE_CHARACTERS = 800
LEAST_PROBABILITY = 0.5
_loading = Lock()  # mails are read in several threads, and each would load the model for itself


def detect_language(text: str, least: float = LEAST_PROBABILITY) -> str:
    """ISO 639-1 code of `text`; "" for fewer than 20 letters (7 of East Asia's), no words, an undecided classifier.

    `least`: the probability from which it is decided.
    """
    sample = text[:SAMPLE_CHARACTERS]
    letters = sum(map(str.isalpha, sample))
    if letters < LEAST_LETTERS and letters + (SAID - 1) * sum(one >= _IDEOGRAPHS for one in sample) < LEAST_LETTERS:
        return ""
    with _loading:
        identifier = _identifier()
    code, probability = identifier.classify(sample)
    return str(code) if probability >= least and len(code) == 2 else ""


@lru_cache(maxsize=1)
def _identifier() -> LanguageIdentifier:
    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
