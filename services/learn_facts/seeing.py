"""When somebody was seen, and under which name: to the day, by every mail that is heeded and theirs.

Of several addresses of one person the one that wrote last is seen last. Imported mail counts from when it was written.
"""

from __future__ import annotations

from datetime import datetime

from schemas.events.mail import EmailRead, Person
from schemas.events.memory import ParticipantSeen
from services.core.bus.work import Work
from services.learn_facts import decide_session
from services.learn_facts.apply_facts import SQL
from services.learn_facts.load import load_without_facts
from services.learn_facts.participant import Participant
from services.learn_facts.policy import valid_from


async def on_email(work: Work[EmailRead]) -> None:
    """Somebody whom we can trust to be who they say wrote to us; what is written now keeps the session alive."""
    mail, settings = work.event, work.app.settings
    heeded = mail.verdict.kind in ("answer", "human")
    if mail.participant_id is None or mail.author is None or not heeded or not mail.identity.trusted:
        return
    imported = mail.mode == "history"
    written = valid_from(mail.sent_at, work.envelope.time, history=True, learning=settings.learning)
    async with work.unit() as unit:
        who = await load_without_facts(unit, mail.participant_id)
        since = None if imported else await unit.one(SQL.others_since, participant_id=mail.participant_id)
        event = seen(who, mail.author, written if imported else unit.now, others_since=since is not None)
        if event is not None:
            await unit.record(event.model_copy(update={"seen_at": written}) if imported else event)
        session = None if imported else decide_session.extended(who, unit.now, settings.session)
        if session is not None:
            await unit.record(session)


def seen(who: Participant, author: Person, at: datetime, *, others_since: bool = False) -> ParticipantSeen | None:
    """What a mail of a moment adds; None where it adds nothing.

    `others_since`: the same person has written from another address since this one was seen. An older mail than the
    last gives nobody another name.
    """
    event = ParticipantSeen(participant_id=who.participant_id, addr=author.addr, name=author.name)
    if who.first_seen_at is None or who.last_seen_at is None:
        return event
    newest = at >= who.last_seen_at
    renamed = newest and author.name not in ("", who.name)
    if not (renamed or others_since or at.date() > who.last_seen_at.date() or at.date() < who.first_seen_at.date()):
        return None
    return event if newest else event.model_copy(update={"name": ""})
