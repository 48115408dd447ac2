"""Three people of three companies report the same trouble, each in their own words."""

from __future__ import annotations

from collections.abc import Iterator

from services.demo.world.stage import Stage
from services.demo.world.things import Expected, Mail

_REPORTS = (
    (
        "the CSV export fails with a timeout error. Is this a known bug?",
        "since yesterday our CSV export always runs into a timeout. Can you fix this bug?",
        "when I start a CSV export I get a timeout error. Could you look into it?",
    ),
    (
        "the PDF preview crashes with a blank page. Is this a known bug?",
        "since the update the PDF preview crashes and shows a blank page. Can you fix this bug?",
        "opening a PDF preview gives me a blank page and then it crashes. Could you look into it?",
    ),
    (
        "the calendar import fails with a permission error. Is this a known bug?",
        "since Monday our calendar import stops with a permission error. Can you fix this bug?",
        "whenever I run a calendar import I get a permission error. Could you look into it?",
    ),
)


def tell(stage: Stage) -> Iterator[Mail]:
    """One mail each, on three days; one of the three is on holiday soon."""
    wordings = stage.dice.pick(_REPORTS)
    day = stage.dice.number(12, 18)
    for number, (person, wording) in enumerate(zip(stage.cast.reporters, wordings, strict=True), start=1):
        others = [other for other in stage.cast.reporters if other != person]
        leave = f"I am on vacation until {day + 12} May.\n" if number == 3 else ""
        yield stage.mail(
            f"reporter-{number}",
            person,
            stage.at(5, day + number, 10 + number, 31),
            ("Problem with an export", "Bug?", "Error message")[number - 1],
            f"Hi,\n\n{person.name} from {person.company} here: {wording}\n{leave}\nRegards,\n{person.first}\n",
            Expected(
                "replied",
                must_mention=(person.first,),
                must_not_mention=tuple(word for other in others for word in (other.last, other.company)),
            ),
            f"{person.first} of {person.company} reports a bug ({number} of 3)",
        )
