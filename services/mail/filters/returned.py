"""Mail that comes back, comes twice, answers our own alerts, or is beyond what is read."""

from __future__ import annotations

from services.mail.filters.verdict import FilterContext, Verdict
from services.mail.mailbox import MailboxKey
from services.mail.message import ParsedMail


def unsubscribes(mail: ParsedMail, ctx: FilterContext) -> Verdict | None:
    """Set aside what a mail program or a person sends to get no more mail that nobody asked for: it is done already."""
    return Verdict("park", "they unsubscribe from mail that we begin", "unsubscribes") if ctx.unsubscribes else None


def over_limits(mail: ParsedMail, ctx: FilterContext) -> Verdict | None:
    """Park what the reader parked.

    Mail that passed a limit of the reader is set aside with that limit as the reason.
    """
    return Verdict("park", mail.parked, "over_limits") if mail.parked else None


def duplicate(mail: ParsedMail, ctx: FilterContext) -> Verdict | None:
    """The mail belongs to the first that was stored; this one is logged.

    The same mail once more: another inbox, another folder, or a source that delivers twice.
    """
    return Verdict("duplicate", f"already received as {ctx.duplicate_of}", "duplicate") if ctx.duplicate_of else None


def own_loop(mail: ParsedMail, ctx: FilterContext) -> Verdict | None:
    """A loop where the author, the sender, the reply address or the envelope is ourselves.

    Our own mail coming back: from one of our addresses, or with a Message-ID that we made.
    """
    if ctx.message_id_is_ours:
        return Verdict("loop", "its Message-ID is one that we sent", "own_loop")
    written = {a.key for a in (*mail.from_, *mail.sender, *mail.reply_to)} | {MailboxKey(ctx.envelope_from or "")}
    ours = sorted(written & ctx.own_addresses)
    return Verdict("loop", f"it comes from our own address {ours[0]}", "own_loop") if ours else None


def answers_alert(mail: ParsedMail, ctx: FilterContext) -> Verdict | None:
    """Park both: nobody who answers an alert waits for a reply, and the operator sees a lost one in the status.

    What comes because of our own alerts to colleagues: an answer, or a report that one could not be delivered.
    """
    if ctx.alert == "answered":
        return Verdict("park", "it answers an alert that we sent to a colleague", "answers_alert")
    if ctx.alert == "returned":
        said = ctx.report.diagnostic if ctx.report else ""
        return Verdict("park", f"an alert of ours could not be delivered: {said}".rstrip(": ")[:300], "alert_returned")
    return None
