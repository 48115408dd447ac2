"""What begins on a day to come is not so yet."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from services.learn_facts.facts.assertion import mood_of
from services.memory.quotes import Span

WRITTEN = datetime(2026, 1, 14, tzinfo=UTC)
LATER = [
    "From 1 June we have 60 users.",
    "As of 1 June 2026, we have 60 users.",
    "We have 60 users, as of June 1st.",
    "As of March we have 60 users.",
    "Ab dem 1. Mai haben wir 60 Nutzer.",
    "À partir du 1er juin nous avons 60 postes.",
    "A partir del 1 de junio tenemos 60 usuarios.",
    "A partire dal 1° giugno abbiamo 60 utenti.",
    "A partir de 1 de junho temos 60 licenças.",
    "Vanaf 1 juni hebben wij 60 medewerkers.",
    "Począwszy od 1 czerwca mamy 60 licencji.",
    "6月1日から60ライセンスです。",
]
SO = [
    "From 1 December we have 60 users.",  # the nearest is over
    "As of 1 June 2025, we have 60 users.",
    "As of 16 January we have 60 users.",
    "As of 30 February 2026 we have 60 users.",  # no calendar has it
    "Od maja mamy 60 licencji.",  # since May
    "Da giugno abbiamo 60 utenti.",
    "We have 60 users, and from 1 June another bank.",
]


def mood(text: str, written: datetime | None = WRITTEN) -> str | None:
    return mood_of("60", Span(0, len(text), text), text, written=written)


@pytest.mark.parametrize("text", LATER)
def test_what_begins_on_a_day_to_come_was_believed_at_once(text: str) -> None:
    """Said in the present, with the day in the clause or beside it; without a year the nearest day is meant."""
    assert mood(text) == "ahead"


@pytest.mark.parametrize("text", SO)
def test_what_began_or_begins_within_a_week_is_so(text: str) -> None:
    """So is what is said since when it is so, and a day that stands beside another thing."""
    assert mood(text) is None


def test_of_a_mail_without_a_time_no_day_is_to_come() -> None:
    """Nobody knows then what is still to come."""
    assert mood(LATER[0], None) is None


def test_a_day_that_is_the_value_begins_nothing() -> None:
    """ "The renewal was put back from 1 March 2027 to 1 June 2027" is so."""
    text = "Our renewal date was put back from 1 March 2027 to 1 June 2027."
    assert mood_of("1 June 2027", Span(0, len(text), text), text, written=WRITTEN) is None
