"""Takes the evidence from a database; what is on the log is added by who knows the broker.

Who asks brings what fetches the rows of a statement in the clear: what is stored of a person is sealed.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any

from schemas.topics import catalogue
from tests.oracle.evidence import Accepted, Evidence, Offered, Row
from tests.oracle.judge import Judged, judge
from tests.support.smtp_server import SmtpServer

STATEMENTS = dict(re.findall(r"-- name: (\w+)\n(.*?;)", Path(__file__).with_name("queries.sql").read_text(), re.DOTALL))
SEALED = "$sealed"  # the part of an event's data that lies under a key, where it could not be opened
Fetch = Callable[[Any], Awaitable[Sequence[Row]]]
TABLES = tuple(name for name in STATEMENTS if name not in ("events", "journal"))


async def collect(
    fetch: Fetch, offered: Sequence[Offered], server: SmtpServer, *, gone: frozenset[str] = frozenset(), **more: Any
) -> Evidence:
    """The evidence of a deployment that was offered these mails and handed its replies to this server.

    `gone` are addresses of customers who were erased: what they got is not judged by, since nothing stored says of it.
    """
    events, journal = await _rows(fetch, "events"), await _rows(fetch, "journal")
    return Evidence(
        offered=tuple(offered),
        accepted=tuple(Accepted(one.message_id, one.recipient) for one in server.accepted if one.recipient not in gone),
        events=tuple(one for one in events if SEALED not in one["data"]),
        unread=tuple(one for one in events if SEALED in one["data"]),
        journal=frozenset((row["consumer"], row["event_id"]) for row in journal),
        consumers=tuple((name, consumer) for name, one in catalogue().topics.items() for consumer in one.consumers),
        handled=tuple(catalogue().handled()),
        tables={name: await _rows(fetch, name) for name in TABLES},
        **more,
    )


async def judged(fetch: Fetch, offered: Sequence[Offered], server: SmtpServer) -> Judged:
    """The verdict on what a database and an SMTP server say; the log is not asked."""
    return judge(await collect(fetch, offered, server))


async def _rows(fetch: Fetch, name: str) -> tuple[Row, ...]:
    return tuple(await fetch(STATEMENTS[name]))
