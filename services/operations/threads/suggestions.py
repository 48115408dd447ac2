"""What the agent would answer, for a person who asks: asking for it, and where it stands. It is never sent."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal
from uuid import UUID

from schemas.events.suggestions import SuggestionAsked, SuggestionDrafted, SuggestionRequested
from schemas.events.threads import TurnFailed
from services.core.app import App
from services.core.db import fetch_all, fetch_one, queries
from services.core.errors import Permanent
from services.core.keys import is_sealed
from services.mail.compose import links_in
from services.operations.requests import decision_on
from services.operations.threads.answers import LONGEST_REWORDED
from services.operations.threads.listing import ThreadUnknown
from services.send_email.frozen import as_the_agent_may_write
from services.track_threads.person import suggestion_of

SQL = queries(__file__, "suggestions.sql")
TYPES = [one.TYPE for one in (SuggestionAsked, SuggestionDrafted, TurnFailed)]


class SuggestionImpossible(Permanent):
    """The agent cannot be asked: there is no mail to answer, or the words are too long to be worded better."""


class SuggestionUnknown(Permanent):
    """Nobody asked for such a suggestion in this thread."""


@dataclass(frozen=True, slots=True)
class Suggestion:
    """What came of a question to the agent: `text` once it is `ready`, `reason` where it `failed`.

    `reworded` is whether the words of whoever asked were to be worded better.
    """

    suggestion_id: UUID
    thread_id: UUID
    state: Literal["writing", "ready", "failed"]
    reworded: bool
    text: str = ""
    reason: str = ""


async def suggest(app: App, thread_id: UUID, by: str, words: str = "", *, timeout_s: float) -> Suggestion:
    """Ask what the agent would answer to the newest mail, or, given words, for those words in a better wording.

    Raises `ThreadUnknown`, `SuggestionImpossible`, `NotDecidedYet`.
    """
    if len(words) > LONGEST_REWORDED or "\0" in words:
        raise SuggestionImpossible(f"at most {LONGEST_REWORDED:,} characters can be worded better, none of them NUL")
    async with app.database.reading() as conn:
        known = {"workspace": app.settings.workspace, "thread_id": thread_id}
        if await fetch_one(conn, SQL.known, known) is None:
            raise ThreadUnknown(f"there is no thread {thread_id}")
    command = SuggestionRequested(thread_id=thread_id, words=words, by=by)
    cause = await decision_on(app, command, "track_threads", timeout_s=timeout_s)
    try:
        return await suggestion(app, thread_id, suggestion_of(cause))
    except SuggestionUnknown:
        raise SuggestionImpossible("no mail of this thread can be answered") from None


async def suggestion(app: App, thread_id: UUID, suggestion_id: UUID) -> Suggestion:
    """Where it stands; its links are those that the agent may write, and those of the person's own words.

    Raises `SuggestionUnknown`.
    """
    workspace = app.settings.workspace
    args = {"workspace": workspace, "thread": str(thread_id), "turn": str(suggestion_id), "types": TYPES}
    async with app.database.reading() as conn:
        found = {row["type"]: row["data"] for row in await fetch_all(conn, SQL.suggestion, args)}
        asked = found.get(SuggestionAsked.TYPE)
        if asked is None or not asked.get("by"):
            raise SuggestionUnknown(f"nobody asked for a suggestion {suggestion_id} in this thread")
        became, words = _became(found), "" if is_sealed(asked) else str(asked.get("words", ""))
        if text := became.get("text"):
            thread = await fetch_one(conn, SQL.known, {"workspace": workspace, "thread_id": thread_id})
            inbox, author = (thread["inbox"], thread["addr"]) if thread else ("", "")
            known = (*links_in(words), author)
            became["text"] = await as_the_agent_may_write(conn, app.settings, inbox, text, known)
    return Suggestion(suggestion_id, thread_id, **became, reworded=bool(asked.get("words")))


def _became(found: dict[str, dict[str, Any]]) -> dict[str, Any]:
    drafted, failed = found.get(SuggestionDrafted.TYPE), found.get(TurnFailed.TYPE)
    if drafted and not is_sealed(drafted) and drafted["text"]:
        return {"state": "ready", "text": drafted["text"]}
    if drafted:
        return {"state": "failed", "reason": "its text is not kept any more"}
    return {"state": "failed", "reason": failed.get("error", "")} if failed else {"state": "writing"}
