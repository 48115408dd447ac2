"""Waiting until others let go of what is locked, on real Postgres."""

from __future__ import annotations

import psycopg
import pytest

from services.core.db.patience import when_free

LOCK = "LOCK TABLE threads IN ACCESS EXCLUSIVE MODE NOWAIT"


class Busy(Exception):
    """Others did not let go."""


async def take(url: str, holder: psycopg.AsyncConnection[object], let_go_at: int, tries: int) -> int:
    """Lock the table that `holder` has locked and lets go of at an attempt; how many attempts were made."""
    attempts = 0

    async def act() -> int:
        nonlocal attempts
        attempts += 1
        if attempts == let_go_at:
            await holder.rollback()
        async with await psycopg.AsyncConnection.connect(url) as conn:
            await conn.execute(LOCK)
        return attempts

    return await when_free(act, tries=tries, pause_s=0, busy=Busy())


@pytest.mark.parametrize("let_go_at", [1, 3])
async def test_what_is_locked_is_tried_again_until_it_is_free(database: str, let_go_at: int) -> None:
    """The first attempt that finds it free counts, the last one included."""
    async with await psycopg.AsyncConnection.connect(database) as holder:
        await holder.execute(LOCK)
        assert await take(database, holder, let_go_at, tries=3) == let_go_at


async def test_what_others_never_let_go_of_is_said_to_be_busy(database: str) -> None:
    """After so many attempts, and no other error is taken for it."""
    async with await psycopg.AsyncConnection.connect(database) as holder:
        await holder.execute(LOCK)
        with pytest.raises(Busy):
            await take(database, holder, let_go_at=4, tries=3)

    async def wrong() -> None:
        raise psycopg.errors.UndefinedTable

    with pytest.raises(psycopg.errors.UndefinedTable):
        await when_free(wrong, tries=3, pause_s=0, busy=Busy())
