"""An invented company, its documents and a mailbox of several customers over months.

`make_world(seed)` is pure: the same seed gives the same bytes, DKIM signatures included. Seed 0 is the
canonical world (John of Acme); every other seed draws other names, companies, plans, amounts, dates and wording.
What a mail is expected to bring about stands beside it in `Expected`; neither the processors nor a model see it.
"""

from services.demo.world.make import ZoneResolver, make_world
from services.demo.world.messages import SentReply
from services.demo.world.things import Document, Expected, Mail, Person, Product, Sent, World

__all__ = [
    "Document",
    "Expected",
    "Mail",
    "Person",
    "Product",
    "Sent",
    "SentReply",
    "World",
    "ZoneResolver",
    "make_world",
]
