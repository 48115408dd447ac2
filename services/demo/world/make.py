"""Making a world: draw the cast, let every story write its mails, publish the keys."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from services.demo.world.cast import Cast, cast_of, product_of
from services.demo.world.dice import dice_of
from services.demo.world.knowledge import knowledge_of
from services.demo.world.stage import Stage
from services.demo.world.stories import STORIES
from services.demo.world.things import World
from services.mail.authentication import RecordType

_YEARS = (2026, 2025, 2024)


def make_world(seed: int = 0) -> World:
    """The world of a seed; 0 is the canonical one. Pure: the same seed gives an equal world."""
    dice = dice_of(seed)
    year, product, cast = dice.pick(_YEARS), product_of(dice), cast_of(dice)
    stage = Stage(seed, year, product, cast, dice)
    mails = [mail for tell in STORIES for mail in tell(stage)]
    return World(
        seed=seed,
        product=product,
        inboxes=(stage.support, stage.billing),
        documents=knowledge_of(product),
        people=cast.everyone,
        mails=tuple(sorted(mails, key=lambda mail: mail.received_at)),
        dns_zone=_zone(cast),
    )


def _zone(cast: Cast) -> MappingProxyType[str, tuple[str, ...]]:
    """Each correspondent's domain: its DKIM key, no host that may send unsigned, and a strict DMARC policy."""
    records: dict[str, tuple[str, ...]] = {}
    for person in cast.everyone:
        name, value = person.seal.record
        records[name] = (value,)
        records[person.seal.domain] = ("v=spf1 -all",)
        records[f"_dmarc.{person.seal.domain}"] = ("v=DMARC1; p=reject",)
    return MappingProxyType(records)


# The DNS of a world: answers look-ups from its zone, as `core.mail.authentication.Resolver` asks for them.


@dataclass(frozen=True, slots=True)
class ZoneResolver:
    """TXT records by lower-case name without the final dot. Knows nothing else, and asks nobody."""

    records: Mapping[str, tuple[str, ...]]

    def lookup(self, name: str, kind: RecordType) -> tuple[str, ...]:
        """The TXT records of `name`; () for any other name or kind."""
        return self.records.get(name.rstrip(".").lower(), ()) if kind == "TXT" else ()
