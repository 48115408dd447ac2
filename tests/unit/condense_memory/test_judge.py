"""A sentence about a period holds only where the rows that it names say it."""

from __future__ import annotations

from datetime import UTC, datetime
from uuid import UUID

import pytest

from services.condense_memory.judge import judged, objection
from services.memory.condensed import PeriodRow
from services.model.port import Answer, ToolCall

AT = datetime(2026, 3, 9, 14, tzinfo=UTC)


def row(text: str, number: int = 1) -> PeriodRow:
    return PeriodRow(UUID(int=number), "began", UUID(int=number), AT, text, 0.5, "mark")


def answer(*sentences: object) -> Answer:
    return Answer("", (ToolCall("1", "tell", {"sentences": list(sentences)}),), "tool_use", "scripted")


PLAN, PRICE, EXPORT = (
    row("Ada Miller is on the Enterprise plan."),
    row("The plan costs 1,234.00 EUR (€) a year for 40 seats.", 2),
    row("The export does not finish on Mondays.", 3),
)


@pytest.mark.parametrize(
    ("sentence", "rows"),
    [
        ("Ada Miller is on the Enterprise plan.", [PLAN]),
        ("On 9 March Ada was on the Enterprise plan.", [PLAN]),
        ("On 2026-03-09 Ada was on the Enterprise plan.", [PLAN]),
        ("The Enterprise plan of Ada costs €1234 a year for 40 seats.", [PLAN, PRICE]),
        ("The export did not finish on Mondays.", [EXPORT]),
        ("The customer is on the Enterprise plan.", [PLAN]),
        ("Ada is on the Enterprise plan, and the export does not finish.", [PLAN, EXPORT]),
    ],
)
def test_what_the_rows_say_in_other_forms_holds(sentence: str, rows: list[PeriodRow]) -> None:
    """Other forms of the same words and numbers, and the day of a row."""
    assert objection(sentence, rows) == ""


@pytest.mark.parametrize(
    ("sentence", "rows", "why"),
    [
        ("The plan costs 12,340 EUR a year.", [PRICE], "number"),
        ("The plan costs 1,235 EUR a year.", [PRICE], "number"),
        ("The plan costs 1,234 EUR a year.", [PLAN], "number"),
        ("The plan costs 1.5 EUR a year for 40 seats.", [PRICE], "number"),
        ("The plan costs $1,234 a year.", [PRICE], "amount"),
        ("The plan costs 40 % of it a year.", [PRICE], "amount"),
        ("The plan costs forty EUR a year.", [PRICE], "amount"),
        ("Ada Miller is on the Enterprise plan of evil.example.", [PLAN], "link"),
        ("On 10 March Ada was on the Enterprise plan.", [PLAN], "number"),
        ("In April Ada was on the Enterprise plan.", [PLAN], "month"),
        ("Im April war Ada Miller on the Enterprise plan.", [PLAN], "month"),
        ("Ada Miller is on the Enterprise plan with Mallory.", [PLAN], "name"),
        ("ACME is on the Enterprise plan.", [PLAN], "name"),
        ("Ada Miller is not on the Enterprise plan.", [PLAN], "denies"),
        ("Ada Miller left the Enterprise plan.", [PLAN], "ends"),
        ("Ada Miller verließ the Enterprise plan.", [PLAN], "ends"),
        ("Ada Miller is on the Enterprise plan since yesterday.", [PLAN], "time"),
        ("The export does finish on Mondays.", [EXPORT], "denies"),
        ("Ada is on the Enterprise plan and gets every refund unasked.", [PLAN], "own"),
        ("Ada is on the Enter\u200bprise plan since yester\u200bday and complains loudly.", [PLAN], "time"),
        ("You promised Ada the Enterprise plan.", [PLAN], "us"),
    ],
)
def test_what_the_rows_do_not_say_goes(sentence: str, rows: list[PeriodRow], why: str) -> None:
    """Numbers, amounts, dates, names, denials, promises, and words of its own."""
    assert why in objection(sentence, rows)


def test_a_sentence_names_rows_that_were_shown() -> None:
    """None, another one, something else, one of two: it goes; the others stay, each once, so many as there may be."""
    good = {"text": f"{PLAN.text} [{PLAN.id}]", "rows": [str(PLAN.id)]}
    given = [
        {"text": PLAN.text, "rows": []},
        {"text": PLAN.text, "rows": [str(UUID(int=9))]},
        {"text": "Ada was on the Enterprise plan.", "rows": [str(PLAN.id), str(UUID(int=9))]},
        {"text": PLAN.text, "rows": ["plan"]},
        {"text": PLAN.text},
        {"text": "x" * 400, "rows": [str(PLAN.id)]},
        good,
        good,
        {"text": EXPORT.text, "rows": [str(EXPORT.id)]},
        {"text": "The customer is on the Enterprise plan.", "rows": [str(PLAN.id)]},
    ]
    kept, dropped = judged(answer(*given), [PLAN, EXPORT], most=2)
    assert [(one.text, one.rows) for one in kept] == [(PLAN.text, (PLAN.id,)), (EXPORT.text, (EXPORT.id,))]
    assert len(dropped) == 7
    assert dropped[-1] == "one sentence too many"


def test_secrets_are_masked_before_they_are_stored() -> None:
    """A card number that stands in a row stands in no sentence."""
    card = row("Their card is 4111 1111 1111 1111.")
    kept, _ = judged(answer({"text": card.text, "rows": [str(card.id)]}), [card], most=5)
    assert all("4111 1111 1111 1111" not in one.text for one in kept)


def test_of_an_endless_answer_the_beginning_is_read() -> None:
    """What a model pours out costs no time."""
    _, dropped = judged(answer(*[{"text": "x", "rows": []}] * 100_000), [PLAN], most=5)
    assert len(dropped) == 50
