"""The key of a proposal in the customer's own words. Pure."""

from __future__ import annotations

from schemas.events.replies import FactProposal
from services.learn_facts.facts.clauses import PLACE, clauses_saying
from services.learn_facts.facts.values import sentence_around
from services.learn_facts.participant import Participant, Source
from services.mail.reply_text import without_quoted
from services.memory.keys import is_usual
from services.memory.quotes import find_quote
from services.memory.wording import content_of, unsaid, words_of

CALLED = frozenset({"contact_info", "customer_info", "identity"})  # kinds of what the customer has a name for


def key_told(who: Participant, key: str, proposal: FactProposal, source: Source | None) -> str:
    """The key of a fact that stands, where the words of the value name it and not `key`, the proposed one; else that.

    "Our warehouse code is LX-9", proposed as a "depot code", is the warehouse code. Usual keys have a table of names.
    """
    kind = proposal.kind
    if source is None or kind not in CALLED or is_usual(key, kind) or any(one.key == key for one in who.facts):
        return key
    own = without_quoted(source.text)
    span = find_quote(proposal.quote, own)
    if span is None:
        return key
    told = clauses_saying(proposal.value, sentence_around(span, own), "", proposal.quote)
    said = [words_of(clause.part) for _, clause in told if PLACE in clause.part]
    standing = {one.key for one in who.facts if one.kind == kind and one.single_valued and not is_usual(one.key, kind)}
    for words in said:
        named = [one for one in standing if content_of(one) and not unsaid(content_of(one), words)]
        if len(named) == 1 and unsaid(content_of(key), words) and not who.has_apart(key, named[0]):
            return named[0]
    return key
