"""The arithmetic of the lanes: who may start, what may be acknowledged, what a rebalance leaves behind. No asyncio.

A ticket stands for one admitted delivery and moves QUEUED -> HELD -> ACTIVE -> (HELD ->)* DONE. HELD means that it is
the head of its lane and waits (for the gate, a slot or a pause); only ACTIVE ones have side effects under way.

Invariants
- A lane has at most one ticket that is HELD or ACTIVE, and starts its tickets in the order of admission.
- A ticket is released for acknowledgement only when all tickets admitted before it to its partition were too.
- What a rebalance dropped, and all that stood behind it, is never acknowledged: its partition's next owner has it.
- The number of tickets that are not DONE never exceeds `admitted`. A DONE ticket holds no bytes, and at most `behind`
  of them wait for acknowledgement behind the head of one partition.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from enum import Enum

from services.core.bus.delivery import Delivery, Partition

Ack = Callable[[], None]
MOST_BEHIND = 10_000  # tickets of one partition that are done and wait behind one that is not


class Phase(Enum):
    """How far a ticket has come."""

    QUEUED = "queued"
    NEXT = "next"
    ACTIVE = "active"
    DONE = "done"


@dataclass(slots=True, eq=False)
class Ticket:
    """One admitted delivery, how to acknowledge it, and how far it has come; an orphan is never acknowledged."""

    lane: Hashable
    delivery: Delivery
    ack: Ack
    phase: Phase = Phase.QUEUED
    orphan: bool = False

    @property
    def partition(self) -> Partition:
        """The partition whose watermark the ticket moves."""
        return self.delivery.source


@dataclass(slots=True)
class LaneState:
    """The lanes of one consumer: queues by lane, watermarks by partition."""

    admitted: int
    behind: int = MOST_BEHIND
    _lanes: dict[Hashable, deque[Ticket]] = field(default_factory=dict)
    _marks: dict[Partition, deque[Ticket]] = field(default_factory=dict)
    _open: set[Partition] = field(default_factory=set)
    _unfinished: int = 0

    @property
    def unfinished(self) -> int:
        """How many tickets are admitted and not yet done."""
        return self._unfinished

    @property
    def lanes(self) -> int:
        """How many lanes have tickets that are not yet done."""
        return len(self._lanes)

    @property
    def assigned(self) -> int:
        """How many partitions are ours."""
        return len(self._open)

    def waiting(self) -> Iterator[Ticket]:
        """The tickets that are admitted and not yet done."""
        for queue in self._lanes.values():
            yield from queue

    def has_room(self, partition: Partition) -> bool:
        """Whether one more delivery of the partition may be admitted."""
        return self._unfinished < self.admitted and len(self._marks.get(partition, ())) < self.admitted + self.behind

    def is_open(self, partition: Partition) -> bool:
        """Whether the partition is assigned to this consumer and not about to be taken away."""
        return partition in self._open

    def is_current(self, ticket: Ticket) -> bool:
        """Whether the ticket's partition was not taken away since its admission."""
        return not ticket.orphan and self.is_open(ticket.partition)

    def admit(self, lane: Hashable, delivery: Delivery, ack: Ack) -> Ticket:
        """Put a delivery at the end of its lane and of its partition's watermark."""
        if not self.has_room(delivery.source) or not self.is_open(delivery.source):
            raise ValueError("admit needs room and an open partition")
        ticket = Ticket(lane, delivery, ack)
        self._lanes.setdefault(lane, deque()).append(ticket)
        self._marks[delivery.source].append(ticket)
        self._unfinished += 1
        return ticket

    def skip(self, delivery: Delivery, ack: Ack) -> list[Ticket]:
        """Put a delivery that needs no handler behind its partition's watermark; what may be acknowledged by that."""
        if not self.has_room(delivery.source) or not self.is_open(delivery.source):
            raise ValueError("skip needs room and an open partition")
        self._marks[delivery.source].append(Ticket(None, _bare(delivery), ack, Phase.DONE))
        return self._advance(delivery.source)

    def take_head(self, lane: Hashable) -> Ticket | None:
        """Hold the head of a lane that is free, or give None when the lane is empty or occupied."""
        queue = self._lanes.get(lane)
        if not queue or queue[0].phase is not Phase.QUEUED:
            return None
        queue[0].phase = Phase.NEXT
        return queue[0]

    def activate(self, ticket: Ticket) -> None:
        """The handler of its lane's next ticket starts."""
        if ticket.phase is not Phase.NEXT:
            raise ValueError(f"only its lane's next ticket can start, this one is {ticket.phase.value}")
        ticket.phase = Phase.ACTIVE

    def hold(self, ticket: Ticket) -> None:
        """The handler of an active ticket ended for now; a ticket dropped meanwhile stays so."""
        if ticket.phase is Phase.ACTIVE:
            ticket.phase = Phase.NEXT

    def finish(self, ticket: Ticket) -> list[Ticket]:
        """The work of a ticket is over; give the tickets that may now be acknowledged, in partition order."""
        self._leave_lane(ticket)
        return [] if ticket.orphan else self._advance(ticket.partition)

    def drop(self, ticket: Ticket) -> None:
        """Leave a ticket of a revoked partition undone: nothing from it on is acknowledged any more."""
        if self.is_current(ticket):
            raise ValueError("a ticket of an open partition must be finished, else its offset would be passed")
        self._leave_lane(ticket)
        if not ticket.orphan:
            self._cut(ticket.partition, ticket)

    def close(self, partitions: Iterable[Partition]) -> list[Ticket]:
        """Revoke partitions: admit no more, drop what has no side effect under way, and give the dropped tickets.

        Active tickets stay; those before the first dropped one may still be acknowledged until `open`.
        """
        dropped: list[Ticket] = []
        for partition in partitions:
            self._open.discard(partition)
            waiting = [t for t in self._marks.get(partition, ()) if t.phase in (Phase.QUEUED, Phase.NEXT)]
            if waiting:
                self._cut(partition, waiting[0])
            dropped += waiting
        for ticket in dropped:
            self._leave_lane(ticket)
        return dropped

    def open(self, partitions: Collection[Partition]) -> list[Ticket]:
        """Start a new epoch for the partitions; give the tickets of the old one that were dropped by that."""
        dropped = self.close(partitions)
        for partition in partitions:
            for ticket in self._marks.get(partition, ()):
                ticket.orphan = True
            self._marks[partition] = deque()
            self._open.add(partition)
        return dropped

    def partitions(self) -> list[Partition]:
        """The partitions this consumer has or had tickets of."""
        return list(self._marks)

    def free_lanes(self) -> list[Hashable]:
        """The lanes whose head waits to be taken."""
        return [lane for lane, queue in self._lanes.items() if queue[0].phase is Phase.QUEUED]

    def _leave_lane(self, ticket: Ticket) -> None:
        ticket.phase = Phase.DONE
        ticket.delivery = _bare(ticket.delivery)
        self._unfinished -= 1
        queue = self._lanes[ticket.lane]
        queue.remove(ticket)
        if not queue:
            del self._lanes[ticket.lane]

    def _advance(self, partition: Partition) -> list[Ticket]:
        mark, done = self._marks[partition], []
        while mark and mark[0].phase is Phase.DONE:
            done.append(mark.popleft())
        return done

    def _cut(self, partition: Partition, first: Ticket) -> None:
        mark = self._marks[partition]
        while mark:
            ticket = mark.pop()
            ticket.orphan = True
            if ticket is first:
                return


def _bare(delivery: Delivery) -> Delivery:
    """The delivery without its bytes."""
    return replace(delivery, key=None, value=None, headers=())
