"""May we answer? Small named filters in a fixed order; the first that objects decides, and nothing is dropped.

To add one: write `name.py` with `def name(mail, ctx) -> Verdict | None`, and name it in `FILTERS`.
What came back or came twice is settled first, then reports, then automatic mail, then trust, then rates.
"""

from __future__ import annotations

from collections.abc import Callable

from services.mail.filters.answers_alert import answers_alert
from services.mail.filters.asks_for_person import asks_for_person
from services.mail.filters.auto_submitted import auto_submitted
from services.mail.filters.automatic_wording import automatic_wording
from services.mail.filters.bounce import bounce
from services.mail.filters.calendar_reply import calendar_reply
from services.mail.filters.challenge import challenge
from services.mail.filters.complaint import complaint
from services.mail.filters.duplicate import duplicate
from services.mail.filters.failed_identity import failed_identity
from services.mail.filters.forwarded_bounce import forwarded_bounce
from services.mail.filters.long_monologue import long_monologue
from services.mail.filters.machine_sender import machine_sender
from services.mail.filters.mailing_list import mailing_list
from services.mail.filters.null_return_path import null_return_path
from services.mail.filters.over_limits import over_limits
from services.mail.filters.own_loop import own_loop
from services.mail.filters.rates import rates
from services.mail.filters.receipt import receipt
from services.mail.filters.reply_to_person import reply_to_person
from services.mail.filters.response_suppressed import response_suppressed
from services.mail.filters.spam import spam
from services.mail.filters.storm import storm
from services.mail.filters.unproven_sender import unproven_sender
from services.mail.filters.unreadable import unreadable
from services.mail.filters.verdict import FilterContext, IdentityLevel, Limits, Verdict, VerdictKind
from services.mail.message import ParsedMail

__all__ = ["FILTERS", "FilterContext", "IdentityLevel", "Limits", "Verdict", "VerdictKind", "judge"]

Filter = Callable[[ParsedMail, FilterContext], Verdict | None]

FILTERS: tuple[Filter, ...] = (
    over_limits,
    duplicate,
    own_loop,
    answers_alert,
    complaint,
    bounce,
    receipt,
    calendar_reply,
    auto_submitted,
    null_return_path,
    machine_sender,
    mailing_list,
    response_suppressed,
    automatic_wording,
    challenge,
    spam,
    failed_identity,
    unreadable,
    forwarded_bounce,
    asks_for_person,
    unproven_sender,
    storm,
    rates,
    long_monologue,
)


def judge(mail: ParsedMail, ctx: FilterContext) -> Verdict:
    """The first objection in the order of FILTERS, or `answer` when there is none.

    What a machine sent for a person is never set aside in silence: a human is asked.
    """
    verdicts = (each(mail, ctx) for each in FILTERS)
    found = next((v for v in verdicts if v), Verdict("answer", "no filter objects", "none"))
    return reply_to_person(mail, ctx, found)
