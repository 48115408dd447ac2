"""Which thread a colleague's mail from the Sent folder answers."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from uuid import UUID

from services.mail.thread_ids import KnownThread, MailFacts
from services.read_email.placement import answered

ANN, BEN = "ann@acme.example", "ben@other.example"
OURS = KnownThread(
    UUID(int=1), ANN, message_ids=frozenset({"q1@acme.example"}), our_ids=frozenset({"c.1@shop.example"})
)
THEIRS = KnownThread(UUID(int=2), BEN, message_ids=frozenset({"q2@other.example"}))
MAIL = MailFacts(
    workspace="main",
    inbox="support",
    message_id="by-hand@shop.example",
    author="support@shop.example",
    received=datetime(2026, 3, 2, tzinfo=UTC),
    references=("q1@acme.example",),
    participants=frozenset({ANN}),
)


def test_an_answer_to_the_customer_joins_the_customers_thread() -> None:
    """The mail refers to the customer's and is written to them."""
    assert answered(MAIL, [THEIRS, OURS]) == OURS


def test_it_may_refer_to_a_reply_of_ours() -> None:
    """A colleague who adds something to the agent's reply writes in the same thread."""
    assert answered(replace(MAIL, references=(), in_reply_to=("c.1@shop.example",)), [OURS]) == OURS


def test_a_mail_that_is_passed_on_is_no_answer() -> None:
    """A customer's mail that a colleague sends to somebody else leaves the customer waiting for us."""
    assert answered(replace(MAIL, participants=frozenset({"expert@shop.example"})), [OURS]) is None


def test_one_customers_thread_is_never_closed_by_a_mail_to_another() -> None:
    """The people of the thread that is referred to count, not those of any thread that is known."""
    assert answered(replace(MAIL, participants=frozenset({BEN})), [OURS, THEIRS]) is None


def test_the_nearest_reference_decides() -> None:
    """Where a mail refers to two threads of the same person, it answers the one it replies to."""
    older = KnownThread(UUID(int=3), ANN, message_ids=frozenset({"q0@acme.example"}))
    mail = replace(MAIL, references=("q0@acme.example", "q1@acme.example"))
    assert answered(mail, [older, OURS]) == OURS


def test_what_is_only_awaited_proves_nothing() -> None:
    """An id that a thread merely claims to wait for does not make it that thread's."""
    claimed = replace(OURS, message_ids=frozenset(), our_ids=frozenset(), awaited=frozenset({"q1@acme.example"}))
    assert answered(MAIL, [claimed]) is None
