"""What stands around a reply, who gets a copy, and that a person is shown what leaves."""

from __future__ import annotations

import email
import re
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from email import policy
from pathlib import Path
from typing import Any

import pytest

from deploy.local import Endpoints
from schemas.events.replies import DraftDecided
from services.core.app import App
from services.core.bus.envelope import first
from services.core.bus.runner import enter
from services.core.clock import random_id
from services.core.settings import Settings
from services.operations.drafts.decisions import FilesTooLarge, NewFile, keep_files
from services.operations.drafts.listing import HeldDraft, waiting_drafts
from services.operations.idle import until_idle
from services.operations.knowledge.requests import hand_in
from services.receive_email.accept import accept
from tests.flow.scenario import agent, fact, reflection, rows
from tests.support.app import INBOX, settings_for
from tests.support.brokerless import running_brokerless
from tests.support.letters import letter
from tests.support.scripted_model import ScriptedModel, Seen
from tests.support.scripted_replies import Behaviour, reply_tool
from tests.support.smtp_server import Kept, Session, SmtpServer, Step

_ID = re.compile(r"\[([0-9a-f-]{36})\]")
LAYOUT = {
    "signature": "Grace Hopper, Our Company",
    "footer": "Our Company Ltd, 1 Harbour Street",
    "quote": "below",
    "reply_all": True,
}
QUESTION = letter("When does it open?", Cc="Bo <bo@acme.example>, eve@evil.example, gone@acme.example")


def answer(seen: Seen) -> Behaviour:
    """A reply with a link that the policy takes out."""
    return reply_tool("reply", {"text": "At nine. https://evil.example/steal?x=1", "state": "awaiting_reply"})


def refuse_gone(session: Session, step: Step) -> str | None:
    """The server knows nobody of the name gone@acme.example."""
    return "550 5.1.1 nobody here" if step == "rcpt" and session.recipient == "gone@acme.example" else None


@dataclass(frozen=True, slots=True)
class Desk:
    """Settings that have the scripted model write and the SMTP server of the test take the replies."""

    server: SmtpServer
    model: ScriptedModel
    settings: Callable[..., Settings]


@pytest.fixture
async def desk(stack: Endpoints, database: str, topic_prefix: str, tmp_path: Path) -> AsyncIterator[Desk]:
    async with ScriptedModel() as model, SmtpServer(script=refuse_gone) as server:
        model.script(agent(answer, lambda seen: reflection("S.")))

        def settings(approval: str = "auto", **layout: Any) -> Settings:
            return settings_for(
                stack, database, topic_prefix, tmp_path,
                smtp={"host": "127.0.0.1", "port": server.port},
                model={"provider": "anthropic", "api_key": "k", "base_url": model.base_url},
                inboxes=[{**INBOX, "vouched_by": "the test", "layout": {**LAYOUT, **layout}}],
                send={"approval": approval},
            )  # fmt: skip

        yield Desk(server, model, settings)


async def bring(app: App, raw: bytes) -> None:
    await accept(app, app.settings.inboxes[0], raw, source="file", source_key="one")
    await until_idle(app)


def plain(kept: Kept) -> str:
    """The plain part as it left, with LF lines."""
    part = email.message_from_bytes(kept.raw, policy=policy.default).get_body(("plain",))
    assert part is not None
    return str(part.get_content()).replace("\r\n", "\n")


async def test_a_reply_has_its_signature_footer_and_quote_and_goes_to_the_authors_colleagues(desk: Desk) -> None:
    """A colleague of the same company gets a copy, a stranger none; a copy that the server refuses stops nothing."""
    async with running_brokerless(desk.settings()) as app:
        await bring(app, QUESTION)
        (kept,) = desk.server.accepted
        assert (kept.recipient, kept.copies) == ("john@acme.example", ("bo@acme.example",))
        assert "eve@evil.example" not in kept.raw.decode()
        text = plain(kept)
        assert "-- \nGrace Hopper, Our Company\n\nOur Company Ltd, 1 Harbour Street\n\nOn 2026-03-02" in text
        assert text.endswith("John Miller wrote:\n> When does it open?\n")
        (row,) = await rows(app, "SELECT state, detail, cc FROM deliveries")
        assert row["state"] == "sent"
        assert "no copy: gone@acme.example: 550" in row["detail"]
        assert row["cc"] == ["bo@acme.example", "gone@acme.example"]


CROWD = ", ".join(f"p{number}@acme.example" for number in range(500))
OUR_OWN = "SUPPORT@OurCompany.example, Bo <support+c.x@ourcompany.example>"
HOSTILE = {  # what the Cc of one mail names, and who gets a copy of its answer
    f"{OUR_OWN}, bo@acme.example": ("bo@acme.example",),
    CROWD: (),
    "all@acme.example, lamps@lists.acme.example, lamp-users@acme.example, cy@acme.example": ("cy@acme.example",),
    "no-reply@acme.example, mailer-daemon@acme.example, all-request@acme.example": (),
    "x@acme.example.evil.example, y@evil.example, acme.example@evil.example": (),
    '"eve@evil.example" <di@acme.example>, "di@acme.example" <eve@evil.example>': ("di@acme.example",),
    "=?utf-8?q?di=40acme=2Eexample=0D=0ABcc=3A_eve=40evil=2Eexample?= <eve@evil.example>": (),
    "Friends: eve@evil.example, ed@acme.example;, <>, @, ed@": ("ed@acme.example",),
    "John@ACME.example, john@acme.example": (),
}


async def test_a_hostile_list_of_copies_adds_nobody_but_the_authors_colleagues(desk: Desk) -> None:
    """Over SMTP: strangers, lists, crowds, machines, our own addresses and the author get none, and no mail comes back."""
    async with running_brokerless(desk.settings()) as app:
        for number, cc in enumerate(HOSTILE):
            head, _, body = letter("When?", message_id=f"<m{number}@acme.example>", subject=f"Q {number}").partition(
                b"\n"
            )
            raw = head + f"\nCc: {cc}\nTo: support@ourcompany.example, bounce@ourcompany.example\n".encode() + body
            await accept(app, app.settings.inboxes[0], raw.replace(b"To: support@ourcompany.example\n", b"", 1),
                         source="file", source_key=f"hostile {number}")  # fmt: skip
        await until_idle(app)
        left = {kept.header("Subject"): (kept.recipient, kept.copies) for kept in desk.server.accepted}
        assert left == {
            f"Re: Q {number}": ("john@acme.example", copies) for number, copies in enumerate(HOSTILE.values())
        }
        assert not any("evil.example" in kept.header(name) for kept in desk.server.accepted for name in ("To", "Cc"))


async def test_who_got_a_copy_is_not_told_what_is_remembered_of_the_author(desk: Desk) -> None:
    """The colleague answers in the thread: their prompt has no fact of the author's, and theirs are their own."""
    told = "Our vault code is red-77."
    learned = fact("vault_code", "red-77", told)
    desk.model.script(agent(answer, lambda seen: reflection("S.", *([learned] if "red-77" in seen.opening else []))))
    async with running_brokerless(desk.settings(quote="off")) as app:
        await bring(app, letter(told, Cc="bo@acme.example"))
        (kept,) = desk.server.accepted
        assert kept.copies == ("bo@acme.example",)
        assert await rows(app, "SELECT 1 AS one FROM facts WHERE value = 'red-77'")
        asked = len(desk.model.requests)
        bo = letter("And what does it cost?", sender="bo@acme.example", message_id="<bo@acme.example>", subject="Cost")
        await accept(app, app.settings.inboxes[0], bo, source="file", source_key="bo")
        await until_idle(app)
        of_bo = [seen for seen in desk.model.requests[asked:] if "reflect" not in seen.tools]
        assert of_bo
        assert not any("red-77" in seen.text for seen in of_bo)


async def test_what_a_person_approves_is_what_leaves_to_the_letter(desk: Desk) -> None:
    """The draft is shown whole, its forbidden link already out; where the settings change since, it is shown again."""
    async with running_brokerless(desk.settings("review")) as app:
        await bring(app, QUESTION)
        before = await only_draft(app)
        assert "evil[.]example" in before.shown
        assert "steal" not in before.shown
        assert before.cc == ["bo@acme.example", "gone@acme.example"]
    async with running_brokerless(desk.settings("review", footer="Moved to 2 Harbour Street")) as app:
        await approve(app, before)
        assert desk.server.accepted == []
        after = await only_draft(app)
        assert "Moved to 2 Harbour Street" in after.shown
        await approve(app, after)
        (kept,) = desk.server.accepted
        assert plain(kept) == after.shown + "\n"


async def test_a_link_that_a_person_typed_stays_and_the_models_does_not(desk: Desk) -> None:
    """Their own wording leaves as they wrote it; what was cut from the draft does not come back with it."""
    async with running_brokerless(desk.settings("review")) as app:
        await bring(app, QUESTION)
        text = "See https://partner.example/hours, not https://evil.example/steal?x=1"
        await approve(app, await only_draft(app), text=text)
        (kept,) = desk.server.accepted
        assert "https://partner.example/hours" in plain(kept)
        assert "steal" not in plain(kept)


async def test_a_person_attaches_a_file(desk: Desk) -> None:
    """It leaves with the reply, under its name, and is stored under the key of the thread's people."""
    async with running_brokerless(desk.settings("review")) as app:
        await bring(app, QUESTION)
        draft = await only_draft(app)
        word = DraftDecided(
            reply_id=draft.reply_id, thread_id=draft.thread_id, approve=True, text_sha256=draft.text_sha256, by="grace"
        )
        files = await keep_files(app, word, [NewFile("Offer.pdf", b"%PDF-1.7 offer")])
        await approve(app, draft, files=files)
        (kept,) = desk.server.accepted
        assert attached(kept) == [("Offer.pdf", "application/pdf", b"%PDF-1.7 offer")]
        (row,) = await rows(app, "SELECT files FROM deliveries")
        assert row["files"] == [files[0].blob]
        assert files[0].blob[:32].strip("0"), "sealed: the name holds the key's id"


async def test_files_over_the_limit_are_refused_before_they_are_stored(desk: Desk) -> None:
    """The person is told at once, with the setting to change."""
    async with running_brokerless(desk.settings("review")) as app:
        await bring(app, QUESTION)
        draft = await only_draft(app)
        word = DraftDecided(
            reply_id=draft.reply_id, thread_id=draft.thread_id, approve=True, text_sha256=draft.text_sha256, by="grace"
        )
        with pytest.raises(FilesTooLarge, match=r"send\.max_files_mb"):
            await keep_files(app, word, [NewFile("a.bin", bytes(11 * 1024 * 1024))])


async def test_the_agent_attaches_only_files_that_the_operator_marked(desk: Desk) -> None:
    """The price list goes along; the internal handbook does not, though the model asks for it."""

    def asks(seen: Seen) -> Behaviour:
        _, *pieces = _ID.split(seen.opening)
        may = {id: "may be attached" in text for id, text in zip(pieces[::2], pieces[1::2], strict=True)}
        again = len(seen.body["messages"]) > 1
        chosen = [id for id, marked in may.items() if marked == again]
        return reply_tool("reply", {"text": "Here it is.", "state": "awaiting_reply", "attach": chosen[:1]})

    desk.model.script(agent(asks, lambda seen: reflection("S.")))
    async with running_brokerless(desk.settings()) as app:
        for name, sendable in (("prices.md", True), ("handbook.md", False)):
            content = f"# When does it open\n\n{name}: it opens at nine, says {name}.".encode()
            given: dict[str, Any] = {"title": name, "by": "t", "media_type": "text/markdown", "sendable": sendable}
            await hand_in(app, content, origin=f"docs/{name}", **given)
        await until_idle(app)
        await bring(app, QUESTION)
        (kept,) = desk.server.accepted
        assert [(name, kind) for name, kind, _ in attached(kept)] == [("prices.md", "text/markdown")]
        (draft,) = await rows(app, "SELECT data FROM events WHERE type = 'reply.drafted.v1'")
        assert "may not be attached" in str(draft["data"]["refused_calls"])


def attached(kept: Kept) -> list[tuple[str, str, bytes]]:
    """Name, type and content of each file of a mail."""
    message = email.message_from_bytes(kept.raw, policy=policy.default)
    return [
        (part.get_filename() or "", part.get_content_type(), part.get_payload(decode=True))  # type: ignore[misc]
        for part in message.iter_attachments()
    ]


async def only_draft(app: App) -> HeldDraft:
    async with app.database.reading() as conn:
        (draft,) = await waiting_drafts(conn, app.settings.workspace)
    return draft


async def approve(app: App, draft: HeldDraft, **more: Any) -> None:
    decided = DraftDecided(
        reply_id=draft.reply_id,
        thread_id=draft.thread_id,
        approve=True,
        text_sha256=draft.text_sha256,
        by="grace",
        **more,
    )
    at = app.now()
    await enter(app, first(decided, id=random_id(), source="console", time=at, workspace=app.settings.workspace))
    await until_idle(app)
