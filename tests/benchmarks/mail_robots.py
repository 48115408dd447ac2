"""Robots and people told apart, measured: the simulator in every language and form, and mail that people wrote.

Called by `tests.benchmarks.mail_judging`. The simulator needs no corpus; the easy ham is measured where it is.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from services.mail.filters import FilterContext, judge
from services.mail.message import ParsedMail
from services.mail.mime import read_mail
from services.mail.reports import read_report
from tests.benchmarks.measured import Measured, at_most
from tests.support.robots import (
    FORMS,
    Text,
    concept_notes,
    concept_people,
    drawn_notes,
    drawn_people,
    frozen_notes,
    frozen_people,
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


def simulator() -> list[Measured]:
    """Vacation notes answered, by form, and people's sentences parked."""
    notes = vacation_notes()
    answered = Counter(form for form in FORMS for note in notes if _kind(robot_mail(note, form)) == "answer")
    texts = [raw for text in (*people(), *statements()) for raw in person_mails(text)]
    told = sum(answered[form] for form in FORMS if form != "bare")
    share = round(100 * answered["bare"] / len(notes), 2)
    languages = len({note.language for note in notes})
    return [
        at_most("judging: robots answered, a header or prefix", told, "mails", 0, len(notes) * (len(FORMS) - 1)),
        at_most(f"judging: robots answered, words alone, {languages} languages", share, "%", 1, len(notes)),
        *_written_apart(),
        *_set("frozen", frozen_notes(), frozen_people()),
        *_set("drawn", drawn_notes(), drawn_people()),
        *_set("concept", concept_notes(), concept_people()),
        *_set("later", later_notes(), later_people()),
        *_set("held-out", held_out_notes(), held_out_people()),
        at_most("judging: people who sound like robots parked", _parked(texts), "mails", 0, len(texts)),
    ]


def _written_apart() -> list[Measured]:
    """Notes that were written apart from the tables: by their words alone, and where they come within seconds."""
    raws = [robot_mail(note, "bare") for note in notes_written_apart()]
    name = "judging: robots answered, notes written apart from the tables"
    return [
        at_most(f"{name}, words alone", _share_answered(raws, within_seconds=False), "%", 10, len(raws)),
        at_most(f"{name}, within seconds", _share_answered(raws, within_seconds=True), "%", 5, len(raws)),
    ]


def _set(name: str, notes: Sequence[Text], people_of_it: Sequence[Text]) -> list[Measured]:
    """Notes and people written before the tables were looked at; only of the held-out set nobody saw since what fails."""
    raws = [robot_mail(note, "bare") for note in notes]
    mails = [raw for text in people_of_it for raw in person_mails(text)]
    share = _share_answered(raws, within_seconds=False)
    return [
        at_most(f"judging: robots answered, {name} notes, words alone", share, "%", 1, len(raws)),
        at_most(f"judging: people parked, {name} mails", _parked(mails), "mails", 0, len(mails)),
    ]


def _share_answered(raws: list[bytes], *, within_seconds: bool) -> float:
    answered = 0
    for raw in raws:
        mail = read_mail(raw)
        context = FilterContext(report=read_report(mail, raw), within_seconds=within_seconds)
        answered += judge(mail, context).kind == "answer"
    return round(100 * answered / len(raws), 2)


def easy_ham(data: Path, to_us: Callable[[ParsedMail], ParsedMail]) -> list[Measured]:
    """Mail of people that is taken for a robot's, as if it had been written to us alone (`to_us`)."""
    folders = [data / "real-mail" / name for name in ("easy-ham-1", "easy-ham-2")]
    files = [
        p for folder in folders if folder.exists() for p in sorted(folder.iterdir()) if p.stem not in ROBOTS_AMONG_HAM
    ]
    taken = sum(_filter(to_us(read_mail(raw)), raw) in TAKEN_FOR_ROBOTS for raw in map(Path.read_bytes, files))
    share = round(100 * taken / len(files), 2) if files else 0.0
    return [at_most("judging: easy ham taken for robots", share, "%", 0.5, len(files))]


def _parked(raws: Iterable[bytes]) -> int:
    return sum(_kind(raw) != "answer" for raw in raws)


def _kind(raw: bytes) -> str:
    mail = read_mail(raw)
    return judge(mail, FilterContext(report=read_report(mail, raw))).kind


def _filter(mail: ParsedMail, raw: bytes) -> str:
    return judge(mail, FilterContext(report=read_report(mail, raw))).filter
