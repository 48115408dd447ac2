"""What is put into every automatic reply, whatever the model wrote."""

from __future__ import annotations

import pytest

from services.send_email.draft import disclosed

SENTENCE = "I am an AI assistant. Answer 'human' and a person takes over."


@pytest.mark.parametrize(
    ("text", "gives"),
    [
        ("Hi,\nit is done.\n", f"Hi,\nit is done.\n\n{SENTENCE}"),
        (f"Hi.\n\n{SENTENCE}\n\nYour team", f"Hi.\n\n{SENTENCE}\n\nYour team"),
        ("Hi. I am an AI assistant.\nAnswer 'human'  and a person takes over.", None),
        ("I am a person, not an AI assistant.", f"I am a person, not an AI assistant.\n\n{SENTENCE}"),
        ("", ""),
        (" \x07\n", " \x07\n"),
    ],
)
def test_the_sentence_stands_in_the_reply_once(text: str, gives: str | None) -> None:
    """It is put behind a text that does not have it, whatever else that claims; a text without words stays without."""
    assert disclosed(text, SENTENCE) == (text if gives is None else gives)
