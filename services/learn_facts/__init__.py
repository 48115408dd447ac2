"""Learns who writes to us: facts with their sources, lifecycle, signals, brief, session, graph.

In: turn-reflected, reply-drafted (what the agent noted while it read), inbound-email, participant-events (what
people ask), thread-events (what people did). Out: participant-events.
Owns the aggregate `participant`; its lane is the participant's id. The aggregate is one, so its state (participant.py),
`load` and `evolve` stand here; what each subject decides and keeps stands in its package.

handler.py    loads whom an event concerns, decides, records
decide.py     what becomes of a turn, which is of every subject
people.py     the participants that one command concerns
facts/        facts: what models propose and people ask, and what follows
person/       seen when, lifecycle, mood, issues, brief, session, profile
identity/     who is one person: merged, unmerged, split
"""

from services.core.bus.processor import Processor
from services.learn_facts.facts.apply import APPLIERS as FACTS
from services.learn_facts.handler import HANDLERS
from services.learn_facts.identity.apply import APPLIERS as IDENTITY
from services.learn_facts.person.apply import APPLIERS as PERSON

APPLIERS = {**FACTS, **PERSON, **IDENTITY}
PROCESSOR = Processor(
    name="learn_facts", handlers=HANDLERS, appliers=APPLIERS, lane="subject", at_once=True, background=True
)
