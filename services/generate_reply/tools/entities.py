"""Tools of working memory: what the agent keeps in mind for the next turns of this thread, by name."""

from __future__ import annotations

from schemas.events.replies import MOST_ENTITIES
from schemas.model_output import GetEntitiesInput, SetEntityInput
from services.generate_reply.claims import claims_of
from services.generate_reply.desk import Desk
from services.generate_reply.grounds import Grounds
from services.generate_reply.tools.refusal import CallRefused
from services.generate_reply.tools.remember import may_note
from services.mail.masking import mask


async def set_entity(given: SetEntityInput, desk: Desk) -> str:
    """Keep a value, another one, or none any more. What it claims has to have been shown: it is shown again."""
    may_note(desk.event)
    value = mask(given.value).text
    shown = Grounds.of(desk.event.layers, desk.looked_up)
    if unknown := [claim.text for claim in claims_of(value) if not shown.has(claim)]:
        raise CallRefused(f"{unknown[0][:100]} stands nowhere in the context: keep only what was said")
    kept = desk.kept_in_mind()
    if value and given.name not in kept and len(kept) >= MOST_ENTITIES:
        raise CallRefused(f"at most {MOST_ENTITIES} are kept of a thread: take one away first, with an empty value")
    desk.entities[given.name] = value
    desk.did("kept in mind" if value else "keeps no longer in mind", given.name)
    return "kept" if value else "taken away"


async def get_entities(given: GetEntitiesInput, desk: Desk) -> str:
    """Everything that is kept, a line each."""
    return "\n".join(f"{name}: {value}" for name, value in sorted(desk.kept_in_mind().items())) or "nothing is kept"
