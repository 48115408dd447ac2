"""Which key an event is sealed with, and sealing it.

An event is about the people whose words its content may hold: its subject, and where it was made from a whole
conversation (a context, a reply, a summary) everybody who wrote in the thread. A mail is also about those whom it is
addressed to. The key belongs to all of them together, so that it is gone as soon as one of them is erased. What no
person stands behind (documents, timers) is not sealed.

Who is merged with one of them is one of them: readers of one read both, so what is made of one holds words of both, and
is gone with either, also when they were taken apart since.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import replace
from types import MappingProxyType
from typing import Any
from uuid import UUID

from psycopg import AsyncCursor

from schemas.events import EventData
from schemas.events.mail import EmailRead
from schemas.events.threads import MailAttached
from services.core.bus.delivery import Delivery
from services.core.bus.envelope import Envelope
from services.core.db import Connection, keys_of, queries
from services.core.ids import participant_id
from services.core.keys import Keys, SubjectKey
from services.core.keys.aead import KEY, seal_json
from services.core.keys.keyring import Begun, People
from services.core.mailbox import MailboxKey

SQL = queries(__file__, "sealing.sql")
EMPTY: Mapping[str, Any] = MappingProxyType({})


async def seal(
    conn: Connection, envelopes: Sequence[Envelope], cause: Envelope | None = None, begun: Begun | None = None
) -> list[Envelope]:
    """The envelopes with their sealed data; their keys are held until the caller's transaction ends.

    Raises `Erased` where the key of `cause` is gone, and `ErasedMeanwhile` where an erase has met its thread since the
    work has `begun`: a cause that tells nothing is not sealed, and what is made of it may be full of words. A
    connection without keys (scratch schemas) seals nothing.
    """
    keys: Keys | None = keys_of(conn)
    if keys is None or not envelopes:
        return list(envelopes)
    parts = [_parts(one.data) for one in envelopes]
    people, held = await _held(conn, keys, envelopes, [bool(secret) for _, secret in parts], cause, begun)
    sealed = []
    for envelope, who, (clear, secret) in zip(envelopes, people, parts, strict=True):
        mail = envelope.data.reveals_author_of()
        if mail is not None:
            await keys.hand_over(conn, envelope.workspace, mail, who)
        sealed.append(_sealed(envelope, held[who], clear, secret) if who and secret else envelope)
    return sealed


async def _held(
    conn: Connection,
    keys: Keys,
    envelopes: Sequence[Envelope],
    is_secret: Sequence[bool],
    cause: Envelope | None,
    begun: Begun | None,
) -> tuple[list[People], dict[People, SubjectKey]]:
    """The people of each event, and the keys of those that have a secret, held.

    Who wrote in a thread is asked together with the keys of those who wrote there when this process looked last. That
    is nearly always right; where it is not, the keys of the right people are held then.
    """
    workspace, datas = envelopes[0].workspace, [one.data for one in envelopes]
    threads = [_thread(one, cause) for one in datas]
    asked = {one for one in threads if one}
    subjects = {id for one in datas if one.OF_PERSON and (id := one.subject_id())}

    def of(wrote: Mapping[UUID, People]) -> tuple[list[People], set[People]]:
        people = _people(workspace, datas, threads, wrote, cause)
        return people, {who for who, secret in zip(people, is_secret, strict=True) if who and secret}

    asking = await _asking(conn, asked, subjects)
    of_keys = (key_id(cause) if cause else None, begun)
    _, likely = of(keys.writers_of(asked | subjects))
    held = await keys.hold_known(conn, workspace, likely, *of_keys)
    wrote = await _answered(asking)
    keys.note_writers(wrote)
    people, wanted = of(wrote)
    return people, held if wanted <= held.keys() else await keys.hold(conn, workspace, wanted, *of_keys)


async def _asking(conn: Connection, threads: Set[UUID], subjects: Set[UUID]) -> AsyncCursor[Any] | None:
    """The question who wrote in some threads, and who some participants are; None where there is none."""
    if not threads and not subjects:
        return None
    return await conn.execute(SQL.people, {"threads": sorted(threads), "subjects": sorted(subjects)})


async def _answered(asking: AsyncCursor[Any] | None) -> dict[UUID, People]:
    """The people of each thread and participant that was asked about."""
    rows = await asking.fetchall() if asking else []
    return {row["id"]: frozenset(row["people"]) for row in rows}


async def key_for(conn: Connection, workspace: str, data: EventData, used: UUID | None = None) -> SubjectKey | None:
    """The key for a blob that belongs to an event, held until the caller's transaction ends.

    Raises `Erased` where the key `used` (of the event, where it is stored) is gone: a new one would be all that is left
    of whom it was about.
    """
    thread = data.shared_in()
    wrote = await _answered(await _asking(conn, {thread} if thread else set(), set()))
    [people] = _people(workspace, [data], [thread], wrote, None)
    return await key_of(conn, workspace, people, used) if people else None


async def key_of(
    conn: Connection, workspace: str, people: People, used: UUID | None = None, *, to_disk: bool = True
) -> SubjectKey | None:
    """The key of these people, held until the caller's transaction ends; None on a connection without keys.

    Raises `Erased` where the key `used` (of what asks for it) is gone. `to_disk` is as for `Keys.hold`.
    """
    keys: Keys | None = keys_of(conn)
    return (await keys.hold(conn, workspace, [people], used, to_disk=to_disk))[people] if keys else None


def key_id(envelope: Envelope) -> UUID | None:
    """The id of the key that the event is sealed with."""
    return UUID(envelope.sealed[KEY]) if envelope.sealed else None


def sealed_with(envelope: Envelope, key: SubjectKey, beside: Mapping[str, Any] = EMPTY) -> Envelope:
    """The envelope with its data sealed with this key; `beside` stays readable, as the skeleton does."""
    clear, secret = _parts(envelope.data)
    return _sealed(envelope, key, {**clear, **beside}, secret)


def _sealed(envelope: Envelope, key: SubjectKey, clear: Mapping[str, Any], secret: Mapping[str, Any]) -> Envelope:
    return replace(envelope, sealed=seal_json(key, clear, secret, of=str(envelope.id)))


def _parts(data: EventData) -> tuple[dict[str, Any], dict[str, Any]]:
    """What of an event stays readable, and what does not."""
    clear = data.skeleton()
    return clear, {name: value for name, value in data.model_dump(mode="json").items() if name not in clear}


def _people(
    workspace: str,
    datas: Sequence[EventData],
    threads: Sequence[UUID | None],
    wrote: Mapping[UUID, People],
    cause: Envelope | None,
) -> list[People]:
    """Whose words, or whose address as one of a mail's people, each event may hold."""
    found: list[People] = []
    for data, thread in zip(datas, threads, strict=True):
        mail = _mail(data, cause)
        subject = mail.participant_id if mail else data.subject_id()
        who = {subject, *(wrote.get(thread, ()) if thread else ())}
        if data.OF_PERSON and subject:
            who |= wrote.get(subject, frozenset())
        written = mail.participants if mail else data.copied_to()
        who |= {participant_id(workspace, MailboxKey(addr)) for addr in written}
        known = frozenset(one for one in who if one)
        found.append(known or frozenset(one for one in [data.own_subject()] if one))
    return found


def _thread(data: EventData, cause: Envelope | None) -> UUID | None:
    return cause.data.shared_in() if cause and data.SHARES_CAUSE else data.shared_in()


def _mail(data: EventData, cause: Envelope | None) -> EmailRead | None:
    """The mail that the event is, or is a copy of."""
    if isinstance(data, MailAttached) and cause and isinstance(cause.data, EmailRead):
        return cause.data
    return data if isinstance(data, EmailRead) else None


async def opened(keys: Keys, delivery: Delivery) -> tuple[Delivery, dict[str, Any] | None]:
    """The delivery with its value in the clear, and the value as it was sealed. Raises `Erased` or `NotAuthentic`."""
    of = next((value.decode("ascii", "replace") for name, value in delivery.headers if name == "ce_id"), "")
    value, sealed = await keys.open_bytes(delivery.value or b"", of=of)
    return (replace(delivery, value=value) if sealed else delivery), sealed
