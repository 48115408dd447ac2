"""Who lives in a world: the product and the people who write about it.

The first entry of each list is the canonical world's.
"""

from __future__ import annotations

from dataclasses import dataclass

from services.demo.world.dice import Dice
from services.demo.world.seals import Seal
from services.demo.world.things import Person, Plan, Product

_PRODUCTS = (
    ("Harborline", "project planning", "boards"),
    ("Fernwick", "shift planning", "rosters"),
    ("Quillstone", "contract management", "contracts"),
    ("Brightloom", "customer surveys", "surveys"),
    ("Tallyroot", "time tracking", "timesheets"),
    ("Cindervale", "asset tracking", "inventories"),
)
_PLAN_NAMES = (
    ("Starter", "Team", "Enterprise"),
    ("Basic", "Growth", "Enterprise"),
    ("Solo", "Studio", "Corporate"),
    ("Essential", "Business", "Premier"),
)
_PRICES = ((12, 29, 59), (8, 22, 48), (15, 36, 72), (10, 26, 54))
_SEATS = ((10, 100, 5000), (5, 50, 2000), (15, 150, 9000))
_FIRST = (
    "John", "Maria", "Dana", "Priya", "Tom", "Lena", "Oscar", "Grace", "Hugo", "Amara",
    "Felix", "Nora", "Ivan", "Ruth", "Samir", "Elsa", "Peter", "Yuki", "Clara", "Diego",
)  # fmt: skip
_LAST = (
    "Miller", "Santos", "Brooks", "Raman", "Becker", "Lindt", "Varga", "Okafor", "Petit", "Mensah",
    "Archer", "Keller", "Petrov", "Alden", "Haddad", "Berg", "Novak", "Tanaka", "Weiss", "Romero",
)  # fmt: skip
_COMPANIES = (
    "Acme", "Bluefin", "Corvid Labs", "Duneworks", "Eastgate", "Foxglove", "Granite Co",
    "Hollowell", "Ironbark", "Juniper Mill", "Kestrel", "Larkspur", "Meridian Foods", "Nightjar",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Cast:
    """The people of one world, by the part they play."""

    regular: Person  # asks about an invoice, later upgrades, comes back after weeks
    prospect: Person  # asks for prices, then buys
    angry: Person  # gets angrier, wants a manager
    reporters: tuple[Person, Person, Person]  # report the same trouble
    gone: Person  # their mailbox vanishes
    away: Person  # has an out-of-office reply
    forger: Person  # writes in the regular's name

    @property
    def everyone(self) -> tuple[Person, ...]:
        """All of them."""
        return (self.regular, self.prospect, self.angry, *self.reporters, self.gone, self.away, self.forger)


def product_of(dice: Dice) -> Product:
    """Draw the company and what it sells."""
    name, purpose, item = dice.pick(_PRODUCTS)
    names, prices, seats = dice.pick(_PLAN_NAMES), dice.pick(_PRICES), dice.pick(_SEATS)
    entry, middle, top = (
        Plan(plan, price, seat, sso=position == 2)
        for position, (plan, price, seat) in enumerate(zip(names, prices, seats, strict=True))
    )
    domain = f"{name.lower()}.example"
    return Product(
        name=name,
        domain=domain,
        purpose=purpose,
        item=item,
        plans=(entry, middle, top),
        refund_days=dice.pick((30, 14, 21)),
        yearly_discount=dice.pick((10, 15, 20)),
        status_page=f"https://status.{domain}",
    )


def cast_of(dice: Dice) -> Cast:
    """Draw nine people of nine companies, no two alike."""
    firsts, lasts, companies = dice.some(_FIRST, 9), dice.some(_LAST, 9), dice.some(_COMPANIES, 9)
    people = [_person(*names, key=dice.key()) for names in zip(firsts, lasts, companies, strict=True)]
    regular, prospect, angry, one, two, three, gone, away, forger = people
    return Cast(regular, prospect, angry, (one, two, three), gone, away, forger)


def _person(first: str, last: str, company: str, *, key: bytes) -> Person:
    domain = f"{company.lower().replace(' ', '-')}.example"
    return Person(first, last, company, f"{first.lower()}@{domain}", Seal(domain, "mail", key))
