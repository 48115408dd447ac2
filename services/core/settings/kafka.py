"""The log, and how much of it a processor takes on at once."""

from __future__ import annotations

from pydantic import Field

from services.core.settings.group import Group
from services.core.settings.kafka_access import LogAccess

GRACE_S = 5.0  # how long cancelled work may take to clean up
TOOLS_S = 10.0  # what a handler may spend in addition to its question to the model, in one attempt


class KafkaSettings(LogAccess):
    """The log."""

    brokers: str = "127.0.0.1:9092"
    topic_prefix: str = Field("", description="put before each topic and group, so that several can share a broker")
    replication: int = 1
    embedded: bool = Field(False, description="the broker is the embedded one: no idempotent producer, forgets")
    session_timeout_s: float = Field(30, ge=6, description="after this silence a process counts as dead; embedded: 6")
    rebalance_timeout_s: float = Field(90, gt=0, description="how long a rebalance waits for what is being handled")


class LaneSettings(Group):
    """How much a processor takes on at once, and for how long.

    The figures hold each other: `timeout_s` has room for one question to the model (`model.budget_s`, 55 s) and
    `TOOLS_S` of tools and tables; `retry_s` bounds everything after the first attempt and has room for a whole question
    again, so a handler that timed out gets a retry, which its checkpoints let go on where it was; and one attempt,
    cancelled and cleaned up, ends before `kafka.rebalance_timeout_s`. Between attempts a rebalance waits for nobody.
    """

    running: int = Field(64, ge=1)
    admitted: int = Field(256, ge=1)
    timeout_s: float = Field(70, gt=0, description="for one attempt of a handler")
    retry_s: float = Field(60, ge=0, description="for all retries of a handler, with the pauses before them")
