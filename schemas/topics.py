"""Topics as code: `topics.yaml`, read and checked once."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, cached_property
from pathlib import Path

from pydantic import BaseModel, ConfigDict


class Topic(BaseModel):
    """One topic: what it is for, its key, its size, what it carries, who writes it, and who handles which types."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    purpose: str
    key: str
    partitions: int
    retention_days: int
    types: tuple[str, ...]
    producers: tuple[str, ...]
    consumers: Mapping[str, tuple[str, ...]]


class Catalogue(BaseModel):
    """Everything in `topics.yaml`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    topics: dict[str, Topic]
    tables: dict[str, str]

    def consumers(self) -> list[tuple[str, str]]:
        """Every (topic, processor) pair, as `services.pipeline.consumers` has it of the code."""
        return [(name, processor) for name, topic in self.topics.items() for processor in topic.consumers]

    def handled(self) -> list[tuple[str, str, str]]:
        """Every (topic, processor, type): which events wait for whom."""
        return [
            (name, processor, kind)
            for name, topic in self.topics.items()
            for processor, kinds in topic.consumers.items()
            for kind in kinds
        ]

    @cached_property
    def skipped(self) -> list[str]:
        """What consumers have no handler for, in any major version: "consumer type", the type without its version."""
        return [
            f"{processor} {stem}"
            for topic in self.topics.values()
            for processor, kinds in topic.consumers.items()
            for stem in sorted({stem_of(kind) for kind in topic.types} - {stem_of(kind) for kind in kinds})
        ]

    def consumed_by(self, processor: str) -> tuple[str, ...]:
        """The topics a processor reads, in the file's order."""
        return tuple(name for name, topic in self.topics.items() if processor in topic.consumers)


def stem_of(kind: str) -> str:
    """A type without its major version."""
    return kind.rpartition(".v")[0] or kind


@cache
def catalogue() -> Catalogue:
    """The catalogue of this version of the code."""
    import yaml

    # The loader in C, which every wheel has, takes a tenth of the time: every command waits for it.
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    document = yaml.load(Path(__file__).with_name("topics.yaml").read_text(encoding="utf-8"), Loader=loader)
    defaults = document["defaults"]
    topics = {name: Topic(**{**defaults, "name": name, **entry}) for name, entry in document["topics"].items()}
    return Catalogue(topics=topics, tables=document["tables"])
