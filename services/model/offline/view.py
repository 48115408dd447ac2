"""What the offline model reads of a request: layers as data, by name.

The contract with the layers (all keys optional; an unknown key is ignored, a missing one reads as empty):

    persona      items: {agent, signature}
    behaviours   items: {rule}
    participant  items: one {name, address, state, risk}, issues {issue, reports, resolved},
                 facts {id, kind, key, value, text, recorded_at, ended},
                 and what memory answers {recall, question, of_memory, about, gist, window, fact}
    profile      items: {key, value}
    earlier      items: other threads {subject, state, text, at}
    session      items: {text, at}
    thread       items: {state, goals: [str]}
    recent       items: {role: "customer" | anything else = ours, text, at}
    knowledge    items: {id, title, heading, text}
    mail         items, oldest first: {message_id, from_name, from_address, subject, text, at}; `text` = new text only
    rows         of a period: items {id, at, text}
    question     of an investigation, read as text
    folder       of an investigation: items {path, text}
    others       read as text (brief, summary, grains, graph, patterns)

`at` and `recorded_at` are ISO 8601 texts or datetimes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime
from functools import cached_property
from typing import Any

from services.model.offline.requests import body_of
from services.model.port import Layer, Request


@dataclass(frozen=True, slots=True)
class Known:
    """One remembered fact about the author."""

    id: str
    kind: str
    key: str
    value: str
    text: str
    at: datetime | None


@dataclass(frozen=True, slots=True)
class Passage:
    """One chunk of our documents."""

    id: str
    title: str
    heading: str
    text: str


@dataclass(frozen=True, slots=True)
class Line:
    """One message of a conversation; `ours` if we wrote it."""

    ours: bool
    text: str
    subject: str
    at: datetime | None
    name: str = ""
    address: str = ""


@dataclass(frozen=True, slots=True)
class Recollection:
    """What memory answers to one question: `sure`, `rings a bell` (the gist, and from when) or `nothing`."""

    verdict: str
    question: str
    of_memory: bool  # it asks what was said or done between us
    of_then: bool  # it asks of another time than now
    gist: str
    since: datetime | None
    until: datetime | None


class View:
    """A request, read. Nothing is computed twice, nothing is kept between requests."""

    def __init__(self, request: Request) -> None:
        self.request = request
        self._layers = {layer.name: layer for layer in request.layers}

    def offers(self, tool: str) -> bool:
        """Whether the request has a tool of that name."""
        return any(one.name == tool for one in self.request.tools)

    def text(self, name: str) -> str:
        """The text of a layer, or ""."""
        layer = self._layers.get(name)
        return layer.text.strip() if layer else ""

    def items(self, name: str) -> tuple[Mapping[str, Any], ...]:
        """The data of a layer, or nothing."""
        layer = self._layers.get(name, Layer(name, ""))
        return layer.items

    def value(self, layer: str, key: str) -> str:
        """The first non-empty value under `key` in the items of a layer, or ""."""
        return next((str(item[key]).strip() for item in self.items(layer) if item.get(key)), "")

    @cached_property
    def mails(self) -> tuple[Line, ...]:
        """The new mails of this turn, oldest first; at least one, perhaps empty."""
        found = tuple(_line(item, ours=False) for item in self.items("mail"))
        return found or (Line(False, self.text("mail"), "", None),)

    @cached_property
    def body(self) -> str:
        """What the new mails say, without greetings, closings and names; each word stands so in its mail."""
        return "\n\n".join(filter(None, (body_of(mail.text) for mail in self.mails)))

    @cached_property
    def recent(self) -> tuple[Line, ...]:
        """The thread's recent messages, oldest first."""
        return tuple(_line(item, ours=item.get("role") != "customer") for item in self.items("recent"))

    @cached_property
    def passages(self) -> tuple[Passage, ...]:
        """What was found in our documents, best first."""
        return passages_of(self.items("knowledge"))

    @cached_property
    def facts(self) -> tuple[Known, ...]:
        """What is remembered about the author, operator-owned profile fields included."""
        current = (item for item in self.items("participant") if not item.get("ended"))
        learned = tuple(_known(item) for item in current if item.get("key") and item.get("value"))
        profile = tuple(_known({"kind": "profile", **item}) for item in self.items("profile") if item.get("key"))
        return profile + learned

    @cached_property
    def recollections(self) -> tuple[Recollection, ...]:
        """What memory answers to the questions of the mail."""
        return tuple(_recollection(item) for item in self.items("participant") if item.get("recall"))

    @cached_property
    def name(self) -> str:
        """The author's name: remembered, else as the mail's From says it; "" if unknown."""
        stored = next((fact.value for fact in self.facts if fact.key == "name"), "")
        written = next((mail.name.strip() for mail in self.mails if mail.name.strip()), "")
        return stored.strip() or self.value("participant", "name") or written

    @cached_property
    def now(self) -> datetime | None:
        """When the newest mail was written."""
        return self.mails[-1].at

    @cached_property
    def last_contact(self) -> datetime | None:
        """When we last had to do with the author before this turn, as far as the layers show."""
        times = [line.at for line in self.recent] + [fact.at for fact in self.facts]
        times += [moment(item.get("at")) for item in (*self.items("earlier"), *self.items("session"))]
        first = self.mails[0].at
        before = [at for at in times if at and (first is None or at < first)]
        return max(before, default=None)


def passages_of(items: Iterable[Mapping[str, Any]]) -> tuple[Passage, ...]:
    """Chunks from their data."""
    return tuple(Passage(*(str(item.get(name) or "") for name in ("id", "title", "heading", "text"))) for item in items)


def _line(item: Mapping[str, Any], *, ours: bool) -> Line:
    return Line(
        ours,
        str(item.get("text", "")),
        str(item.get("subject") or ""),
        moment(item.get("at")),
        str(item.get("from_name") or ""),
        str(item.get("from_address") or ""),
    )


def _known(item: Mapping[str, Any]) -> Known:
    value = str(item.get("value", ""))
    return Known(
        str(item.get("id", "")),
        str(item.get("kind", "")),
        str(item.get("key", "")).lower(),
        value,
        str(item.get("text") or value),
        moment(item.get("recorded_at") or item.get("at")),
    )


def _recollection(item: Mapping[str, Any]) -> Recollection:
    since, until = item.get("window") or (None, None)
    return Recollection(
        str(item["recall"]),
        str(item.get("question") or ""),
        bool(item.get("of_memory")),
        bool(item.get("about")),
        str(item.get("gist") or ""),
        moment(since),
        moment(until),
    )


def moment(value: object) -> datetime | None:
    """A point in time, aware, from ISO 8601 or from a date; None for anything else."""
    if isinstance(value, str):
        try:
            value = datetime.fromisoformat(value)
        except ValueError:
            return None
    if isinstance(value, date) and not isinstance(value, datetime):
        value = datetime(value.year, value.month, value.day, tzinfo=UTC)
    if not isinstance(value, datetime):
        return None
    return value if value.tzinfo else value.replace(tzinfo=UTC)
