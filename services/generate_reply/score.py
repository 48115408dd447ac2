"""A draft's score: how well it rests on what its model was shown. Computed by code, never asked of the model. Pure.

The score is a weighted mean of parts from 0 to 1. A floor is what no part makes up for: a claim without support, a
sender whom nothing proves, a first contact, a stranger's words in view, a topic of risk.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from schemas.events.replies import DraftScore, Floor, ScorePart
from services.core.wording import as_read
from services.generate_reply.claims import claims_of, spoken_claims
from services.generate_reply.grounds import Grounds
from services.generate_reply.risk import topics_of
from services.mail.language import detect_language

WEIGHTS = {"support": 0.4, "knowledge": 0.25, "recall": 0.15, "sender": 0.1, "topic": 0.1}
RECALLED = {"sure": 1.0, "rings a bell": 0.5, "nothing": 0.0}
UNCITED, UNKNOWN = 0.5, 0.25  # of knowledge: passages were shown and none is cited; there were none
MOST_UNSUPPORTED = 10  # that are named to a person
LONGEST = 120  # characters of one


@dataclass(frozen=True, slots=True)
class Written:
    """A draft's text, the mails that it answers, what it cites, and whether their author is proven."""

    text: str
    mails: tuple[str, ...]
    citations: tuple[str, ...]
    trusted: bool


def scored(written: Written, grounds: Grounds, first_contact: bool) -> tuple[DraftScore, tuple[str, ...]]:
    """The score with its parts, and what the text claims without support, in its words."""
    text = as_read(written.text)
    claims = [*claims_of(text), *spoken_claims(text, detect_language(text))]
    unsupported = [claim.text for claim in claims if not grounds.support(claim)]
    topics = topics_of((*map(as_read, written.mails), text))
    values = {
        "support": 1 - len(unsupported) / len(claims) if claims else 1.0,
        "knowledge": _knowledge(written.citations, grounds.passages),
        "recall": min((RECALLED.get(one, 0.0) for one in grounds.recalled), default=1.0),
        "sender": float(written.trusted),
        "topic": float(not topics),
    }
    held: Sequence[tuple[bool, Floor]] = (
        (bool(unsupported), "unsupported"),
        (not written.trusted, "sender"),
        (first_contact, "first_contact"),
        (grounds.strangers, "stranger"),
    )
    parts = tuple(ScorePart(name=name, value=round(values[name], 4), weight=weight) for name, weight in WEIGHTS.items())
    floors = (*(floor for broken, floor in held if broken), *topics)
    whole = round(sum(one.value * one.weight for one in parts), 4)
    shown = tuple(dict.fromkeys(" ".join(one.split())[:LONGEST] for one in unsupported))
    return DraftScore(value=whole, parts=parts, floors=floors), shown[:MOST_UNSUPPORTED]


def _knowledge(citations: Sequence[str], passages: int) -> float:
    if citations:
        return 1.0
    return UNCITED if passages else UNKNOWN
