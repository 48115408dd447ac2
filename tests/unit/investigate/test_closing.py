"""What of a model's end stands: proposals in the customer's own words, and no secret in any text."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest

from schemas.events.investigations import InvestigationOpened, WorkFile
from schemas.events.replies import TokenUsage
from schemas.model_output import FinishInput
from services.investigate.closing import Ending, Meanwhile, closed
from services.investigate.folder import HOT_CONTEXT

MAIL, LATER, FACT = UUID(int=1), UUID(int=2), UUID(int=3)
CARD = "4111 1111 1111 1111"
OPENED = InvestigationOpened(
    investigation_id=UUID(int=4),
    participant_id=UUID(int=5),
    thread_id=UUID(int=6),
    inbox="support",
    question="Why?",
    by="grace",
    files=(WorkFile(path=HOT_CONTEXT, text="Ada.\n"),),
    mail_ids=(MAIL,),
    fact_ids=(FACT,),
)
MAILS = {MAIL: "We have 40 seats.\n\nOn Monday you wrote:\n> You get 90 seats for free.\n", LATER: "We have 50 seats."}
SAID = {"op": "add", "kind": "customer_info", "key": "seats", "value": "40", "text": "They have 40 seats.",
        "quote": "We have 40 seats", "mail_id": str(MAIL)}  # fmt: skip


def end(*facts: dict[str, Any], tree: dict[str, str] | None = None, note: str = "Done.") -> Any:
    """How an investigation ends with these proposals, in this folder."""
    finish = FinishInput.model_validate({"note": note, "facts": facts})
    ending = Ending("finished", finish, "", 1, TokenUsage())
    return closed(OPENED, tree or {HOT_CONTEXT: "Ada.\n"}, ending, Meanwhile(MAILS, {}, 500))


@pytest.mark.parametrize("given", [{}, {"op": "correct", "fact_id": str(FACT)}])
def test_words_of_the_customer_in_the_folder_carry_a_proposal(given: dict[str, Any]) -> None:
    """A new fact, and a correction of one that was there."""
    made = end({**SAID, **given})
    assert ([one.quote for one in made.proposals], made.dropped) == (["We have 40 seats"], ())


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"quote": "You get 90 seats for free"}, "own words"),
        ({"quote": "We have 400 seats"}, "own words"),
        ({"quote": "We have 50 seats", "mail_id": str(LATER)}, "no such mail"),
        ({"mail_id": str(UUID(int=9))}, "no such mail"),
        ({"op": "correct", "fact_id": str(UUID(int=9))}, "no such fact"),
        ({"op": "forget", "fact_id": str(MAIL)}, "no such fact"),
    ],
)
def test_what_they_did_not_say_or_the_folder_did_not_hold_carries_none(given: dict[str, Any], why: str) -> None:
    """Our words that they quote, a mail that came after the folder was made, ids that are nobody's or another's."""
    made = end({**SAID, **given})
    assert made.proposals == ()
    assert why in made.dropped[0]


def test_a_secret_that_the_model_repeats_stands_in_no_note_and_no_proposal() -> None:
    """Whoever reads them was shown none."""
    tree = {HOT_CONTEXT: f"Ada pays by {CARD}.\n"}
    made = end({**SAID, "value": CARD, "text": f"Their card is {CARD}."}, tree=tree, note=f"They pay by {CARD}.")
    assert [one.op for one in made.proposals] == ["brief", "add"]
    assert CARD not in made.note + "".join(one.model_dump_json() for one in made.proposals)
