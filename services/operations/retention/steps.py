"""What goes, in the order in which a round goes through it: owners are asked first, the journal comes last."""

from __future__ import annotations

from functools import partial

from services.core.settings import Settings
from services.operations.retention import ask, blobs, events, files, journal, old_events
from services.operations.retention import parallel_tables as beside
from services.operations.retention.expired_events import BODIES, LEARNED, PERIODS, Emptying
from services.operations.retention.rounds import Step

PLAN = "periods.plan"


def _emptying(name: str, what: Emptying, setting: str) -> tuple[Step, Step]:

    def days(settings: Settings) -> float:
        return what.days(settings.retention)

    return (
        Step(name, setting, days, partial(events.due, what), partial(events.empty, what)),
        Step(f"{name}, archived", setting, days, partial(files.due, what), partial(files.empty, what)),
    )


def _bodies(settings: Settings) -> float:
    return settings.retention.bodies_days


def _blobs(settings: Settings) -> float:
    return settings.retention.blobs_days


def _facts(settings: Settings) -> float:
    return settings.retention.facts_days


def _told(settings: Settings) -> float:
    return settings.retention.periods.shortest_days


def _checkpoints(settings: Settings) -> float:
    return settings.retention.checkpoints_days


def _archive(settings: Settings) -> float:
    return settings.archive.after_days if archives_daily(settings) else 0


def archives_daily(settings: Settings) -> bool:
    """Whether events leave the table daily. Not by default where home may not last: blobs lie in a bucket instead."""
    if settings.archive.daily is None:
        return bool(settings.archive.url) or not settings.blobs.url
    return settings.archive.daily


def _journal(settings: Settings) -> float:
    return settings.retention.journal_days


def _letters(settings: Settings) -> float:
    """The embedded broker never deletes a dead letter."""
    return 0 if settings.kafka.embedded else settings.retention.journal_days


def _texts(settings: Settings) -> float:
    return settings.retention.bodies_days or settings.retention.facts_days


STEPS: tuple[Step, ...] = (
    Step(
        "messages in threads",
        "bodies_days",
        _bodies,
        ask.due_messages,
        ask.ask_threads,
        "threads: track_threads is asked",
    ),
    Step("texts of mails", "bodies_days", _bodies, ask.due_mails, ask.ask_mails, "mails: read_email is asked"),
    Step("people with old facts", "facts_days", _facts, ask.due_people, ask.ask_people, "people: learn_facts is asked"),
    Step("people with told periods", PLAN, _told, ask.due_periods, ask.ask_periods, "people: condense_memory is asked"),
    Step(
        "people with investigations",
        "bodies_days",
        _bodies,
        ask.due_investigations,
        ask.ask_investigations,
        "people: investigate is asked",
    ),
    *_emptying("texts in stored events", BODIES, "bodies_days"),
    *_emptying("facts in stored events", LEARNED, "facts_days"),
    *_emptying("told periods in stored events", PERIODS, PLAN),
    Step("mails and replies with blobs", "blobs_days", _blobs, blobs.due, blobs.remove),
    Step("answers of models and tools", "checkpoints_days", _checkpoints, beside.due, beside.remove),
    Step("cached vectors, all of them", "bodies_days", _texts, beside.due_vectors, beside.empty_vectors),
    Step("events to archive", "archive.after_days", _archive, old_events.due, old_events.leave),
    Step("days of the journal", "journal_days", _journal, journal.due, journal.remove),
    Step("decided dead letters", "journal_days", _letters, beside.due_decisions, beside.remove_decisions),
)
