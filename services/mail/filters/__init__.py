"""May we answer? Small named filters in a fixed order; the first that objects decides, and nothing is dropped.

To add one: write `def name(mail, ctx) -> Verdict | None` in the module of its subject, and name it in `FILTERS`.
What came back or came twice is settled first, then reports, then automatic mail, then trust, then rates.
"""

from __future__ import annotations

from collections.abc import Callable

from services.mail.filters.objections import (
    auto_submitted,
    automatic_wording,
    challenge,
    long_monologue,
    machine_sender,
    mailing_list,
    null_return_path,
    rates,
    reply_to_person,
    response_suppressed,
    storm,
)
from services.mail.filters.reports import (
    answers_alert,
    bounce,
    calendar_reply,
    complaint,
    duplicate,
    forwarded_bounce,
    over_limits,
    own_loop,
    receipt,
    unsubscribes,
)
from services.mail.filters.verdict import (
    FilterContext,
    IdentityLevel,
    Limits,
    Verdict,
    VerdictKind,
    asks_for_person,
    failed_identity,
    spam,
    unproven_sender,
    unreadable,
)
from services.mail.message import ParsedMail

__all__ = ["FILTERS", "FilterContext", "IdentityLevel", "Limits", "Verdict", "VerdictKind", "judge"]

Filter = Callable[[ParsedMail, FilterContext], Verdict | None]

FILTERS: tuple[Filter, ...] = (
    over_limits,
    duplicate,
    own_loop,
    answers_alert,
    unsubscribes,
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
