"""What becomes of a finished draft, and what an SMTP answer means."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any
from uuid import UUID

import pytest
from aiosmtplib import SMTPRecipientsRefused, SMTPResponseException, SMTPServerDisconnected

from schemas.events.replies import ReplyApproved, ReplyDiscarded, ReplyDrafted, ReplyHeld
from services.core.errors import Permanent, Temporary
from services.send_email.handler import _decide
from services.send_email.smtp import Dialogue, Letter, NotNow, OutcomeUnknown, Refused, _introduce

LETTER = Letter("support@example.com", "ada@example.org", b"Subject: Hi\r\n\r\nHi")
COMPOSED: Any = SimpleNamespace(message_id="r1@example.com", recipient="ada@example.org", envelope_from="s@example.com")


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


def test_an_overtaken_draft_is_discarded_whatever_the_policy() -> None:
    """A newer mail or an escalation comes before approval and review."""
    for approval in ("auto", "review"):
        event = _decide(draft(), COMPOSED, "b" * 64, "a newer mail came", approval)
        assert isinstance(event, ReplyDiscarded)
        assert event.reason == "a newer mail came"


def test_where_people_review_a_reply_is_held() -> None:
    """With review, a reply waits for a person and nothing is approved."""
    assert isinstance(_decide(draft(), COMPOSED, "b" * 64, "", "review"), ReplyHeld)


@pytest.mark.parametrize(("decision", "approval"), [("reply", "auto"), ("escalate", "auto"), ("escalate", "review")])
def test_an_approved_reply_goes_to_the_author_that_code_found(decision: str, approval: str) -> None:
    """Recipient and ids are those of the frozen MIME; the message of an escalation needs no review."""
    event = _decide(draft(decision=decision), COMPOSED, "b" * 64, "", approval)
    assert isinstance(event, ReplyApproved)
    assert (event.recipient, event.message_id, event.blob) == ("ada@example.org", "r1@example.com", "b" * 64)
    assert (event.decision, event.goals_add) == (decision, ("g",))


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
        (SMTPResponseException(550, "no such user"), Refused),
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
        (SMTPResponseException(554, "rejected"), Refused),
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
    letter = Letter("support@example.com", "jürgen@example.org", b"")
    with pytest.raises(Refused, match="SMTPUTF8"):
        await _introduce(Server("", None), letter)  # type: ignore[arg-type]
    await _introduce(Server("", None, extensions=("smtputf8",)), letter)  # type: ignore[arg-type]


def test_only_not_now_is_temporary() -> None:
    """The classes say which outcomes may be tried again."""
    assert issubclass(NotNow, Temporary)
    assert issubclass(Refused, Permanent)
    assert issubclass(OutcomeUnknown, Permanent)
