"""Every dead letter of a deployment, decided ones too."""

from __future__ import annotations

from services.core.app import App
from services.operations.dead_letters import Choice, page_of
from services.operations.dead_letters.dead_letter import DeadLetter


async def all_dead_letters(app: App) -> list[DeadLetter]:
    """Those of every group, oldest first, with what became of each."""
    found: list[DeadLetter] = []
    after = ""
    while True:
        page = await page_of(app, Choice(), every=True, limit=500, after=after)
        found += page
        if not (after := page.next):
            return found[::-1]
