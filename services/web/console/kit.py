"""`/kit`: each part of the pages in each of its states, for who changes one and for tests that look at all of them.

What it shows is made up here, and is no row of anything; its forms lead nowhere. Names and words are such as strangers
write: long, of other scripts, and markup that has to stay text.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any, get_args
from uuid import UUID

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse

from schemas.events.marks import DeadlineStatus, Priority
from schemas.events.threads import ThreadState
from services.core.paging import Page
from services.operations.drafts.grounds import Ground, Part
from services.operations.drafts.listing import HeldDraft
from services.operations.first_steps import FirstSteps, Step
from services.operations.investigations.course import Call, FolderFile
from services.operations.investigations.listing import InvestigationLine
from services.operations.knowledge.listing import SourceLine as Passage
from services.operations.memory.facts import Entry, LogLine, RememberedFact, SourceLine
from services.operations.replay.difference import Difference
from services.operations.replay.tried import TriedCase
from services.operations.threads.inbox import InboxLine
from services.operations.threads.listing import Message as Said
from services.operations.threads.mails import MailLine
from services.operations.thumbs import REASONS, Thumb
from services.operations.users.teams import Team
from services.operations.webhooks.listing import EndpointLine
from services.web.console.diffs import files_in
from services.web.console.replay import differences_of
from services.web.console.site import Site, viewer

HOSTILE = "<img src=x onerror=alert(1)> \u202egnp.exe"
LONG = "Donaudampfschifffahrtsgesellschaftskapitän " * 4
WORDS = "שלום, the export stops after 500 rows.\nIs that so on purpose?"
DIFF = """--- a/memory/facts.md
+++ b/memory/facts.md
@@ -1,3 +1,3 @@
 # Facts
-plan: Team
+plan: Enterprise
 seats: 40
"""


def kit_page(site: Site) -> APIRouter:
    """The page."""
    router = site.router(reads="admin", acts="admin")

    @router.get("/kit")
    async def kit(request: Request) -> HTMLResponse:
        return site.page(request, "kit.html", **samples(site.app.now(), viewer(request)))

    return router


def samples(now: datetime, by: str) -> dict[str, Any]:
    """What the parts are shown with, at a moment, for somebody."""
    return {
        "now": now,
        "lines": Page(list(_lines(now)), "further"),
        "whole": {"conversation": list(_messages(now)), "thread": {"participant": "ada@acme.example"}},
        "mails": {_id(20): _mail(now)},
        "thumbs": {_id(40): [Thumb(_id(40), by, False, REASONS[0], now), Thumb(_id(40), "Ann", True, "", now)]},
        "reasons": REASONS,
        "passages": [Passage(_id(50), "Exports", "Limits", 3, "https://help.example/exports", _id(51), WORDS)],
        "draft": _draft(now),
        "sentences": _sentences(),
        "facts": list(_facts(now)),
        "person": {"participant_id": _id(1)},
        "guide_of": FirstSteps(
            (Step("model", True), Step("inbox", False, "The server does not answer."), Step("mail", False)),
            False,
            ("support@shop.example",),
            "review",
            False,
        ),
        "cases": [_investigation(now, state, outcome) for state, outcome in INVESTIGATED],
        "files": [FolderFile("profile/user.yaml", 12, ""), FolderFile("memory/facts.md", 3, "changed")],
        "changed": files_in(DIFF)[0],
        "calls": [Call("grep", {"words": HOSTILE, "folder": "mails"}, "", False), Call("finish", {}, "", True)],
        "endpoints": list(_endpoints(now)),
        "kinds": {"thread.opened": "a thread begins"},
        "case": _case(now),
        "differences": differences_of,
        "teams": [Team(_id(60), "Billing", [by], ["support"])],
        "states": get_args(ThreadState),
    }


INVESTIGATED = (("open", ""), ("closed", "finished"), ("closed", "gave_up"))


def _id(number: int) -> UUID:
    return UUID(int=number)


def _lines(now: datetime) -> Iterator[InboxLine]:
    """A thread in each state, with what may stand beside it."""
    priorities, deadlines = get_args(Priority), get_args(DeadlineStatus)
    for number, state in enumerate(get_args(ThreadState)):
        yield InboxLine(
            thread_id=_id(10 + number),
            subject=(HOSTILE, "", LONG)[number % 3],
            inbox="support",
            state=state,
            priority=priorities[number % len(priorities)],
            tags=["billing", LONG] if number == 0 else [],
            changed_at=now - timedelta(hours=number),
            version=1,
            participant_id=_id(1),
            participant="" if number == 1 else "ada@acme.example",
            participant_name=("Ada Miller", "", "山田 花子")[number % 3],
            claims_to_be=HOSTILE if number == 3 else "",
            assignee="Billing" if number == 2 else "",
            snoozed_until=now + timedelta(days=1) if number == 4 else None,
            last_role=("customer", "agent", "human")[number % 3],
            last_words=WORDS,
            draft=_id(30) if number == 0 else None,
            waiting_since=None,
            due_at=now + timedelta(hours=number - 2),
            due_kind="first_response",
            due_status=deadlines[number % len(deadlines)],
        )


def _messages(now: datetime) -> Iterator[Said]:
    """What each of the three says, a text that is gone, and one that waits."""
    common: dict[str, Any] = {"at": now, "pending": False}
    yield Said(
        **common | {"pending": True},
        role="customer",
        text=WORDS,
        reply_id=None,
        sender_level="verified",
        mail_id=_id(20),
    )
    yield Said(**common, role="customer", text=HOSTILE, reply_id=None, sender_level="failed", mail_id=_id(21))
    passage = Passage(_id(50), "Exports", "", 3, "", _id(51), WORDS)
    yield Said(**common, role="agent", text=WORDS, reply_id=_id(40), waited_s=7.0, sources=[passage])
    yield Said(**common, role="human", text=LONG, reply_id=_id(41), by="Grace")
    yield Said(**common, role="agent", text="", reply_id=_id(42), gone_at=now)


def _mail(now: datetime) -> MailLine:
    return MailLine(
        mail_id=_id(20),
        thread_id=_id(10),
        subject=HOSTILE,
        author_name=HOSTILE,
        author_addr="ada@acme.example",
        received_at=now,
        identity="verified",
        verdict="answer",
        reason="",
        quoted="> " + WORDS,
        blob="",
        attachments=[{"filename": HOSTILE, "size": 4711}],
    )


def _draft(now: datetime) -> HeldDraft:
    return HeldDraft(
        reply_id=_id(30),
        thread_id=_id(10),
        created_at=now,
        reason="every reply waits for a person",
        text=WORDS,
        shown=WORDS,
        cc=["bo@granite.example"],
        file_names=[HOSTILE],
        text_sha256="0" * 64,
        thread_version=3,
        subject=HOSTILE,
        recipient="ada@acme.example",
        sender_level="unverified",
    )


def _sentences() -> list[Part]:
    """One of each ground, and one that has none."""
    kinds: tuple[Any, ...] = ("passage", "fact", "mail", "rule")
    grounded = [
        Part(f"This sentence rests on a {kind}. ", True, Ground(kind, str(_id(70 + at)), f"A {kind}", WORDS))
        for at, kind in enumerate(kinds)
    ]
    return [*grounded, Part("This one has no source. ", True), Part("Kind regards")]


def _facts(now: datetime) -> Iterator[Entry]:
    """One that holds, pinned, and one that something else took the place of."""
    for number, over in enumerate((None, now - timedelta(days=2))):
        fact = RememberedFact(
            fact_id=_id(80 + number),
            kind="customer_info",
            key="plan",
            value=HOSTILE if over else "Enterprise",
            text=WORDS,
            confidence=0.9,
            importance=6,
            trust="customer",
            pinned=not over,
            stale_since=None,
            valid_from=now - timedelta(days=9),
            valid_to=over,
            expires_at=None,
            recorded_at=now - timedelta(days=9),
            superseded_at=over,
            superseded_by=_id(80) if over else None,
            retracted_at=None,
            merged_into=None,
            source_message_id=None,
            quote=WORDS,
            span_start=None,
            span_end=None,
        )
        source = SourceLine(
            fact_id=fact.fact_id,
            trust="customer",
            mail_id=_id(20),
            reply_id=None,
            thread_id=_id(10),
            quote=WORDS,
            quote_sha256=None,
            span_start=None,
            span_end=None,
            said_at=now,
            at=now,
            message_id="",
            subject=HOSTILE,
        )
        yield Entry(fact, (source,), (LogLine(fact.fact_id, 1, now, "added", "", None),))


def _investigation(now: datetime, state: str, outcome: str) -> InvestigationLine:
    return InvestigationLine(
        investigation_id=_id(90),
        thread_id=_id(10),
        participant_id=_id(1),
        customer="Ada Miller",
        state=state,
        outcome=outcome,
        question=HOSTILE,
        by="Grace",
        opened_at=now,
        closed_at=now if state == "closed" else None,
        rounds=3,
        tokens_in=9000,
        tokens_out=900,
        waiting=0,
        gone_at=None,
    )


def _endpoints(now: datetime) -> Iterator[EndpointLine]:
    """One in each state, and one that takes nothing."""
    for state, failing in (
        ("enabled", None),
        ("paused", None),
        ("disabled", None),
        ("enabled", now - timedelta(hours=3)),
    ):
        yield EndpointLine(
            endpoint_id=_id(95),
            url="https://hooks.example/",
            description=HOSTILE,
            kinds=("thread.opened",),
            with_text=False,
            state=state,  # type: ignore[arg-type]
            reason="",
            created_at=now,
            created_by="Grace",
            both_sign_until=None,
            failing_since=failing,
            delivered_at=None,
            waiting=0,
        )


def _case(now: datetime) -> TriedCase:
    return TriedCase(
        event_id=_id(97),
        event="memory.loaded.v1",
        at=now,
        thread_id=_id(10),
        processors=("generate_reply",),
        same=False,
        differences=(
            Difference(
                0,
                "reply.drafted.v1",
                "text",
                "Hello Ada, it costs 90 euros a month.",
                "Hello Ada, it costs 95 euros a month.",
            ),
            Difference(0, "reply.drafted.v1", "usage", "900 input", "950 input", counts=False),
            Difference(1, "turn.failed.v1", "the event", "", HOSTILE),
        ),
        error="",
    )
