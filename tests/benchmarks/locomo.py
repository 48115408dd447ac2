"""LoCoMo (Maharana et al. 2024, CC BY-NC 4.0): long two-person conversations with questions and their evidence.

The text is read from the folder it lies in and goes into a temporary database only; none of it is shipped.
A question without evidence that exists in its conversation cannot be scored and is left out.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

EVIDENCE = re.compile(r"D:?(\d+):(\d+)")
SESSION = re.compile(r"session_(\d+)")
CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop", 5: "false premise"}
FALSE_PREMISE = 5


@dataclass(frozen=True, slots=True)
class Turn:
    """One turn; `session` counts from 1, `position` within the session from 0."""

    session: int
    position: int
    speaker: str
    text: str
    at: datetime


@dataclass(frozen=True, slots=True)
class Question:
    """A question and the indices of the turns that hold its answer."""

    text: str
    category: int
    evidence: frozenset[int]


@dataclass(frozen=True, slots=True)
class Conversation:
    """One conversation of the corpus."""

    name: str
    turns: tuple[Turn, ...]
    questions: tuple[Question, ...]


def load(folder: Path) -> list[Conversation]:
    """The conversations in `locomo/conversations.json` under a corpora folder; empty where it is absent."""
    file = folder / "locomo" / "conversations.json"
    if not file.exists():
        return []
    return [_conversation(raw, number) for number, raw in enumerate(json.loads(file.read_text(encoding="utf-8")))]


def _conversation(raw: dict[str, Any], number: int) -> Conversation:
    sessions = sorted(int(found[1]) for key in raw["conversation"] if (found := SESSION.fullmatch(key)))
    turns, where = [], {}
    for session in sessions:
        at = _moment(raw["conversation"][f"session_{session}_date_time"])
        for position, turn in enumerate(raw["conversation"][f"session_{session}"]):
            where[turn["dia_id"]] = len(turns)
            turns.append(Turn(session, position, turn["speaker"], turn["text"], at))
    questions = [_question(item, where) for item in raw["qa"]]
    name = raw.get("sample_id", f"conversation {number}")
    return Conversation(name, tuple(turns), tuple(q for q in questions if q.evidence))


def _question(item: dict[str, Any], where: dict[str, int]) -> Question:
    named = {f"D{a}:{b}" for entry in item["evidence"] for a, b in EVIDENCE.findall(entry)}
    return Question(item["question"], item["category"], frozenset(where[dia] for dia in named if dia in where))


def _moment(written: str) -> datetime:
    """`1:56 pm on 8 May, 2023` as an aware time."""
    return datetime.strptime(written, "%I:%M %p on %d %B, %Y").replace(tzinfo=UTC)
