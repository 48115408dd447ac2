"""Trees of messages by the algorithm of Jamie Zawinski (https://www.jwz.org/doc/threading.html), steps 1 to 4.

A pure function of the set of messages: they are taken in the order of (date, Message-ID), whatever order
they came in. Never by subject (step 5 is left out), and without recursion, so that a long thread is no danger.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

_LAST = (datetime.max.replace(tzinfo=UTC), "")


@dataclass(frozen=True, slots=True)
class Envelope:
    """What threading needs of a message; ids without angle brackets, references oldest first."""

    message_id: str
    references: tuple[str, ...] = ()
    in_reply_to: tuple[str, ...] = ()
    subject: str = ""
    date: datetime | None = None

    @property
    def ancestors(self) -> tuple[str, ...]:
        """References, then In-Reply-To where it names another; never the message itself."""
        ids = dict.fromkeys((*self.references, *self.in_reply_to[:1]))
        return tuple(i for i in ids if i != self.message_id)


@dataclass(slots=True)
class Node:
    """One message of a tree, or a place for one that is missing (`envelope` is None); children are in order."""

    message_id: str
    envelope: Envelope | None = None
    parent: Node | None = field(default=None, repr=False)
    children: list[Node] = field(default_factory=list)

    def is_below(self, other: Node) -> bool:
        """Whether this node is `other` or stands under it."""
        node: Node | None = self
        while node is not None and node is not other:
            node = node.parent
        return node is other


def build_trees(messages: Iterable[Envelope], prune: bool = True) -> list[Node]:
    """The roots, oldest first. `prune` takes out places of missing messages (step 4), but for a root of several."""
    nodes: dict[str, Node] = {}
    for message in sorted(_once(messages), key=_age):
        _link(nodes, message)
    roots = [node for node in nodes.values() if node.parent is None]
    roots = _pruned(roots) if prune else roots
    return _ordered(roots)


def rows(roots: Sequence[Node]) -> Iterator[tuple[int, Node]]:
    """(depth, node) of all trees, parents before children."""
    waiting = [(0, node) for node in reversed(roots)]
    while waiting:
        depth, node = waiting.pop()
        yield depth, node
        waiting += [(depth + 1, child) for child in reversed(node.children)]


def _once(messages: Iterable[Envelope]) -> list[Envelope]:
    """Each Message-ID once: the oldest, so that a late copy changes nothing."""
    kept: dict[str, Envelope] = {}
    for message in messages:
        known = kept.get(message.message_id)
        if known is None or _identity(message) < _identity(known):
            kept[message.message_id] = message
    return list(kept.values())


def _identity(message: Envelope) -> tuple[datetime, str, tuple[str, ...], str]:
    return (*_age(message), message.ancestors, message.subject)


def _age(message: Envelope) -> tuple[datetime, str]:
    date = message.date or _LAST[0]
    return date if date.tzinfo else date.replace(tzinfo=UTC), message.message_id


def _link(nodes: dict[str, Node], message: Envelope) -> None:
    """Steps 1A to 1C: chain the references where nothing is known better, then hang the message under the last."""
    this = nodes.setdefault(message.message_id, Node(message.message_id))
    this.envelope = message
    last: Node | None = None
    for reference in message.ancestors:
        node = nodes.setdefault(reference, Node(reference))
        if last is not None and node.parent is None and not last.is_below(node):
            _hang(node, last)
        last = node
    if last is not None and not last.is_below(this):
        _hang(this, last)


def _hang(node: Node, parent: Node) -> None:
    if node.parent is not None:
        node.parent.children.remove(node)
    node.parent = parent
    parent.children.append(node)


def _pruned(roots: list[Node]) -> list[Node]:
    """Step 4: no empty leaf, and the children of an empty node move up, to the root level only if alone."""
    everything = [node for _, node in rows(roots)]
    for node in reversed(everything):
        node.children = [grown for child in node.children for grown in _raised(child)]
    kept = [n for r in roots for n in ([r] if r.envelope or len(r.children) > 1 else r.children)]
    for root in kept:
        root.parent = None
    return kept


def _raised(child: Node) -> list[Node]:
    return [child] if child.envelope else child.children


def _ordered(roots: list[Node]) -> list[Node]:
    """Siblings and roots by the oldest message in or under them."""
    age: dict[int, tuple[datetime, str]] = {}
    for _, node in reversed(list(rows(roots))):
        own = [_age(node.envelope)] if node.envelope else []
        node.children.sort(key=lambda child: age[id(child)])
        age[id(node)] = min(own + [age[id(child)] for child in node.children], default=_LAST)
    return sorted(roots, key=lambda root: age[id(root)])
