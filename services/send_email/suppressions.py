"""Addresses that get no mail of ours: a hard bounce or a complaint puts them on the list, a person takes them off.

Only a report that names a mail of ours counts, and only an address that this mail went to and that the report names as
failed is suppressed: what came of a forward, or of another recipient, is no news of ours.
"""

from __future__ import annotations

from schemas.events.mail import DeliveryReport, EmailRead
from schemas.events.replies import ReplyBounced, SuppressionLifted, SuppressionLiftRequested
from services.core.bus.work import Work
from services.core.db import Connection, fetch_one
from services.core.errors import Permanent, Temporary
from services.core.mailbox import MailboxKey
from services.core.suppressed import suppressed_still
from services.send_email.apply import SQL
from services.send_email.load import DeliveryRow


class StillLeaving(Temporary):
    """The mail that the report is about is being handed over right now."""


class RecipientSuppressed(Permanent):
    """The address is on the suppression list: mail to it bounced, or its owner complained."""


async def refuse_suppressed(conn: Connection, workspace: str, address: str) -> None:
    """Raise `RecipientSuppressed` where the address, as the envelope has it, is on the list."""
    found = await fetch_one(conn, SQL.suppressed, {"workspace": workspace, "addr": MailboxKey(address)})
    if found:
        raise RecipientSuppressed(
            f"{address} is suppressed ({found['reason']}); `correspondent suppressions lift` takes it off the list"
        )
    if reason := await suppressed_still(conn, workspace, MailboxKey(address)):
        raise RecipientSuppressed(f"{address} was suppressed ({reason}) before its owner was erased, and still is")


async def on_email(work: Work[EmailRead]) -> None:
    """A bounce or complaint about a mail of ours: noted in the ledger, and the address suppressed if it is final.

    One that is faster than the server's own answer waits for it (`StillLeaving`).
    """
    report = work.event.report
    if report is None or report.reply_id is None:
        return
    async with work.unit() as unit:
        await unit.lock("delivery", report.reply_id)
        row = await unit.row_as(DeliveryRow, SQL.delivery, reply_id=report.reply_id)
        if row is not None and row.state == "sending":
            raise StillLeaving
        if row is None or row.state not in ("sent", "unknown", "bounced"):
            return
        if report.kind in ("hard", "complaint"):
            await unit.record(_bounced(work.event, row))


async def on_lift(work: Work[SuppressionLiftRequested]) -> None:
    """A person's word that an address may be written to again. Where it is not suppressed nothing is said."""
    event = work.event
    async with work.unit() as unit:
        await unit.lock("delivery", event.reply_id)
        row = await unit.row_as(DeliveryRow, SQL.delivery, reply_id=event.reply_id)
        found = await unit.one(SQL.suppressed_by, workspace=unit.workspace, reply_id=event.reply_id)
        if row is not None and found is not None:
            said = {"recipient": found["addr"], "reason": event.reason, "by": event.by}
            await unit.record(SuppressionLifted(**row.ids, **said))


def _bounced(mail: EmailRead, row: DeliveryRow) -> ReplyBounced:
    """Of the reply itself, or of a copy of it that one of the author's colleagues was to get."""
    assert mail.report is not None
    whom = next((one for one in (row.recipient, *row.cc) if _names(mail.report, one)), row.recipient)
    return ReplyBounced(
        **row.ids,
        mail_id=mail.mail_id,
        kind=mail.report.kind,
        recipient=MailboxKey(whom),
        of_copy=whom != row.recipient,
        status=mail.report.status,
        diagnostic=mail.report.diagnostic[:500],
        suppressed=_names(mail.report, whom),
    )


def _names(report: DeliveryReport, recipient: str) -> bool:
    """Whether the report is about the one whom we wrote to. Complaints often leave out who complained."""
    named = {MailboxKey(one) for one in report.recipients}
    return MailboxKey(recipient) in named or (report.kind == "complaint" and not named)
