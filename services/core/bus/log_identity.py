"""What a log is, as its broker says: the cluster's id and each topic's, which a topic that is made again does not keep.

aiokafka 0.14 asks for metadata up to version 5, in which a topic has no id; version 12 (Apache Kafka 3.1 and newer, the
embedded broker) is asked for here. A broker that does not speak it gives no ids: what it lost is then seen by missing
topics and by offsets that went back.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from io import BytesIO
from typing import Any
from uuid import UUID

from aiokafka.client import AIOKafkaClient
from aiokafka.errors import IncompatibleBrokerVersion
from aiokafka.protocol.abstract import AbstractType
from aiokafka.protocol.api import Request, RequestStruct, Response
from aiokafka.protocol.types import Boolean, CompactArray, CompactString, Int16, Int32, Schema, TaggedFields

import services.core.bus.broker_client  # noqa: F401

METADATA, VERSION = 3, 12
NO_ID = UUID(int=0)


@dataclass(frozen=True, slots=True)
class LogIdentity:
    """A cluster's id and its topics' ids, each "" where the broker gives none; a topic that is missing has no entry."""

    cluster: str
    topics: Mapping[str, str]


async def log_identity(client: AIOKafkaClient) -> LogIdentity:
    """Ask a broker. Raises `KafkaError`."""
    try:
        answer = await client.send(client.get_random_node(), _Ask())
    except (IncompatibleBrokerVersion, NotImplementedError):
        return LogIdentity("", dict.fromkeys((await client.fetch_all_metadata()).topics(), ""))
    ids = {name: "" if id == NO_ID else str(id) for _, name, id, *_ in answer.topics}
    return LogIdentity(answer.cluster_id or "", ids)


class _Uuid(AbstractType[UUID]):  # type: ignore[misc]
    @classmethod
    def encode(cls, value: UUID) -> bytes:
        return value.bytes

    @classmethod
    def decode(cls, data: BytesIO) -> UUID:
        return UUID(bytes=data.read(16))

    @classmethod
    def repr(cls, value: UUID) -> str:
        return str(value)


_TEXT = CompactString("utf-8")
_BROKER = (("node", Int32), ("host", _TEXT), ("port", Int32), ("rack", _TEXT), ("tags", TaggedFields))
_PARTITION = (
    ("error", Int16), ("number", Int32), ("leader", Int32), ("leader_epoch", Int32), ("replicas", CompactArray(Int32)),
    ("in_sync", CompactArray(Int32)), ("offline", CompactArray(Int32)), ("tags", TaggedFields),
)  # fmt: skip
_TOPIC = (
    ("error", Int16), ("name", _TEXT), ("id", _Uuid), ("internal", Boolean), ("partitions", CompactArray(*_PARTITION)),
    ("operations", Int32), ("tags", TaggedFields),
)  # fmt: skip


class _Answer(Response):  # type: ignore[misc]
    API_KEY, API_VERSION = METADATA, VERSION
    SCHEMA = Schema(
        ("throttle_ms", Int32), ("brokers", CompactArray(*_BROKER)), ("cluster_id", _TEXT), ("controller", Int32),
        ("topics", CompactArray(*_TOPIC)), ("tags", TaggedFields),
    )  # fmt: skip


class _Question(RequestStruct):  # type: ignore[misc]
    API_KEY, API_VERSION, FLEXIBLE_VERSION, RESPONSE_TYPE = METADATA, VERSION, True, _Answer
    SCHEMA = Schema(
        ("topics", CompactArray(("id", _Uuid), ("name", _TEXT), ("tags", TaggedFields))), ("create", Boolean),
        ("operations", Boolean), ("tags", TaggedFields),
    )  # fmt: skip


class _Ask(Request[_Question]):  # type: ignore[misc]
    API_KEY = METADATA

    def build(self, request_struct_class: type[_Question]) -> Any:
        every_topic = None
        return request_struct_class(every_topic, False, False, {})
