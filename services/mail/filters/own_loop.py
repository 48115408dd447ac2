"""Our own mail coming back: from one of our addresses, or with a Message-ID that we made."""

from __future__ import annotations

from services.mail.filters.verdict import FilterContext, Verdict
from services.mail.mailbox import MailboxKey
from services.mail.message import ParsedMail


def own_loop(mail: ParsedMail, ctx: FilterContext) -> Verdict | None:
    """A loop where the author, the sender, the reply address or the envelope is ourselves."""
    if ctx.message_id_is_ours:
        return Verdict("loop", "its Message-ID is one that we sent", "own_loop")
    written = {a.key for a in (*mail.from_, *mail.sender, *mail.reply_to)} | {MailboxKey(ctx.envelope_from or "")}
    ours = sorted(written & ctx.own_addresses)
    return Verdict("loop", f"it comes from our own address {ours[0]}", "own_loop") if ours else None
