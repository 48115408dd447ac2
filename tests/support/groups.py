"""Consumer groups that are set back: what a broker does that forgets, or an operator by hand."""

from __future__ import annotations

from collections.abc import Mapping

from aiokafka import AIOKafkaConsumer, TopicPartition
from aiokafka.structs import OffsetAndMetadata

from services.core.bus.broker_client import Brokers, client_arguments
from services.core.bus.delivery import Partition


async def reset_group(brokers: Brokers, group: str, offsets: Mapping[Partition, int]) -> None:
    """Set where `group` reads next; the group must have no members. On Tansu it must never have had any."""
    consumer = AIOKafkaConsumer(**client_arguments(brokers), group_id=group, enable_auto_commit=False)
    await consumer.start()
    try:
        consumer.assign([TopicPartition(*partition) for partition in offsets])
        await consumer.commit({TopicPartition(*p): OffsetAndMetadata(offset, "") for p, offset in offsets.items()})
    finally:
        await consumer.stop()
