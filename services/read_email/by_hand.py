"""Mails of the Sent folder: a colleague wrote them, and the thread that they answer is closed to the agent.

Two folders are read at their own pace, so a colleague's mail may come before the customer's that it answers. It is
parked then, and read again, from its own event, when a mail comes that it names. Whichever was read first, the end
is the same; both are read under the lock on the customer's Message-ID.
"""

from __future__ import annotations

from schemas.events.mail import EmailRead, Verdict
from services.core.bus.history import envelope
from services.core.bus.unit import Unit
from services.core.ids import participant_id
from services.core.mail.thread_ids import MailFacts
from services.read_email.apply import SQL
from services.read_email.placing import find_answered

FILTER = "sent_folder"
PARKED = Verdict(kind="park", reason="a colleague wrote it, and it answers no thread that is known", filter=FILTER)
WROTE = Verdict(kind="colleague", reason="a colleague wrote it: it lay in our Sent folder", filter=FILTER)


async def of_colleague(unit: Unit, mail: MailFacts, read: EmailRead) -> EmailRead:
    """The mail as it joins the thread that it answers, else parked. No filter is asked."""
    thread = await find_answered(unit, mail)
    bare = read.model_copy(update={"verdict": PARKED, "report": None, "linked_from": None, "awaits": ()})
    if thread is None:
        return bare
    person = participant_id(unit.workspace, thread.author)
    return bare.model_copy(update={"verdict": WROTE, "thread_id": thread.thread_id, "participant_id": person})


async def answered_before(unit: Unit, mail: EmailRead) -> list[EmailRead]:
    """The colleagues' mails, read before, that name this one, each as it is read now that this one is here."""
    if mail.verdict.kind not in ("answer", "human"):
        return []
    args = {"workspace": unit.workspace, "answered": [mail.message_id]}
    earlier = [envelope(row).data for row in await unit.all(SQL.read_by_hand, **args)]
    again = [await of_colleague(unit, _facts(unit, one), one) for one in earlier if isinstance(one, EmailRead)]
    return [one for one in again if one.verdict.kind == "colleague"]


def _facts(unit: Unit, mail: EmailRead) -> MailFacts:
    return MailFacts(
        workspace=unit.workspace,
        inbox=mail.inbox,
        message_id=mail.message_id,
        author=mail.author.addr.casefold() if mail.author else "",
        received=unit.now,
        references=mail.references,
        in_reply_to=mail.in_reply_to,
        participants=frozenset(mail.participants),
    )
