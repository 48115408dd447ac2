"""Which failures to publish may pass by themselves."""

from __future__ import annotations

import pytest
from aiokafka.errors import (
    KafkaConnectionError,
    KafkaTimeoutError,
    MessageSizeTooLargeError,
    NotLeaderForPartitionError,
    ProducerClosed,
    RecordTooLargeError,
    TopicAuthorizationFailedError,
    UnknownError,
    UnknownTopicOrPartitionError,
)

from services.core.bus.publisher import LogRefused, LogUnavailable, named


@pytest.mark.parametrize("kind", [MessageSizeTooLargeError, RecordTooLargeError, TopicAuthorizationFailedError])
def test_what_the_broker_refuses_is_refused(kind: type[Exception]) -> None:
    """No later attempt can succeed."""
    assert isinstance(named(kind()), LogRefused)


@pytest.mark.parametrize(
    "kind", [KafkaConnectionError, NotLeaderForPartitionError, UnknownTopicOrPartitionError, TimeoutError]
)
def test_what_passes_is_tried_again(kind: type[Exception]) -> None:
    """The broker is away, or does not lead, or has not made the topic yet."""
    assert isinstance(named(kind()), LogUnavailable)


def test_an_error_that_the_broker_could_not_name_was_taken_for_a_refusal() -> None:
    """The embedded broker answers so for a topic that it has forgotten and that is about to be made anew."""
    assert isinstance(named(UnknownError()), LogUnavailable)


@pytest.mark.parametrize("kind", [ProducerClosed, KafkaTimeoutError])
def test_a_turn_failed_because_our_own_producer_was_replaced(kind: type[Exception]) -> None:
    """A broker that lost its log gets a new producer; what the former one still held is published by that."""
    assert isinstance(named(kind()), LogUnavailable)
