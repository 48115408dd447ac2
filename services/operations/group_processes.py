"""Who is running: the processes in each consumer's group, with what the broker says of their partitions."""

from __future__ import annotations

from dataclasses import dataclass

from schemas.topics import catalogue
from services.core.app import App
from services.core.bus.group_members import Member, group_members


@dataclass(frozen=True, slots=True)
class AtWork:
    """The processes of one consumer."""

    consumer: str
    members: tuple[Member, ...]

    @property
    def told(self) -> str:
        """In words: how many, and where with how many partitions, as far as the broker says."""
        if not self.members:
            return "nobody"
        known = [f"{one.host} ({len(one.partitions)} partitions)" for one in self.members if one.host]
        return f"{len(self.members)}{': ' if known else ''}{', '.join(known)}"


async def at_work(app: App) -> list[AtWork] | None:
    """Each consumer with its processes, in the order of the flow. None where the broker does not say."""
    kafka = app.settings.kafka
    groups = {kafka.topic_prefix + name: name for name in sorted({name for _, name in catalogue().consumers()})}
    members = await group_members(kafka, list(groups))
    if members is None:
        return None
    return [AtWork(name, tuple(one for one in members if one.group == group)) for group, name in groups.items()]
