"""Topics as code: `topics.yaml`, read and checked once."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import yaml
from pydantic import BaseModel, ConfigDict


class Topic(BaseModel):
    """One topic: what it is for, its key, its size, who writes and who reads it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    purpose: str
    key: str
    partitions: int
    retention_days: int
    producers: tuple[str, ...]
    consumers: tuple[str, ...]


class Catalogue(BaseModel):
    """Everything in `topics.yaml`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    topics: dict[str, Topic]
    tables: dict[str, str]

    def consumed_by(self, processor: str) -> tuple[str, ...]:
        """The topics a processor reads, in the file's order."""
        return tuple(name for name, topic in self.topics.items() if processor in topic.consumers)


@cache
def catalogue() -> Catalogue:
    """The catalogue of this version of the code."""
    document = yaml.safe_load(Path(__file__).with_name("topics.yaml").read_text(encoding="utf-8"))
    defaults = document["defaults"]
    topics = {name: Topic(**{**defaults, "name": name, **entry}) for name, entry in document["topics"].items()}
    return Catalogue(topics=topics, tables=document["tables"])
