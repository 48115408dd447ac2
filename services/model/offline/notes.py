"""What is stored at once, while the mail is read: news about the author's account, so that "noted" is true.

Only for somebody whose memory is open to us; `reflect` reads the same mail again afterwards and corroborates.
"""

from __future__ import annotations

from typing import Any

from services.model.offline.facts import Stated, stated
from services.model.offline.operations import third_person
from services.model.offline.sentences import quotable, sentences
from services.model.offline.view import View

_KINDS = ("customer_info", "contact_info", "preference", "event")
_MOST = 3


def news(view: View, text: str) -> list[Stated]:
    """At most three stated facts that memory does not hold yet; none for an author who is not authenticated."""
    if not view.items("participant") or view.now is None or not view.offers("remember_fact"):
        return []
    stored = {(one.kind, one.key, one.value.lower()) for one in view.facts}
    told = [one for one in stated(text, view.now.date()) if one.kind in _KINDS]
    return [one for one in told if (one.kind, one.key, one.value.lower()) not in stored][:_MOST]


def noted(facts: list[Stated], text: str) -> str:
    """One line that repeats the author's own sentences; "" for no news."""
    said = [quotable(one) for one in sentences(text) if any(fact.quote in one for fact in facts)]
    short = [one for one in dict.fromkeys(said) if not one.endswith("?")]
    return "I have noted: " + " ".join(f'"{one}"' for one in short) if short else ""


def remembering(facts: list[Stated], who: str) -> list[tuple[str, dict[str, Any]]]:
    """The calls of `remember_fact` that store them."""
    return [
        (
            "remember_fact",
            {
                "kind": fact.kind,
                "key": fact.key,
                "value": fact.value,
                "text": third_person(fact, who),
                "quote": fact.quote,
                "importance": fact.importance,
                "valid_to": fact.valid_to.isoformat() if fact.valid_to else None,
            },
        )
        for fact in facts
    ]
