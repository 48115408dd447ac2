"""What a model may say: limits held by the contract, and met by the offline model for any mail."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from schemas.model_output import (
    BRIEF_WORDS,
    SUMMARY_WORDS,
    TOOL_INPUTS,
    FactOperation,
    Reflection,
    RememberInput,
    tool_schema,
)
from schemas.words import clip_words, count_words
from services.model.offline.dates import read_date
from services.model.offline.sentences import sentences
from services.model.port import Layer, Request, Tool
from tests.support.offline import MODEL

_PIECES = st.sampled_from(
    [
        "I'm John Miller from Acme.", "We are on the Gold plan.", "Why is the invoice 12345 higher?", "Thanks!",
        "order 99999" + "9" * 400, "I am on vacation until 31 February.", "I am away until 2026-99-99.",
        "We use " + "Ab " * 200, "still broken!!!", "Please call me at " + "x" * 300, "{who} {value} {0}", "> quoted",
        "Übersicht crashes.", "The d'Artagnan page fails.", "e" * 200 + " crashes.", "--", "\n\n", "\t", "\x00",
        "Best regards,\nJohn", "My phone is +1 " + "1" * 40, "We plan to " + "do things " * 40, "\u202e", "İstanbul",
    ]
)  # fmt: skip
_MAILS = st.one_of(st.text(max_size=400), st.lists(_PIECES, max_size=8).map(" ".join))


def _request(purpose: str, text: str, name: str, tools: tuple[str, ...]) -> Request:
    mail = {
        "from_name": name,
        "from_address": "a@b.example",
        "subject": text[:80],
        "text": text,
        "at": "2026-05-04T09:00:00Z",
    }
    person = {"name": name, "address": "a@b.example", "state": "customer", "risk": "low"}
    layers = (Layer("participant", "", (person,)), Layer("mail", text, (mail,), trusted=False))
    return Request(purpose, "", layers, "", tuple(Tool(one, "", tool_schema(one)) for one in tools))  # type: ignore[arg-type]


@given(text=_MAILS, name=st.one_of(st.just("\r"), st.text(max_size=30)))
async def test_whatever_the_mail_says_the_answer_is_valid(text: str, name: str) -> None:
    """Every call validates against its tool's schema, and every quote is a verbatim span of the mail."""
    for purpose, tools in (("reply", ("reply", "remember_fact", "search_knowledge")), ("reflect", ("reflect",))):
        answer = await MODEL.ask(_request(purpose, text, name, tools))
        assert answer.calls
        for call in answer.calls:
            said = TOOL_INPUTS[call.name].model_validate(call.input)
            facts = said.facts if isinstance(said, Reflection) else [said] if isinstance(said, RememberInput) else []
            assert all(fact.quote in text for fact in facts)


@given(text=_MAILS)
def test_sentences_are_verbatim_and_lose_no_word(text: str) -> None:
    """Sentences are spans of the text, in order, and together hold all of its words."""
    found = sentences(text)
    position = 0
    for one in found:
        position = text.index(one, position) + len(one)
    assert re.sub(r"\s", "", "".join(found)) == re.sub(r"\s", "", text)


@given(text=st.text(max_size=600), limit=st.integers(1, 50))
def test_clipping_keeps_a_prefix_within_the_limit(text: str, limit: int) -> None:
    """A clipped text is a prefix of at most that many words; a short text stays whole."""
    clipped = clip_words(text, limit)
    assert count_words(clipped) <= limit
    assert text.strip().startswith(clipped)
    if count_words(text) <= limit:
        assert clipped == text.strip()


def test_clipping_prefers_a_whole_sentence() -> None:
    """The cut is after the last sentence that fits, else after a word."""
    assert clip_words("One two three. Four five six. Seven.", 5) == "One two three."
    assert clip_words("one two three four", 3) == "one two three"


def test_summary_and_brief_are_cut_by_code() -> None:
    """A model that writes too much is cut to 200 and 500 words."""
    said = Reflection(summary="word " * 900, brief="word " * 900)
    assert len(said.summary.split()) == SUMMARY_WORDS == 200
    assert len(said.brief.split()) == BRIEF_WORDS == 500


@pytest.mark.parametrize(
    "wrong",
    [
        {"quote": ""},
        {"quote": "x" * 301},
        {"importance": 0},
        {"importance": 11},
        {"kind": "two words"},
        {"op": "MERGE"},
        {"value": ""},
        {"owner": "somebody else"},
        {"valid_to": "soon"},
    ],
)
def test_operations_outside_the_contract_are_refused(wrong: dict[str, object]) -> None:
    """A missing or too long quote, an unknown operation or field, a value that is no date: refused."""
    good = {"op": "ADD", "kind": "note", "key": "k", "value": "v", "text": "t", "quote": "q", "importance": 5}
    FactOperation.model_validate(good)
    with pytest.raises(ValidationError):
        FactOperation.model_validate({**good, **wrong})


@pytest.mark.parametrize("name", sorted(TOOL_INPUTS))
def test_every_field_is_explained_to_the_model(name: str) -> None:
    """Each tool's schema is closed, describes itself, and describes every field of its own."""
    schema = tool_schema(name)
    assert schema["additionalProperties"] is False
    assert schema["description"]
    undescribed = [key for key, value in schema["properties"].items() if "description" not in value]
    assert set(undescribed) <= {"relations", "signals"}  # their own models are described


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("15 January", date(2026, 1, 15)),
        ("the 3rd of March", date(2026, 3, 3)),
        ("Dec 24", date(2025, 12, 24)),
        ("May 5th, 2027", date(2027, 5, 5)),
        ("2026-02-28", date(2026, 2, 28)),
        ("Friday", date(2025, 12, 12)),
        ("next Monday", date(2025, 12, 15)),
        ("tomorrow", date(2025, 12, 11)),
        ("the end of the month", date(2025, 12, 31)),
        ("end of the week", date(2025, 12, 14)),
        ("31 February", None),
    ],
)
def test_dates_are_read_against_the_day_of_the_mail(said: str, expected: date | None) -> None:
    """Written on Wednesday, 10 December 2025, a day without a year is the next such day."""
    assert read_date(said, datetime(2025, 12, 10, tzinfo=UTC).date()) == expected
