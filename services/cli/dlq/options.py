"""How dead letters are named on the command line."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated

import typer

from services.operations.dead_letters import Choice

Ids = Annotated[list[str] | None, typer.Argument(help="Ids as `dlq list` shows them; their beginning will do.")]
Id = Annotated[str, typer.Argument(help="The dead letter's id as `dlq list` shows it; its beginning will do.")]
Group = Annotated[str, typer.Option(help="Only dead letters of this consumer group, e.g. learn_facts.")]
Thread = Annotated[str, typer.Option(help="Only dead letters about this thread, or with this key.")]
Error = Annotated[str, typer.Option(help="Only dead letters whose error contains this text.")]
Since = Annotated[datetime | None, typer.Option(help="Only dead letters that failed at this time (UTC) or later.")]
Until = Annotated[datetime | None, typer.Option(help="Only dead letters that failed before this time (UTC).")]
Every = Annotated[bool, typer.Option("--all", help="All dead letters that wait.")]
DryRun = Annotated[bool, typer.Option(help="Only say which dead letters are meant.")]


def choice_of(group: str, thread: str, error: str, since: datetime | None, until: datetime | None) -> Choice:
    """The criteria, with times in UTC."""
    return Choice(group, thread, error, since and since.replace(tzinfo=UTC), until and until.replace(tzinfo=UTC))
