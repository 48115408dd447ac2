"""Robots and people told apart, measured: the simulator in every language and form, and mail that people wrote.

Called by `tests.benchmarks.mail_judging`. The simulator needs no corpus; the easy ham is measured where it is.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

from services.mail.filters import FilterContext, judge
from services.mail.message import ParsedMail
from services.mail.mime import read_mail
from services.mail.reports import Report, read_report
from tests.benchmarks.measured import Measured, at_most, percent
from tests.support.robots import (
    FORMS,
    Text,
    concept_notes,
    concept_people,
    drawn_notes,
    drawn_people,
    fresh_notes,
    fresh_people,
    frozen_notes,
    frozen_people,
    further_notes,
    further_people,
    held_out_notes,
    held_out_people,
    later_notes,
    later_people,
    notes_written_apart,
    people,
    person_mails,
    robot_mail,
    statements,
    vacation_notes,
)

TAKEN_FOR_ROBOTS = ("automatic_wording", "auto_submitted", "challenge", "storm")
# vacation notes that the corpus counts as ham; found by reading them
ROBOTS_AMONG_HAM = ("00033.2ceb520d2c6500ccf24357f2ebdce618", "01313.92d3b0f5d2597eb916ec1862e1c96c44")


KINDS = ("answer", "human", "park")
MOMENTS = (("at once", True), ("words alone", False))  # before anyone reads our mail, or late
SETS = (
    ("written apart", notes_written_apart, None),
    ("frozen", frozen_notes, frozen_people),
    ("drawn", drawn_notes, drawn_people),
    ("concept", concept_notes, concept_people),
    ("later", later_notes, later_people),
    ("further", further_notes, further_people),
    ("held-out", held_out_notes, held_out_people),
    ("fresh", fresh_notes, fresh_people),
)


def simulator() -> list[Measured]:
    """Vacation notes answered, by form, and what becomes of people's mails, by set."""
    notes = vacation_notes()
    marked = [robot_mail(note, form) for form in FORMS if form != "bare" for note in notes]
    told = sum(_kind(raw) == "answer" for raw in marked)
    texts = [raw for text in (*people(), *statements()) for raw in person_mails(text)]
    languages = len({note.language for note in notes})
    lines = [at_most("judging: robots answered, a header or prefix", told, "mails", 0, len(marked))]
    lines += _robots(f"{languages} languages", notes)
    for name, notes_of, people_of in SETS:
        lines += _robots(f"{name} notes", notes_of())
        lines += (
            _people(f"{name} mails", [raw for one in people_of() for raw in person_mails(one)]) if people_of else []
        )
    return [*lines, *_people("who sound like robots", texts)]


def _robots(name: str, notes: Sequence[Text]) -> list[Measured]:
    """Notes as robots send them, before anyone reads our mail; and by their words alone, where they were late."""
    raws = [robot_mail(note, "bare") for note in notes]
    mails = [(mail, read_report(mail, raw)) for raw in raws for mail in (read_mail(raw),)]
    lines = [(form, Counter(_judged(*mail, at_once=soon) for mail in mails)) for form, soon in MOMENTS]
    shares = [(form, {kind: percent(kinds[kind], len(raws)) for kind in KINDS}) for form, kinds in lines]
    return [
        at_most(f"judging: robots answered, {name}, {form}", share["answer"], "%", 1, len(raws), share)
        for form, share in shares
    ]


def _people(name: str, raws: Sequence[bytes]) -> list[Measured]:
    """People set aside in silence, and people whom a colleague has to look at first."""
    kinds = Counter(_kind(raw) for raw in raws)
    parked = len(raws) - kinds["answer"] - kinds["human"]
    return [
        at_most(f"judging: people parked, {name}", percent(parked, len(raws)), "%", 0.5, len(raws)),
        Measured(f"judging: people shown to a colleague, {name}", percent(kinds["human"], len(raws)), "%", n=len(raws)),
    ]


def easy_ham(data: Path, to_us: Callable[[ParsedMail], ParsedMail]) -> list[Measured]:
    """Mail of people that is taken for a robot's, as if it had been written to us alone (`to_us`)."""
    folders = [data / "real-mail" / name for name in ("easy-ham-1", "easy-ham-2")]
    files = [
        p for folder in folders if folder.exists() for p in sorted(folder.iterdir()) if p.stem not in ROBOTS_AMONG_HAM
    ]
    taken = sum(_filter(to_us(read_mail(raw)), raw) in TAKEN_FOR_ROBOTS for raw in map(Path.read_bytes, files))
    share = round(100 * taken / len(files), 2) if files else 0.0
    return [at_most("judging: easy ham taken for robots", share, "%", 0.5, len(files))]


def _kind(raw: bytes) -> str:
    mail = read_mail(raw)
    return _judged(mail, read_report(mail, raw))


def _judged(mail: ParsedMail, report: Report | None, *, at_once: bool = False) -> str:
    return judge(mail, FilterContext(report=report, unread=at_once, within_seconds=at_once)).kind


def _filter(mail: ParsedMail, raw: bytes) -> str:
    return judge(mail, FilterContext(report=read_report(mail, raw))).filter
