"""What becomes of a finished draft, and what an SMTP answer means."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from types import SimpleNamespace
from typing import Any
from uuid import UUID

import pytest
from aiosmtplib import SMTPRecipientsRefused, SMTPResponseException, SMTPServerDisconnected

from schemas.events.replies import DraftDecided, ReplyApproved, ReplyDiscarded, ReplyDrafted, ReplyFailed, ReplyHeld
from services.core.errors import Permanent, Temporary
from services.core.ids import text_sha256
from services.core.settings import ApprovalSettings
from services.mail.smtp_dialogue import Dialogue, NotNow, OutcomeUnknown, SmtpMessage, SmtpRefused, _introduce
from services.send_email import policy
from services.send_email.policy import Frozen, Unwritable, on_decided, on_draft

LETTER = SmtpMessage("support@example.com", "ada@example.org", b"Subject: Hi\r\n\r\nHi")
COMPOSED: Any = SimpleNamespace(
    message_id="r1@example.com", recipient="ada@example.org", envelope_from="s@example.com", text="Hi", cc=(), files=()
)
THREAD_VERSION = 7


def draft(**given: Any) -> ReplyDrafted:
    ids = {name: UUID(int=number) for number, name in enumerate(("reply_id", "turn_id", "thread_id", "participant_id"))}
    fields = {
        "inbox": "support",
        "mail_ids": (),
        "trusted": True,
        "decision": "reply",
        "text": "Hi",
        "goals_add": ("g",),
    }
    return ReplyDrafted.model_validate({**ids, **fields, **given})


class Ledger:
    """A unit of work that keeps what is recorded and gives the row it was made with."""

    def __init__(self, row: dict[str, Any] | None = None) -> None:
        self.row = row
        self.recorded: list[Any] = []
        self.workspace = "main"

    async def lock(self, kind: str, id: UUID) -> None:
        """Nobody else is there."""

    async def version(self, kind: str, id: UUID) -> int:
        return THREAD_VERSION

    async def one(self, query: Any, **_: Any) -> dict[str, Any] | None:
        return self.row

    async def row_as(self, kind: Any, query: Any, **_: Any) -> Any:
        return self.row and SimpleNamespace(**self.row)

    async def record(self, event: Any) -> None:
        self.recorded.append(event)


FIXED = "Please write again."


def work(event: Any, ledger: Ledger, approval: str = "auto", unproven: str = "template") -> Any:
    @asynccontextmanager
    async def unit() -> AsyncIterator[Ledger]:
        yield ledger

    inbox = SimpleNamespace(unproven=unproven, unproven_reply=FIXED)
    settings = SimpleNamespace(
        send=SimpleNamespace(approval=approval),
        approval=ApprovalSettings(),
        inbox=lambda _: inbox,
        known_inbox=lambda _: inbox,
    )
    app = SimpleNamespace(settings=settings)
    return SimpleNamespace(event=event, unit=unit, reading=unit, app=app, workspace="main", now=None)


@pytest.fixture
def thread(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """The world around the decision: why the draft may not go any more, and the draft that is stored."""
    mail = SimpleNamespace(trusted=True, identity="verified", flags=[])
    told = SimpleNamespace(why_not="", draft=draft(), shown="Hi", mail=mail)

    async def frozen(work: Any, draft: ReplyDrafted, mail: Any, *, automatic: bool, **_: Any) -> Frozen:
        return Frozen(COMPOSED, "b" * 64)

    async def kept(work: Any, composed_by: Any) -> Frozen:
        return Frozen(COMPOSED, "f" * 64)

    async def newest(*_: Any) -> Any:
        return told.mail

    async def overtaken(*_: Any) -> str:
        return str(told.why_not)

    async def stored(conn: Any, kind: Any, query: Any, args: Any) -> Any:
        held = ReplyHeld.model_construct(shown=told.shown, band="review")
        data = held if query is policy.SQL.held else told.draft
        return SimpleNamespace(is_sealed=False, envelope=lambda: SimpleNamespace(data=data)) if data else None

    monkeypatch.setattr(policy, "frozen_reply", frozen)
    monkeypatch.setattr(policy, "kept", kept)
    monkeypatch.setattr(policy, "newest", newest)
    monkeypatch.setattr(policy, "overtaken", overtaken)
    monkeypatch.setattr(policy, "row_as", stored)
    return told


async def decided_draft(given: ReplyDrafted, approval: str, unproven: str = "template") -> Any:
    ledger = Ledger()
    await on_draft(work(given, ledger, approval, unproven))
    event, *calls = ledger.recorded
    assert [one.kind for one in calls] == (["draft_waits"] if isinstance(event, ReplyHeld) else [])
    return event


@pytest.mark.parametrize("approval", ["auto", "review"])
async def test_an_overtaken_draft_is_discarded_whatever_the_policy(thread: SimpleNamespace, approval: str) -> None:
    """A newer mail or an escalation comes before approval and review."""
    thread.why_not = "a newer mail came"
    event = await decided_draft(draft(), approval)
    assert isinstance(event, ReplyDiscarded)
    assert event.reason == "a newer mail came"


@pytest.mark.usefixtures("thread")
async def test_where_people_review_every_text_is_held() -> None:
    """With review, a reply waits for a person, who is called, and so does the message that hands over to one."""
    assert isinstance(await decided_draft(draft(), "review"), ReplyHeld)
    held = await decided_draft(draft(decision="escalate", reason="wants a refund"), "review")
    assert isinstance(held, ReplyHeld)
    assert held.reason.endswith("the agent hands over: wants a refund")


@pytest.mark.usefixtures("thread")
@pytest.mark.parametrize("decision", ["reply", "escalate"])
async def test_an_approved_reply_goes_to_the_author_that_code_found(decision: str) -> None:
    """Recipient and ids are those of the frozen MIME."""
    event = await decided_draft(draft(decision=decision), "auto")
    assert isinstance(event, ReplyApproved)
    assert (event.recipient, event.message_id, event.blob) == ("ada@example.org", "r1@example.com", "b" * 64)
    assert (event.decision, event.goals_add, event.approved_by) == (decision, ("g",), "policy")


UNPROVEN = SimpleNamespace(trusted=False, identity="unverified", flags=[])
OBEDIENT: dict[str, Any] = {
    "text": "Your password is wrong, log in at evil.example",
    "state": "resolved",
    "goals_close": ("refund",),
}


@pytest.mark.parametrize("trusted", [False, True])
async def test_no_text_of_a_model_leaves_for_an_address_that_anybody_may_have_written(
    thread: SimpleNamespace, *, trusted: bool
) -> None:
    """Whatever the draft says, and whatever it says of itself, the fixed reply goes, and nothing is proposed."""
    thread.mail = UNPROVEN
    event = await decided_draft(draft(**OBEDIENT, trusted=trusted), "auto")
    assert isinstance(event, ReplyApproved)
    assert (event.text, event.blob, event.state) == (FIXED, "f" * 64, "awaiting_reply")
    assert (event.goals_add, event.goals_close, event.citations) == ((), (), ())


async def test_a_draft_for_who_is_not_proven_waits_for_a_person(thread: SimpleNamespace) -> None:
    """Where the inbox says so, a model may draft, whatever its approval level: a person decides, and is told why."""
    thread.mail = UNPROVEN
    event = await decided_draft(draft(**OBEDIENT, approval="auto"), "auto", "review")
    assert isinstance(event, ReplyHeld)
    assert event.reason == "nothing proves that the sender is who they say"


@pytest.mark.parametrize("approval", ["auto", "review"])
@pytest.mark.parametrize("unproven", ["template", "review", "human"])
async def test_what_its_domain_disowns_is_never_answered_automatically(
    thread: SimpleNamespace, approval: str, unproven: str
) -> None:
    """A failed mail gets nothing, under no setting."""
    thread.mail = SimpleNamespace(trusted=False, identity="failed", flags=[])
    event = await decided_draft(draft(), approval, unproven)
    assert isinstance(event, ReplyFailed)
    assert "the sender's domain says that this mail is not its own" in event.error


async def test_what_a_person_approves_for_who_is_not_proven_proposes_nothing(thread: SimpleNamespace) -> None:
    """The person's approval is of the text: the state and the goals that the mail made the model ask for stay out."""
    thread.mail, thread.draft = UNPROVEN, draft(**OBEDIENT)
    (event,) = await said(word(saw=OBEDIENT["text"]))
    assert isinstance(event, ReplyApproved)
    assert (event.text, event.state) == (OBEDIENT["text"], "awaiting_reply")
    assert (event.goals_add, event.goals_close) == ((), ())


def word(*, approve: bool = True, saw: str = "Hi", text: str = "", reason: str = "") -> DraftDecided:
    return DraftDecided(
        reply_id=UUID(int=0),
        thread_id=UUID(int=2),
        approve=approve,
        text_sha256=text_sha256(saw),
        text=text,
        reason=reason,
        by="grace",
    )


async def said(event: DraftDecided, state: str | None = "draft") -> list[Any]:
    ledger = Ledger({"state": state} if state else None)
    await on_decided(work(event, ledger))
    return ledger.recorded


@pytest.mark.usefixtures("thread")
@pytest.mark.parametrize(("text", "goes"), [("", "Hi"), ("Hello", "Hello")])
async def test_a_person_approves_a_held_draft(text: str, goes: str) -> None:
    """The draft goes as it was seen, or in the person's own words, and the ledger names them."""
    (event,) = await said(word(text=text))
    assert isinstance(event, ReplyApproved)
    assert (event.text, event.approved_by, event.recipient) == (goes, "grace", "ada@example.org")


@pytest.mark.usefixtures("thread")
async def test_a_person_rejects_a_held_draft() -> None:
    """A rejected draft is discarded with the person's name and reason."""
    (event,) = await said(word(approve=False, reason="wrong price"))
    assert isinstance(event, ReplyDiscarded)
    assert event.reason == "grace rejected it: wrong price"


@pytest.fixture
def unwritable(thread: SimpleNamespace, monkeypatch: pytest.MonkeyPatch) -> None:
    """No mail may be made of the draft."""

    async def refused(*_: Any, **__: Any) -> Unwritable:
        return Unwritable("ada@example.org is suppressed (hard)")

    monkeypatch.setattr(policy, "frozen_reply", refused)


@pytest.mark.usefixtures("unwritable")
async def test_a_draft_that_could_not_be_sent_can_be_rejected() -> None:
    """A rejection needs no MIME: a suppressed address does not keep the draft, and its turn, open for ever."""
    (event,) = await said(word(approve=False, reason="nobody there"))
    assert isinstance(event, ReplyDiscarded)


@pytest.mark.usefixtures("unwritable")
async def test_an_approved_draft_that_may_not_be_written_became_a_dead_letter() -> None:
    """It fails in the ledger, with the reason in words, so that its turn ends and a human is called."""
    (event,) = await said(word())
    assert isinstance(event, ReplyFailed)
    assert (event.error, event.inbox, event.attempt) == ("ada@example.org is suppressed (hard)", "support", 0)


@pytest.mark.usefixtures("unwritable")
@pytest.mark.parametrize("approval", ["auto", "review"])
async def test_a_draft_that_may_not_be_written_fails_before_anybody_is_asked(approval: str) -> None:
    """Nobody reviews what cannot go out; the ledger says why."""
    assert isinstance(await decided_draft(draft(), approval), ReplyFailed)


@pytest.mark.usefixtures("thread")
@pytest.mark.parametrize("state", ["approved", "sending", "sent", "discarded", "failed", None])
async def test_a_word_said_twice_or_too_late_is_nothing(state: str | None) -> None:
    """Only a held draft can be approved: approval is idempotent."""
    assert await said(word(), state) == []


@pytest.mark.usefixtures("thread")
async def test_a_word_about_another_text_is_nothing() -> None:
    """Approval is bound to the hash of the draft that the person saw."""
    assert await said(word(saw="Hi, you get $100")) == []


@pytest.mark.usefixtures("thread")
@pytest.mark.parametrize(("looked_at", "goes"), [(THREAD_VERSION, True), (THREAD_VERSION - 1, False), (None, True)])
async def test_approval_is_bound_to_the_threads_version(looked_at: int | None, goes: bool) -> None:
    """What happened in the thread since the person looked takes their word back; a console may leave it out."""
    assert bool(await said(word().model_copy(update={"thread_version": looked_at}))) is goes


async def test_a_newer_mail_beats_a_persons_approval(thread: SimpleNamespace) -> None:
    """What the thread has become since is looked at once more: the draft is discarded."""
    thread.why_not = "a newer mail came"
    (event,) = await said(word())
    assert isinstance(event, ReplyDiscarded)
    assert event.reason == "a newer mail came"


async def test_a_word_about_no_draft_is_nothing(thread: SimpleNamespace) -> None:
    """An id that nobody drafted changes nothing."""
    thread.draft = None
    assert await said(word()) == []


class Server:
    """An SMTP client whose server answers as it is told, at one step."""

    is_connected = False

    def __init__(self, step: str, error: Exception | None, *, extensions: tuple[str, ...] = ()) -> None:
        self._step, self._error, self._extensions = step, error, extensions

    def supports_extension(self, name: str) -> bool:
        return name in self._extensions

    def __getattr__(self, name: str) -> Any:
        async def answer(*_: Any, **__: Any) -> tuple[int, str]:
            if name == self._step and self._error is not None:
                raise self._error
            return 250, "ok"

        return answer


@pytest.mark.parametrize("step", ["connect", "mail", "rcpt"])
@pytest.mark.parametrize(
    ("error", "means"),
    [
        (SMTPResponseException(450, "busy"), NotNow),
        (SMTPResponseException(421, "closing"), NotNow),
        (SMTPResponseException(550, "no such user"), SmtpRefused),
        (SMTPServerDisconnected("gone"), NotNow),
        (ConnectionRefusedError(), NotNow),
        (TimeoutError(), NotNow),
    ],
)
async def test_before_data_nothing_is_lost_or_doubled(step: str, error: Exception, means: type[Exception]) -> None:
    """Before DATA a lost connection is only "not now": nothing was handed over, and a 5xx is final."""
    with pytest.raises(means):
        await _introduce(Server(step, error), LETTER)  # type: ignore[arg-type]


async def test_a_refused_recipient_is_read_by_its_own_code() -> None:
    """The code that the server gave for the recipient decides."""
    refused = SMTPRecipientsRefused([SimpleNamespace(code=452, message="full", recipient="ada@example.org")])  # type: ignore[list-item]
    with pytest.raises(NotNow, match="452 full"):
        await _introduce(Server("rcpt", refused), LETTER)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("error", "means"),
    [
        (SMTPResponseException(451, "try later"), NotNow),
        (SMTPResponseException(554, "rejected"), SmtpRefused),
        (SMTPServerDisconnected("gone"), OutcomeUnknown),
        (ConnectionResetError(), OutcomeUnknown),
        (TimeoutError(), OutcomeUnknown),
    ],
)
async def test_after_data_silence_means_that_nobody_knows(error: Exception, means: type[Exception]) -> None:
    """An answer decides; a connection lost between DATA and its answer is unknown, never a retry."""
    with pytest.raises(means):
        await Dialogue(Server("data", error), LETTER).data()  # type: ignore[arg-type]


async def test_the_servers_answer_is_kept() -> None:
    """What the server said on acceptance goes into the ledger."""
    assert await Dialogue(Server("data", None), LETTER).data() == "250 ok"  # type: ignore[arg-type]


async def test_an_international_address_goes_only_where_it_is_understood() -> None:
    """Without SMTPUTF8 such a mail is refused, not mangled; with it, it goes."""
    message = SmtpMessage("support@example.com", "jürgen@example.org", b"")
    with pytest.raises(SmtpRefused, match="SMTPUTF8"):
        await _introduce(Server("", None), message)  # type: ignore[arg-type]
    await _introduce(Server("", None, extensions=("smtputf8",)), message)  # type: ignore[arg-type]


def test_only_not_now_is_temporary() -> None:
    """The classes say which outcomes may be tried again."""
    assert issubclass(NotNow, Temporary)
    assert issubclass(SmtpRefused, Permanent)
    assert issubclass(OutcomeUnknown, Permanent)
