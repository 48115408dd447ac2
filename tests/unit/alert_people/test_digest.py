"""What is told of calls."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from services.alert_people.digest import MOST_THREADS, Call, by_thread, payload, subject_of, text_of

AT = datetime(2026, 3, 2, 9, 15, tzinfo=UTC)
LINK = "https://desk.example/t/{thread_id}"


def call(number: int = 1, **given: Any) -> Call:
    fields: dict[str, Any] = {
        "call_id": UUID(int=100 + number),
        "kind": "escalated",
        "thread_id": UUID(int=number),
        "inbox": "support",
        "subject": "Our contract",
        "reason": "Grace has those.",
        "at": AT,
    }
    return Call(**{**fields, **given})


def test_the_calls_of_a_thread_are_told_together() -> None:
    """A breach and the escalation that it makes are two lines below one subject, with one link."""
    calls = [call(kind="deadline_missed", reason="due within 4 h"), call(call_id=UUID(int=9))]
    (told,) = by_thread(calls, LINK)
    assert told.link == f"https://desk.example/t/{UUID(int=1)}"
    text = text_of([told])
    assert text.count("Our contract") == 1
    assert text.index("a deadline was missed: due within 4 h") < text.index("escalated: Grace has those.")
    assert text.count("https://") == 1


def test_a_flood_is_counted_where_it_is_not_listed() -> None:
    """A mail lists so many threads, and says how many more there are and how to see them."""
    threads = by_thread([call(number, at=AT + timedelta(seconds=number)) for number in range(1, 101)], "")
    assert subject_of(threads) == "100 threads need a person"
    text = text_of(threads)
    assert text.count("correspondent thread ") == MOST_THREADS
    assert f"And {100 - MOST_THREADS} more" in text


def test_hostile_texts_stay_on_their_line_and_short() -> None:
    """A subject with line breaks or of any length makes no line of its own."""
    (told,) = by_thread([call(subject="a\r\nBcc: x@evil.example\n" + "y" * 5000, reason="z\n" * 4000)], "")
    lines = text_of([told]).split("\n")
    assert max(len(line) for line in lines) < 420
    assert not any(line.startswith("Bcc:") for line in lines)
    assert "\n" not in subject_of([told])


def test_a_thread_without_a_subject_has_words_for_it() -> None:
    """An empty subject leaves no empty line."""
    (told,) = by_thread([call(subject="")], "")
    assert subject_of([told]) == "A person is needed: a mail without a subject"
    assert "(no subject)" in text_of([told])


def test_the_payload_is_json_of_ids_and_words() -> None:
    """Type, timestamp and data; a link, a mail and a draft only where there is one."""
    threads = by_thread([call(mail_id=UUID(int=5))], "")
    said = json.loads(payload(UUID(int=7), "main", AT, threads))
    assert (said["type"], said["timestamp"]) == ("person.called", "2026-03-02T09:15:00+00:00")
    (thread,) = said["data"]["threads"]
    assert set(thread) == {"thread_id", "inbox", "subject", "calls"}
    assert set(thread["calls"][0]) == {"id", "kind", "reason", "at", "mail_id"}
