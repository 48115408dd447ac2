"""Investigations for people: the latest first, and one with its note, its diff and what it proposes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from services.core.db import Connection, fetch_all, queries, row_as, rows_as
from services.core.paging import MOST, Listing, Page
from services.investigate.merge import BETWEEN, OURS, THEIRS

SQL = queries(__file__)
INVESTIGATIONS = Listing("investigations", (("opened_at", "time"), ("investigation_id", "id")), descending=True)


@dataclass(frozen=True, slots=True)
class InvestigationLine:
    """An investigation. `outcome` is empty while it is open; `tokens_in` counts cached tokens, too.

    `waiting` are proposals that nobody has decided. `gone_at` is when its words had had their time.
    """

    investigation_id: UUID
    thread_id: UUID
    participant_id: UUID
    customer: str | None
    state: str
    outcome: str
    question: str
    by: str
    opened_at: datetime
    closed_at: datetime | None
    rounds: int
    tokens_in: int
    tokens_out: int
    waiting: int
    gone_at: datetime | None


@dataclass(frozen=True, slots=True)
class ProposalLine:
    """A change of memory that it proposes: a fact with the customer's words, or the text of the brief.

    `subject` is that of the mail that is quoted, in `thread_id`. `was` is the value of the fact that it would change.
    `refused` is why what was accepted did not become memory.
    """

    proposal_id: UUID
    op: str
    fact_id: UUID | None
    kind: str
    key: str
    value: str
    text: str
    quote: str
    mail_id: UUID | None
    subject: str
    thread_id: UUID | None
    was: str
    state: str
    decided_by: str
    decided_at: datetime | None
    refused: str


@dataclass(frozen=True, slots=True)
class OutputFile:
    """A file that it wrote below outputs/, or that is kept."""

    path: str
    text: str


@dataclass(frozen=True, slots=True)
class FoundRow:
    """What came of an investigation; `outputs` are objects with a path and a text."""

    reason: str
    note: str
    diff: str
    outputs: list[dict[str, Any]]
    conflicts: list[str]
    dropped: list[str]


@dataclass(frozen=True, slots=True)
class ProposalRow:
    """A proposal as the tables hold it; `content` is what the model proposed."""

    proposal_id: UUID
    content: dict[str, Any]
    state: str
    decided_by: str
    decided_at: datetime | None
    subject: str | None
    thread_id: UUID | None
    was: str | None
    refused: str | None


@dataclass(frozen=True, slots=True)
class WholeInvestigation:
    """One with all that came of it.

    `conflicts` are kept files in which two investigations wrote the same lines, `standing` these files as they are now.
    """

    investigation: InvestigationLine
    reason: str
    note: str
    diff: str
    outputs: list[OutputFile]
    conflicts: list[str]
    standing: list[OutputFile]
    dropped: list[str]
    proposals: list[ProposalLine]


async def list_investigations(
    conn: Connection, workspace: str, *, thread_id: UUID | None = None, limit: int = MOST, after: str = ""
) -> Page[InvestigationLine]:
    """The investigations, the latest first. Raises `BadCursor`."""
    args = {"workspace": workspace, "thread_id": thread_id, "investigation_id": None}
    rows = await fetch_all(conn, SQL.investigations, args | INVESTIGATIONS.args(after, limit))
    page = INVESTIGATIONS.page(rows, limit)
    return Page([InvestigationLine(**row) for row in page], page.next)


async def whole_investigation(conn: Connection, workspace: str, id: UUID) -> WholeInvestigation | None:
    """One investigation; None where there is none of this id."""
    args: dict[str, Any] = {"workspace": workspace, "investigation_id": id, "thread_id": None}
    line = await row_as(conn, InvestigationLine, SQL.investigations, args | INVESTIGATIONS.args("", 1))
    found = await row_as(conn, FoundRow, SQL.found, args)
    if line is None or found is None:
        return None
    proposals = [_proposal(one) for one in await rows_as(conn, ProposalRow, SQL.proposals, args)]
    of = {"workspace": workspace, "participant_id": line.participant_id, "paths": found.conflicts}
    return WholeInvestigation(
        investigation=line,
        reason=found.reason,
        note=found.note,
        diff=found.diff,
        outputs=[OutputFile(one["path"], one["text"] or "") for one in found.outputs],
        conflicts=found.conflicts,
        standing=await rows_as(conn, OutputFile, SQL.standing, of) if found.conflicts else [],
        dropped=found.dropped,
        proposals=proposals,
    )


def _proposal(row: ProposalRow) -> ProposalLine:
    return ProposalLine(
        proposal_id=row.proposal_id,
        **{name: row.content.get(name, "") for name in ("op", "kind", "key", "value", "text", "quote")},
        fact_id=_id(row.content, "fact_id"),
        mail_id=_id(row.content, "mail_id"),
        subject=row.subject or "",
        thread_id=row.thread_id,
        was=row.was or "",
        state=row.state,
        decided_by=row.decided_by,
        decided_at=row.decided_at,
        refused=row.refused or "",
    )


def _id(content: Mapping[str, Any], name: str) -> UUID | None:
    return UUID(content[name]) if content.get(name) else None


# Where a kept file holds what two investigations wrote at once. Pure.


@dataclass(frozen=True, slots=True)
class Clash:
    """The same lines, as the one that ended later and as those before it wrote them."""

    this: str
    meanwhile: str


def clashes(text: str) -> Iterator[Clash]:
    """Those of a kept file, in order; none: they were settled since."""
    for part in text.split(f"{OURS}\n")[1:]:
        this, between, rest = part.partition(f"{BETWEEN}\n")
        meanwhile, end, _ = rest.partition(THEIRS)
        if between and end:
            yield Clash(this.rstrip("\n"), meanwhile.rstrip("\n"))
