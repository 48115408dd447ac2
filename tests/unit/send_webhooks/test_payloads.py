"""What each stored event is told as: of its schema, and without what anybody wrote unless that is wanted."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from schemas.events import EVENTS, EventData
from schemas.events.answers import Assigned
from schemas.events.mail import EmailRead
from schemas.events.marks import NoteAdded, TagsChanged
from schemas.events.replies import ReplyBounced, ReplySent
from schemas.webhook_payloads import DATA, KINDS, TEST
from services.send_webhooks.payloads import SOURCES, body_of, kind_of

EXAMPLES = Path(__file__).parents[3] / "schemas" / "examples"
AT = datetime(2026, 3, 2, 9, 15, tzinfo=UTC)
NAMES = {  # texts that the operator gave, or that are words of a fixed list
    Assigned: {"assignee"},
    EmailRead: {"language"},
    NoteAdded: {"by"},
    ReplyBounced: {"kind"},
    ReplySent: {"by"},
    TagsChanged: {"added", "removed"},
}
SECRET = "Zephyrine Quillfeather"


def example(kind: type[EventData]) -> EventData:
    said = json.loads((EXAMPLES / f"{kind.TYPE}.json").read_text(encoding="utf-8"))
    return EVENTS[kind.TYPE].model_validate(said["data"])


def with_secrets(event: EventData) -> EventData:
    """The event with a person's words in each of its texts."""
    kept = NAMES.get(type(event), set()) | {"inbox"}
    texts = {
        name: SECRET if isinstance(value, str) else (SECRET,)
        for name, value in event
        if name not in kept and type(event).model_fields[name].annotation in (str, tuple[str, ...])
    }
    return event.model_copy(update=texts)


def test_every_public_type_has_a_source_and_a_schema() -> None:
    """A type that is listed is told of by exactly one event, and the other way round."""
    assert sorted(SOURCES.values()) == sorted(KINDS)
    assert DATA.keys() == {*KINDS, TEST}


@pytest.mark.parametrize("event", [with_secrets(example(one)) for one in SOURCES], ids=lambda one: one.TYPE)
def test_without_text_no_word_of_anybody_leaves(event: EventData) -> None:
    """Whatever stands in an event's texts, a body without text is of its schema and holds none of it."""
    kind = SOURCES[type(event)]
    body = body_of(kind, event, AT, with_text=False)
    said: dict[str, Any] = json.loads(body)
    assert (said["type"], said["timestamp"]) == (kind, "2026-03-02T09:15:00+00:00")
    assert DATA[kind].model_validate(said["data"]).model_dump(mode="json") == said["data"]
    assert SECRET.encode() not in body
    assert body == body_of(kind, event, AT, with_text=False)


@pytest.mark.parametrize("field", ["recipient", "diagnostic", "status"])
def test_a_bounce_tells_no_address(field: str) -> None:
    """Of a bounce the kind alone is told."""
    event = example(ReplyBounced)
    told = body_of("reply.bounced", event.model_copy(update={field: SECRET}), AT, with_text=True)
    assert SECRET.encode() not in told


def test_a_text_that_no_utf_8_holds_is_told_escaped() -> None:
    """A lone surrogate from a broken mail fails no webhook."""
    event = example(ReplySent).model_copy(update={"text": "a\ud800b"})
    assert json.loads(body_of("reply.sent", event, AT, with_text=True))["data"]["text"]["body"] == "a\ud800b"


def test_mail_that_nobody_answers_is_not_told() -> None:
    """Imported mail, bounces, robots and what is parked."""
    mail = example(EmailRead)
    verdict = mail.verdict  # type: ignore[attr-defined]
    live = mail.model_copy(update={"mode": "live", "verdict": verdict.model_copy(update={"kind": "answer"})})
    assert kind_of(live) == "mail.received"
    assert kind_of(live.model_copy(update={"mode": "history"})) is None
    for kind in ("park", "bounce", "complaint", "duplicate", "loop", "colleague"):
        assert kind_of(live.model_copy(update={"verdict": verdict.model_copy(update={"kind": kind})})) is None
