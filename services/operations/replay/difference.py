"""What differs between what happened and what a replay did: field by field, in words."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

from schemas.events.threads import TurnFailed
from services.core.bus.envelope import Envelope

# Told, and no difference. What of earlier threads bears on a mail is found by embeddings, too, and those of the newest
# messages follow them within a minute.
FOR_INFORMATION = frozenset(
    {"usage", "model", "context: tokens", "context: earlier", "brief_bases", "bases", "settings_version"}
)
MOMENTS = frozenset({"happened_at", "replied_at", "ended_at"})  # earlier releases did not record them
NOTHING = ""


@dataclass(frozen=True, slots=True)
class Difference:
    """One field that is not what it was. `counts` is False for what is only told, like the tokens spent.

    `place` is that of the event among those that were recorded, from 0.
    """

    place: int
    event: str
    field: str
    before: str
    after: str
    counts: bool = True


def differences(expected: Sequence[Envelope], played: Sequence[Envelope], error: str = "") -> tuple[Difference, ...]:
    """Every field of every event that differs, in the order of the events. A missing event differs as a whole.

    A handler that fails as it failed then is no difference.
    """
    if error and [event.data.error for event in expected if isinstance(event.data, TurnFailed)] == [error]:
        return ()
    found: list[Difference] = []
    for place, (before, after) in enumerate(zip_longest(expected, played)):
        if before is not None and after is not None and before.type == after.type:
            found += _fields(place, before.type, told(before), told(after))
        elif not error:
            found += [_whole(place, one, happened=one is before) for one in (before, after) if one is not None]
    if error:
        found.append(Difference(len(played), "replay", "error", NOTHING, error))
    return tuple(found)


def told(envelope: Envelope) -> dict[str, str]:
    """An event's fields as text: layers of context and settings one by one, lists one line an element."""
    fields: dict[str, str] = {}
    for name, value in envelope.data.model_dump(mode="json").items():
        if name in MOMENTS:
            continue
        if name == "layers":
            fields |= {f"context: {layer['name']}": layer["text"] for layer in value}
            fields["context: tokens"] = str(sum(layer["tokens"] for layer in value))
        elif name == "settings":
            fields |= {f"setting: {key}": f"{one['value']}  ({one['source']})" for key, one in value.items()}
        elif name == "usage":
            fields[name] = ", ".join(f"{count} {what}" for what, count in value.items())
        elif name == "attachments":  # a sandbox has no keys, so it calls the same file otherwise
            fields[name] = _text([{**one, "blob": ""} for one in value])
        elif name == "facts":
            fields[name] = "\n".join(_fact(one) for one in value)
        else:
            fields[name] = _text(value)
    return fields


def _fields(place: int, event: str, before: Mapping[str, str], after: Mapping[str, str]) -> Iterator[Difference]:
    for name in dict.fromkeys((*before, *after)):
        was, became = before.get(name, NOTHING), after.get(name, NOTHING)
        if was != became:
            yield Difference(place, event, name, was, became, name not in FOR_INFORMATION)


def _whole(place: int, event: Envelope, *, happened: bool) -> Difference:
    text = "\n".join(f"{name}: {value}" for name, value in told(event).items() if value)
    return Difference(place, event.type, "the event", text if happened else NOTHING, NOTHING if happened else text)


def _fact(fact: Mapping[str, Any]) -> str:
    said = f" «{fact['quote']}»" if fact["quote"] else ""
    return f"{fact['op']} {fact['kind']}/{fact['key']} = {fact['value']}{said}"


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return "\n".join(_text(one) for one in value)
    return "" if value is None else json.dumps(value, ensure_ascii=False, sort_keys=True)
