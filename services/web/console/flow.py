"""The flow as a drawing: each processor a row in the order of the pipeline, arcs for the topics between them. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from schemas.topics import catalogue
from services.pipeline import IN_ORDER

ROW, TOP, LEFT, BOX, REACH = 46, 30, 1, 230, 58
WIDEST = 340  # of the arcs, which a narrow window presses together


@dataclass(frozen=True, slots=True)
class Node:
    """A processor or an edge in the drawing, with what is undone there."""

    name: str
    y: int
    lag: int | None
    dead: int

    @property
    def state(self) -> str:
        """How it is drawn."""
        if self.dead:
            return "bad"
        return "busy" if self.lag else "calm"


@dataclass(frozen=True, slots=True)
class Arc:
    """A topic between two rows: a path of SVG."""

    topic: str
    path: str
    backward: bool


@dataclass(frozen=True, slots=True)
class Drawing:
    """All of it, in pixels; the arcs begin at the boxes' right, and take at most `reach` of the width there."""

    nodes: tuple[Node, ...]
    arcs: tuple[Arc, ...]
    height: int
    reach: int = WIDEST
    box: int = BOX
    left: int = LEFT


def drawing(lags: Mapping[str, int], dead: Mapping[str, int], *, read: bool) -> Drawing:
    """The flow with the lag and the dead letters of each consumer; without `read` nothing is known of the lag."""
    rows = {name: number for number, name in enumerate(IN_ORDER)}
    nodes = tuple(
        Node(name, TOP + row * ROW, lags.get(name, 0) if read else None, dead.get(name, 0))
        for name, row in rows.items()
    )
    arcs = tuple(_arcs(rows))
    return Drawing(nodes, arcs, TOP * 2 + ROW * (len(rows) - 1))


def _arcs(rows: Mapping[str, int]) -> Iterator[Arc]:
    """One arc for each pair of rows that a topic leads between, whatever how many topics do."""
    pairs: dict[tuple[str, str], list[str]] = {}
    for topic in catalogue().topics.values():
        for producer in _known(topic.producers, rows):
            for consumer in _known(topic.consumers, rows):
                if producer != consumer:
                    pairs.setdefault((producer, consumer), []).append(topic.name)
    for (producer, consumer), topics in pairs.items():
        a, b = TOP + rows[producer] * ROW, TOP + rows[consumer] * ROW
        reach = REACH * abs(rows[producer] - rows[consumer]) ** 0.72
        low = a + 6 if b > a else a - 6
        high = b - 6 if b > a else b + 6
        path = f"M0 {low} C{reach:.0f} {low} {reach:.0f} {high} 0 {high}"
        yield Arc(f"{producer} → {consumer}: {', '.join(topics)}", path, b < a)


def _known(names: Iterable[str], rows: Mapping[str, int]) -> list[str]:
    return [name for name in names if name in rows]
