"""Brings mails to the deployment's webhook as a provider does: signed, and again until it says 2xx."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Protocol

import httpx
import psycopg

from services.core.app import App
from services.core.errors import Temporary
from services.operations import periods
from services.operations.knowledge.requests import hand_in
from tests.chaos.traffic import Mail
from tests.flow.scenario import signed_headers
from tests.support.app import INBOX

AGAIN_AFTER_S = 0.5
SENDERS = 4
PERIOD_ROUNDS = 3


class Clock(Protocol):
    """Says what time it is."""

    def now(self) -> datetime: ...


async def feed(base_url: str, mails: Sequence[Mail], clock: Clock, lasts_s: float) -> int:
    """Bring all mails within about `lasts_s` seconds, a few at once; how many calls it took."""
    left, pause = iter(mails), lasts_s * SENDERS / len(mails)

    async def sender(client: httpx.AsyncClient) -> int:
        calls = 0
        for mail in left:
            calls += await bring(client, mail, clock)
            await asyncio.sleep(pause)
        return calls

    async with httpx.AsyncClient(base_url=base_url, timeout=15) as client:
        return sum(await asyncio.gather(*(sender(client) for _ in range(SENDERS))))


async def submit_documents(app: App, count: int, lasts_s: float) -> None:
    """Bring documents into the knowledge base meanwhile, each again until it is on the log."""
    for number in range(count):
        text = f"# Plan {number}\n\nThe Team plan of tariff {number} costs {number + 10} EUR.\n"
        named = {"origin": f"plan-{number}.md", "title": f"Plan {number}", "by": "test", "media_type": "text/markdown"}
        while True:
            try:
                await hand_in(app, text.encode(), **named)
                break
            except (Temporary, psycopg.Error, OSError):
                await asyncio.sleep(AGAIN_AFTER_S)
        await asyncio.sleep(lasts_s / count)


async def ask_for_periods(app: App, lasts_s: float) -> None:
    """Have days told a few times meanwhile."""
    for _ in range(PERIOD_ROUNDS):
        await asyncio.sleep(lasts_s / (PERIOD_ROUNDS + 1))
        await tell_days(app)


async def tell_days(app: App) -> None:
    """Ask for the days that will be over the day after tomorrow, as the daily round then would, again until it is done."""
    later = replace(app, now=lambda: app.now() + timedelta(days=2))
    while True:
        try:
            await periods.ask(later, asyncio.Event())
            break
        except (Temporary, psycopg.Error, OSError):
            await asyncio.sleep(AGAIN_AFTER_S)


async def bring(client: httpx.AsyncClient, mail: Mail, clock: Clock) -> int:
    """Bring a mail until it is taken; how many calls it took."""
    calls = 1
    while not await _is_taken(client, mail, clock):
        calls += 1
        await asyncio.sleep(AGAIN_AFTER_S)
    return calls


async def _is_taken(client: httpx.AsyncClient, mail: Mail, clock: Clock) -> bool:
    headers = signed_headers(mail.raw, mail.key, round(clock.now().timestamp()))
    try:
        answer = await client.post("/inbound/raw", params={"inbox": INBOX["name"]}, content=mail.raw, headers=headers)
    except httpx.TransportError:
        return False
    return answer.is_success
