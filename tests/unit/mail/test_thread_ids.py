"""place: which thread a mail belongs to, and who may continue whose."""

from __future__ import annotations

import dataclasses
import functools
import itertools
import uuid
from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from services.core.settings.replies import ThreadSettings
from services.mail import thread_ids
from services.mail.thread_ids import (
    KnownThread,
    MailFacts,
    Placement,
    thread_id,
    wanted_ids,
    wanted_threads,
)

NOW = datetime(2026, 11, 21, 7, tzinfo=UTC)
place = functools.partial(thread_ids.place, reopen_within=timedelta(days=ThreadSettings().reopen_days))
ANN, BOB, EVE = "ann@customer.example", "bob@customer.example", "eve@evil.example"


def facts(message_id: str, *references: str, author: str = ANN, subject: str = "Order", **more: object) -> MailFacts:
    """A verified mail from Ann to us, unless said otherwise."""
    given: dict[str, object] = {"participants": frozenset({author}), "verified": True, **more}
    return MailFacts("acme", "support", message_id, author, NOW, subject, references, **given)  # type: ignore[arg-type]


class Store:
    """The rows that the database keeps: which ids each thread holds or awaits, and who stood in it."""

    def __init__(self) -> None:
        self.threads: dict[uuid.UUID, KnownThread] = {}
        self.placed: dict[str, uuid.UUID] = {}
        self.same: list[tuple[uuid.UUID, uuid.UUID]] = []

    def take(self, mail: MailFacts) -> Placement:
        """Place a mail and remember it."""
        wanted, ids = set(wanted_threads(mail)), set(wanted_ids(mail))
        known = [t for t in self.threads.values() if t.thread_id in wanted or (t.own_ids | t.awaited) & ids]
        placement = place(mail, known)
        self._remember(mail, placement)
        return placement

    def _remember(self, mail: MailFacts, placement: Placement) -> None:
        new = KnownThread(placement.thread_id, mail.author, subject=mail.subject, proof=mail.proof)
        thread = self.threads.get(placement.thread_id, new)
        self.threads[placement.thread_id] = dataclasses.replace(
            thread,
            message_ids=thread.message_ids | {mail.message_id},
            awaited=thread.awaited | set(placement.awaits),
            participants=thread.participants | mail.participants | {mail.author},
            verified=thread.verified | ({mail.author} if mail.verified else set()),
        )
        self.placed[mail.message_id] = placement.thread_id
        if placement.kind == "continued" and placement.linked_to:
            self.same.append((placement.thread_id, placement.linked_to))

    def sent(self, thread: uuid.UUID, message_id: str) -> None:
        """We answered in a thread."""
        known = self.threads[thread]
        self.threads[thread] = dataclasses.replace(known, our_ids=known.our_ids | {message_id})

    def groups(self) -> set[frozenset[str]]:
        """Which mails are together, links followed."""
        root = {t: t for t in self.placed.values()}
        for one, other in self.same:
            merged, gone = root.get(one, one), root.get(other, other)
            root = {t: merged if r == gone else r for t, r in root.items()}
        together: dict[uuid.UUID, set[str]] = {}
        for message_id, thread in self.placed.items():
            together.setdefault(root[thread], set()).add(message_id)
        return {frozenset(group) for group in together.values()}


def test_first_mail_opens_a_thread_named_after_it() -> None:
    """A mail that answers nothing gets uuid5 of workspace, inbox and its own id, the same every time."""
    mail = facts("a")
    assert place(mail, []).thread_id == thread_id(mail, "a") == place(mail, []).thread_id
    assert place(mail, []).kind == "new"
    elsewhere = dataclasses.replace(mail, inbox="sales")
    assert place(elsewhere, []).thread_id != place(mail, []).thread_id


def test_valid_token_decides() -> None:
    """The thread of a valid reply token is continued, whatever else the mail refers to."""
    store = Store()
    first = store.take(facts("a")).thread_id
    other = store.take(facts("b")).thread_id
    assert store.take(facts("c", "b", token_thread=first)).thread_id == first != other


def test_token_of_a_thread_not_in_store_is_trusted() -> None:
    """A valid token names the thread even where its row is not found."""
    assert place(facts("c", token_thread=uuid.UUID(int=7)), []).thread_id == uuid.UUID(int=7)


def test_answer_to_our_mail_continues() -> None:
    """A reply to a Message-ID of ours stays in its thread."""
    store = Store()
    thread = store.take(facts("a")).thread_id
    store.sent(thread, "ours")
    placement = store.take(facts("b", "ours", subject="Re: Order"))
    assert (placement.thread_id, placement.kind, placement.reason) == (thread, "continued", "answers a mail of ours")


def test_never_by_subject_alone() -> None:
    """Two mails of one person with one subject and no reference are two threads."""
    store = Store()
    assert store.take(facts("a")).thread_id != store.take(facts("b", subject="Re: Order")).thread_id


def test_stranger_opens_a_thread_of_his_own_and_is_flagged() -> None:
    """A reference to somebody else's thread, ours or theirs, verified or not, does not let a stranger in."""
    store = Store()
    thread = store.take(facts("a")).thread_id
    store.sent(thread, "ours")
    for number, reference in enumerate(("a", "ours")):
        placement = store.take(facts(f"e{number}", reference, author=EVE))
        assert placement.thread_id != thread
        assert (placement.kind, placement.flags) == ("new", ("foreign_reference",))


def test_stranger_who_came_first_keeps_nobody_out() -> None:
    """A stranger who refers to a mail before it arrives does not catch its author in his thread."""
    store = Store()
    stranger = store.take(facts("e", "a", author=EVE)).thread_id
    assert store.take(facts("a")).thread_id != stranger
    assert store.take(facts("b", "a")).thread_id == store.placed["a"]


def test_verified_person_from_to_or_cc_continues() -> None:
    """A person who stood in To or Cc may continue when verified, and may not when unverified."""
    store = Store()
    thread = store.take(facts("a", participants=frozenset({ANN, BOB}))).thread_id
    assert store.take(facts("b", "a", author=BOB)).thread_id == thread
    assert store.take(facts("c", "a", author=BOB, verified=False)).thread_id != thread


def test_an_unproven_mail_never_joins_the_thread_of_a_proven_person() -> None:
    """Whoever only writes the author's address gets a thread of their own, marked and linked, by whichever way they ask."""
    store = Store()
    thread = store.take(facts("a", participants=frozenset({ANN, BOB}))).thread_id
    store.sent(thread, "ours")
    ways: tuple[dict[str, object], ...] = ({}, {"token_thread": thread}, {"failed": True}, {"author": BOB})
    for number, way in enumerate(ways):
        for reference in ("a", "ours"):
            placement = store.take(facts(f"f{number}{reference}", reference, verified=False, **way))
            assert placement.thread_id != thread
            assert (placement.flags, placement.linked_to) in (
                (("claims_to_be",), thread),
                (("claims_to_be",), None),  # a further mail of the thread that was opened for the first
            )


def test_a_token_names_a_thread_and_proves_nobody() -> None:
    """The token of a proven person's thread opens another one, linked, for whoever is not proven, and for nobody who failed."""
    store = Store()
    thread = store.take(facts("a")).thread_id
    for number, failed in enumerate((False, True)):
        forged = facts(f"b{number}", verified=False, failed=failed, token_thread=thread)
        placement = store.take(forged)
        assert placement.thread_id != thread
        assert (placement.kind, placement.linked_to, placement.flags) == ("linked", thread, ("claims_to_be",))
    unknown = uuid.UUID(int=7)
    assert place(facts("c", verified=False, token_thread=unknown), []).thread_id != unknown


def test_who_is_not_proven_continues_their_own_unproven_thread() -> None:
    """Unproven mails of one address are together, by reference or token, and apart from those that its domain disowns."""
    store = Store()
    thread = store.take(facts("a", verified=False)).thread_id
    assert store.take(facts("b", "a", verified=False)).thread_id == thread
    assert store.take(facts("c", verified=False, token_thread=thread)).thread_id == thread
    assert store.take(facts("d", "a", verified=False, failed=True)).thread_id != thread
    assert store.take(facts("e", "a", verified=False, author=EVE)).thread_id != thread


def test_the_proven_author_of_an_unproven_thread_gets_a_new_one_that_is_linked() -> None:
    """What was said in their name before stands in no thread of theirs; people find it by the link."""
    store = Store()
    before = store.take(facts("a", verified=False)).thread_id
    placement = store.take(facts("b", "a"))
    assert placement.thread_id != before
    assert (placement.kind, placement.linked_to, placement.flags) == ("linked", before, ())
    assert store.take(facts("c", "a", "b")).thread_id == placement.thread_id


def test_a_message_id_that_was_forged_before_the_real_mail_captures_nothing() -> None:
    """Whose Message-ID a forger has used first has their thread, and the answers to it, as if nobody had."""
    for forger in (ANN, EVE):
        store, undisturbed = Store(), Store()
        for reference in ((), ("r",)):
            forged = store.take(facts("a", *reference, author=forger, verified=False)).thread_id
        for mail in (facts("a"), facts("b", "a"), facts("c", "a", "b", subject="Re: Order")):
            placement = store.take(mail)
            assert placement.thread_id == undisturbed.take(mail).thread_id != forged


def test_changed_subject_opens_a_linked_thread() -> None:
    """Another base subject begins a thread linked to the old one; a reply prefix or an empty subject does not."""
    store = Store()
    thread = store.take(facts("a")).thread_id
    assert store.take(facts("b", "a", subject="AW: order")).thread_id == thread
    assert store.take(facts("c", "a", subject="")).thread_id == thread
    placement = store.take(facts("d", "a", subject="Invoice"))
    assert (placement.kind, placement.linked_to) == ("linked", thread)
    assert store.take(facts("e", "a", "d", subject="Re: Invoice")).thread_id == placement.thread_id


def test_long_after_closing_opens_a_linked_thread() -> None:
    """A mail long after a thread was closed begins a linked one; soon after, it continues."""
    mail = facts("b", "a")
    known = KnownThread(thread_id(mail, "a"), ANN, frozenset({"a"}), closed_at=NOW - timedelta(days=400))
    late = place(mail, [known])
    assert (late.kind, late.linked_to) == ("linked", known.thread_id)
    assert late.thread_id != known.thread_id
    soon = dataclasses.replace(known, closed_at=NOW - timedelta(days=20))
    assert place(mail, [soon]).thread_id == known.thread_id


def test_reply_before_its_question() -> None:
    """Mails that arrive in the wrong order end in one thread."""
    store = Store()
    late = store.take(facts("c", "a", "b")).thread_id
    assert store.take(facts("b", "a")).thread_id == late
    assert store.take(facts("a")).thread_id == late


def test_stranger_who_sits_in_a_root_is_passed_by() -> None:
    """Where a stranger's mail has taken the id of a conversation's root, its author's mails still come together."""
    for order in itertools.permutations([facts("a"), facts("b", "a"), facts("c", "a", "b")]):
        store = Store()
        stranger = store.take(facts("e", "a", author=EVE)).thread_id
        threads = {store.take(mail).thread_id for mail in order}
        assert len(threads) == 1
        assert stranger not in threads


def test_link_found_late_is_told() -> None:
    """A mail that joins two threads goes to one and names the other."""
    store = Store()
    one, other = store.take(facts("c", "b")).thread_id, store.take(facts("d", "a")).thread_id
    placement = store.take(facts("b", "a"))
    assert {placement.thread_id, placement.linked_to} == {one, other}


def test_threads_are_the_same_in_every_order_of_arrival() -> None:
    """A conversation with a colleague and a stranger groups alike in all 720 orders."""
    both = frozenset({ANN, BOB})
    mails = [
        facts("a", participants=both),
        facts("b", "a", participants=both),
        facts("c", "a", "b", author=BOB, participants=both),
        facts("d", "a", "b", "c", participants=both),
        facts("e", "a", author=EVE),
        facts("f", author=EVE),
    ]
    outcomes = set()
    for order in itertools.permutations(mails):
        store = Store()
        for mail in order:
            store.take(mail)
        outcomes.add(frozenset(store.groups()))
    assert outcomes == {frozenset({frozenset("abcd"), frozenset("e"), frozenset("f")})}


@given(st.permutations("abcdef"), st.data())
def test_one_persons_mails_group_alike_in_any_order(order: list[str], data: st.DataObject) -> None:
    """One author's mails, each referring to any earlier ones, are grouped by their references alone."""
    mails = {}
    for number, name in enumerate("abcdef"):
        earlier = "abcdef"[:number]
        refers = data.draw(st.lists(st.sampled_from(earlier), max_size=2, unique=True)) if earlier else []
        mails[name] = facts(name, *sorted(refers))
    store, straight = Store(), Store()
    for name in order:
        store.take(mails[name])
    for mail in mails.values():
        straight.take(mail)
    assert store.groups() == straight.groups()


@given(st.permutations("abcdefgh"), st.data())
def test_no_unproven_mail_changes_where_a_proven_one_goes(order: list[str], data: st.DataObject) -> None:
    """Proven mails have the same threads, whatever unproven ones come between, before or after, in the same name."""
    mails, threads = {}, {}
    for number, name in enumerate("abcdefgh"):
        earlier = "abcdefgh"[:number]
        refers = data.draw(st.lists(st.sampled_from(earlier), max_size=2, unique=True)) if earlier else []
        own_id = data.draw(st.sampled_from((name, *earlier))) if number % 2 else name
        how = data.draw(st.sampled_from(({}, {"failed": True}))) if number % 2 else {}
        proven = {"verified": not number % 2, "author": data.draw(st.sampled_from((ANN, EVE))) if number % 2 else ANN}
        mails[name] = facts(own_id, *sorted(refers), **proven, **how)
    alone, together = Store(), Store()
    for name in order:
        placed = together.take(mails[name]).thread_id
        if mails[name].verified:
            threads[name] = placed
            assert alone.take(mails[name]).thread_id == placed
        else:
            assert placed not in threads.values()
    assert not {t.thread_id for t in together.threads.values() if t.proof != "proven"} & set(threads.values())
