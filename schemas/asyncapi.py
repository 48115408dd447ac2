"""The AsyncAPI 3.0 document: channels from `topics.yaml`, messages from the models, operations from both.

A channel's id is its topic, a message's id its event type. Payloads are references to the JSON Schemas beside it.
"""

from __future__ import annotations

from typing import Any

from schemas.events import EVENTS, EventData
from schemas.topics import Topic, catalogue

Part = dict[str, Any]

HEADERS: dict[str, Part] = {
    "content-type": {"type": "string", "const": "application/json"},
    "ce_specversion": {"type": "string", "const": "1.0"},
    "ce_id": {"type": "string", "format": "uuid"},
    "ce_type": {"type": "string", "description": "past tense with a major version"},
    "ce_source": {"type": "string", "description": "/correspondent/ and the processor that decided the event"},
    "ce_subject": {"type": "string", "description": "the Kafka key"},
    "ce_time": {"type": "string", "format": "date-time"},
    "ce_traceparent": {"type": "string", "description": "W3C Trace Context"},
    "ce_correlationid": {"type": "string", "format": "uuid", "description": "the first event of the flow"},
    "ce_causationid": {"type": "string", "format": "uuid", "description": "the event that caused this one"},
    "ce_workspace": {"type": "string"},
    "ce_aggregateversion": {"type": "string", "description": "the aggregate's version, a decimal number"},
    "ce_datasubject": {"type": "string", "format": "uuid", "description": "the participant the content is about"},
    "ce_replay": {"type": "string", "description": "the replay that the event belongs to; no mail is sent for one"},
}
OPTIONAL = frozenset({"ce_causationid", "ce_aggregateversion", "ce_datasubject", "ce_replay"})


def document() -> Part:
    """The whole document."""
    topics = catalogue().topics
    return {
        "asyncapi": "3.0.0",
        "info": {
            "title": "Correspondent",
            "version": "1.0.0",
            "description": "What the processors say to each other: CloudEvents 1.0 on Kafka, binary content mode.",
        },
        "defaultContentType": "application/json",
        "channels": {name: _channel(topic) for name, topic in topics.items()},
        "operations": {key: one for topic in topics.values() for key, one in _operations(topic).items()},
        "components": {
            "messages": {name: _message(event) for name, event in sorted(EVENTS.items())},
            "messageTraits": {"cloudevent": {"headers": _headers()}},
        },
    }


def events_of(topic: str) -> list[str]:
    """The event types that a topic carries, sorted."""
    return sorted(name for name, event in EVENTS.items() if topic == event.TOPIC)


def _channel(topic: Topic) -> Part:
    return {
        "address": topic.name,
        "description": topic.purpose,
        "messages": {name: {"$ref": f"#/components/messages/{name}"} for name in events_of(topic.name)},
        "bindings": {"kafka": {"partitions": topic.partitions, "topicConfiguration": _configuration(topic)}},
    }


def _configuration(topic: Topic) -> Part:
    return {"cleanup.policy": ["delete"], "retention.ms": topic.retention_days * 24 * 3600 * 1000}


def _operations(topic: Topic) -> dict[str, Part]:
    sent = {f"{one}.sends.{topic.name}": _operation(topic, "send", one) for one in topic.producers}
    return sent | {f"{one}.receives.{topic.name}": _operation(topic, "receive", one) for one in topic.consumers}


def _operation(topic: Topic, action: str, processor: str) -> Part:
    group = {"bindings": {"kafka": {"groupId": {"type": "string", "const": processor}}}} if action == "receive" else {}
    return {"action": action, "channel": {"$ref": f"#/channels/{topic.name}"}, "tags": [{"name": processor}], **group}


def _message(event: type[EventData]) -> Part:
    key = catalogue().topics[event.TOPIC].key
    return {
        "name": event.TYPE,
        "summary": (event.__doc__ or "").strip().splitlines()[0],
        "contentType": "application/json",
        "traits": [{"$ref": "#/components/messageTraits/cloudevent"}],
        "payload": {"$ref": f"json/{event.TYPE}.json"},
        "bindings": {"kafka": {"key": {"type": "string", "format": "uuid", "description": key}}},
    }


def _headers() -> Part:
    return {"type": "object", "required": [name for name in HEADERS if name not in OPTIONAL], "properties": HEADERS}
