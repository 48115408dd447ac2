"""Which thread a mail belongs to: a pure decision over what the mail says and what the store knows.

In this order: the thread of a valid reply token; a Message-ID of ours in In-Reply-To or References; an
earlier mail of the same people; else a new thread. Never by subject alone. Whoever may not continue a
thread opens a new one, flagged. Threads are the same whatever order their mails arrive in, if the caller
stores with each placed mail its own id and the ids in `Placement.awaits`, and asks for `wanted_ids`.

A thread holds mails of one proof: proven, unproven or failed (its domain disowns it). No mail of one proof is in
a thread of another, and none changes where a mail of another proof goes, whatever Message-ID, reference or token it
carries. Between them there are links, for people to see. A thread is of one space of memory, too: between spaces there
is nothing, not even a link.
"""

from __future__ import annotations

import re
import uuid
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Literal

# What places a mail in a thread: what the mail says, what the store knows, and where it goes.
PlacementKind = Literal["new", "continued", "linked"]
Proof = Literal["proven", "unproven", "failed"]


@dataclass(frozen=True, slots=True)
class MailFacts:
    """What placing needs of a mail. Addresses are keys (casefolded), ids without brackets, references oldest first.

    `token_thread` is what `tokens.check_token` gave for the author; `participants` are From, To and Cc
    without our own addresses; `verified` holds for `verified` and `vouched` senders, `failed` where the sender's domain
    disowns the mail. `aliases` are the other addresses of the same person; `space` is the memory that the mail is of.
    """

    workspace: str
    inbox: str
    message_id: str
    author: str
    received: datetime
    subject: str = ""
    references: tuple[str, ...] = ()
    in_reply_to: tuple[str, ...] = ()
    participants: frozenset[str] = frozenset()
    verified: bool = False
    token_thread: uuid.UUID | None = None
    aliases: frozenset[str] = frozenset()
    failed: bool = False
    space: str = ""

    @property
    def proof(self) -> Proof:
        """How far the author is who they say: what decides which threads the mail may be in."""
        return "proven" if self.verified else "failed" if self.failed else "unproven"

    @property
    def ancestors(self) -> tuple[str, ...]:
        """The ids referred to, nearest first, each once, never the mail's own."""
        ids = dict.fromkeys((*self.in_reply_to, *reversed(self.references)))
        return tuple(i for i in ids if i != self.message_id)


@dataclass(frozen=True, slots=True)
class KnownThread:
    """A thread that the store found for one of `wanted_ids` or `wanted_threads`.

    `message_ids` are those of its mails, `our_ids` of those that we sent, `awaited` those its mails refer to and
    that have not come; `participants` all who stood in From, To or Cc of its trusted mails, `verified` those
    who wrote in it and were verified. `proof` and `space` are those of its first mail, and so of every mail in it;
    `participant_id` is its author.
    """

    thread_id: uuid.UUID
    author: str
    message_ids: frozenset[str] = frozenset()
    our_ids: frozenset[str] = frozenset()
    awaited: frozenset[str] = frozenset()
    participants: frozenset[str] = frozenset()
    verified: frozenset[str] = frozenset()
    subject: str = ""
    closed_at: datetime | None = None
    proof: Proof = "proven"
    participant_id: uuid.UUID | None = None
    space: str = ""

    @property
    def own_ids(self) -> frozenset[str]:
        """The ids that are this thread's for certain. What it awaits is only a claim."""
        return self.message_ids | self.our_ids


@dataclass(frozen=True, slots=True)
class Placement:
    """Where a mail goes. `linked_to` is the thread that a linked one carries on from, or says that it does.

    Where the mail goes into one thread and shows another to be the same conversation, it is that other one.
    `awaits` are the ids whose mails, when they come, belong here.
    """

    thread_id: uuid.UUID
    kind: PlacementKind
    reason: str
    flags: tuple[str, ...] = ()
    linked_to: uuid.UUID | None = None
    awaits: tuple[str, ...] = ()


# Subjects compared and continued: the base subject of RFC 5256 section 2.1, with the prefixes of other languages.
_REPLY = (
    "re|aw|antw|antwort|sv|vs|odp|rif|r|ref|res|rv|ynt|atb|bls|vá|ad|hsv|συ|απ|回复|回覆|答复|返信|ответ|отв|на|회신|답장|רד|"
    "réf|réponse|odpowiedź|svar"
)
_FORWARD = "fwd?|wg|weitergeleitet|tr|i|rv|enc|vl|vb|doorst|pd|vidbs|továbbítás|πρθ|转发|轉寄|転送|пер|전달|הועבר"
MAX_CHARS = 1000
_COUNT = r"\s{0,9}(?:\[\d{1,9}\]|\(\d{1,9}\)|\^\d{1,9})?"
_REPLY_PREFIX = re.compile(rf"^\s*+(?:{_REPLY}){_COUNT}\s{{0,9}}[:：]\s*+", re.I)
_LEADER = re.compile(rf"^\s*+(?:(?:{_REPLY}|{_FORWARD}){_COUNT}\s{{0,9}}(?:\[[^\[\]]*+\])?\s{{0,9}}[:：])\s*+", re.I)
_BLOB = re.compile(r"^\s*\[[^\[\]]*\]\s*")
_TRAILER = re.compile(r"(?<!\s)\s*+\(fwd\)\s*+$", re.I)
_WRAPPED = re.compile(r"^\s*\[fwd:(.*)\]\s*$", re.I | re.S)


def base_subject(subject: str) -> str:
    """The subject without replies, forwards and list tags, in one case: equal for all mails of one conversation.

    A blob ("[list]") is taken off only while something is left (RFC 5256 section 2.1, step 4).
    """
    text = " ".join(subject[:MAX_CHARS].split()).casefold()
    while True:
        before = text
        text = _TRAILER.sub("", text)
        text = _without_leaders(text)
        if wrapped := _WRAPPED.match(text):
            text = wrapped.group(1).strip()
        if text == before:
            return text


def _without_leaders(text: str) -> str:
    while True:
        without = _LEADER.sub("", text)
        unblobbed = _BLOB.sub("", without)
        without = unblobbed if unblobbed else without
        if without == text:
            return text
        text = without


def is_reply(subject: str) -> bool:
    """Whether the subject begins with `Re:` in any language."""
    return bool(_REPLY_PREFIX.match(subject[:MAX_CHARS]))


def without_reply_prefixes(subject: str) -> str:
    """The subject as written, less every leading `Re:` in any language; forwards and tags stay."""
    subject = subject[:MAX_CHARS]
    while (shorter := _REPLY_PREFIX.sub("", subject)) != subject:
        subject = shorter
    return subject


__all__ = [
    "KnownThread",
    "MailFacts",
    "Placement",
    "PlacementKind",
    "Proof",
    "place",
    "thread_id",
    "wanted_ids",
    "wanted_threads",
]

_NAMESPACE = uuid.uuid5(uuid.NAMESPACE_URL, "urn:correspondent:thread")


def wanted_ids(mail: MailFacts) -> tuple[str, ...]:
    """The Message-IDs to look up before placing: the mail's own (a reply may have come first) and its ancestors."""
    return tuple(dict.fromkeys((mail.message_id, *mail.ancestors)))


def wanted_threads(mail: MailFacts) -> tuple[uuid.UUID, ...]:
    """The thread ids to look up before placing: the token's, and those the mail could be given."""
    roots = (mail.message_id, *mail.references[:1], *mail.in_reply_to[:1])
    possible = (found for root in roots for found in _root_threads(mail, root))
    return tuple(dict.fromkeys([*([mail.token_thread] if mail.token_thread else []), *possible]))


def thread_id(mail: MailFacts, root: str) -> uuid.UUID:
    """uuid5 of workspace, inbox, its space and the id that a conversation begins with; of an unproven author too."""
    apart = () if mail.proof == "proven" else (mail.proof, mail.author)
    space = ("space", mail.space) if mail.space else ()
    return uuid.uuid5(_NAMESPACE, "\x1f".join((mail.workspace, mail.inbox, root, *apart, *space)))


def place(mail: MailFacts, candidates: Iterable[KnownThread], reopen_within: timedelta) -> Placement:
    """The thread of a mail, given every known thread for `wanted_ids` and `wanted_threads`.

    `reopen_within` is how long after its end a closed thread is reopened (`threads.reopen_days`).
    """
    mail, candidates = _within_space(mail, list(candidates))
    every = sorted(candidates, key=lambda thread: str(thread.thread_id))
    known = [thread for thread in every if thread.proof == mail.proof]
    others = [thread for thread in every if thread.proof != mail.proof]
    by_token = mail.verified and all(thread.thread_id != mail.token_thread for thread in others)
    return _marked(mail, _placed(mail, known, reopen_within, by_token=by_token), others)


def _within_space(mail: MailFacts, candidates: Sequence[KnownThread]) -> tuple[MailFacts, list[KnownThread]]:
    """The mail as it is read in its space: there is no thread of another one, nor a token for it."""
    within = [thread for thread in candidates if thread.space == mail.space]
    elsewhere = {thread.thread_id for thread in candidates if thread.space != mail.space}
    return replace(mail, token_thread=None if mail.token_thread in elsewhere else mail.token_thread), within


def _placed(mail: MailFacts, known: Sequence[KnownThread], reopen_within: timedelta, *, by_token: bool) -> Placement:
    """The thread among those of the mail's own proof; `by_token`: a token may name one that is not stored."""
    found, reason = _found(mail, known)
    allowed = [thread for thread in found if _may_continue(mail, thread)]
    refused = [thread for thread in known if thread not in allowed and _refers(mail, thread)]
    flags = ("foreign_reference",) if refused else ()
    open_for_it = [thread for thread in allowed if _same_matter(mail, thread, reopen_within)]
    if open_for_it:
        first, *others = open_for_it
        also = others[0].thread_id if others else None
        return Placement(
            first.thread_id, "continued", reason[first.thread_id], flags, also, awaits=_awaits(mail, refused)
        )
    if by_token and mail.token_thread and not allowed:
        return Placement(mail.token_thread, "continued", "reply token", flags, awaits=_awaits(mail, refused))
    return _opened(mail, known, allowed, refused, flags)


def _marked(mail: MailFacts, placement: Placement, others: Sequence[KnownThread]) -> Placement:
    """The placement with what the mail has to do with threads of another proof, for people to see.

    A mail of nobody proven that carries on from a proven person's thread claims to be one of its people, or
    is a stranger's. A proven mail is linked to what its author wrote before they were proven.
    """
    named = [t for t in others if _refers(mail, t) or t.thread_id == mail.token_thread]
    theirs = [t for t in named if mail.author in (t.author, *t.participants)]
    flags = placement.flags
    if mail.proof != "proven" and named:
        flags = (*flags, "claims_to_be" if theirs else "foreign_reference")
    if placement.kind != "new" or not theirs:
        return replace(placement, flags=tuple(dict.fromkeys(flags)))
    first = min(theirs, key=lambda t: (t.proof != "proven", t.proof))
    why = "its author is proven now" if mail.proof == "proven" else f"its sender is {mail.proof}"
    return replace(placement, kind="linked", reason=why, linked_to=first.thread_id, flags=tuple(dict.fromkeys(flags)))


def _found(mail: MailFacts, known: Sequence[KnownThread]) -> tuple[list[KnownThread], dict[uuid.UUID, str]]:
    """The threads that a mail points to, the surest first, each with the reason."""
    reason: dict[uuid.UUID, str] = {}
    found: list[KnownThread] = []

    def take(threads: Iterable[KnownThread], why: str) -> None:
        for thread in threads:
            if thread.thread_id not in reason:
                reason[thread.thread_id] = why
                found.append(thread)

    take((t for t in known if t.thread_id == mail.token_thread), "reply token")
    for ancestor in mail.ancestors:
        take((t for t in known if ancestor in t.our_ids), "answers a mail of ours")
    for ancestor in mail.ancestors:
        take((t for t in known if ancestor in t.message_ids | t.awaited), "answers an earlier mail of the same people")
    take((t for t in known if mail.message_id in t.message_ids | t.awaited), "its answer came first")
    roots = _root_threads(mail, _root(mail, ()))
    take((t for t in known if t.thread_id in roots), "begins with the same mail")
    return found, reason


def _may_continue(mail: MailFacts, thread: KnownThread) -> bool:
    """The token's holder, the thread's author, a verified person from its To/Cc; or, late, whom that one answered.

    A verified person is whoever they are under another of their addresses.
    """
    if thread.thread_id == mail.token_thread or mail.author == thread.author:
        return True
    if mail.verified and (mail.author in thread.participants or mail.aliases & {thread.author, *thread.participants}):
        return True
    answered = mail.message_id in thread.message_ids | thread.awaited
    return answered and thread.author in (thread.verified & mail.participants)


def _refers(mail: MailFacts, thread: KnownThread) -> bool:
    return bool(thread.own_ids.intersection(mail.ancestors))


def _same_matter(mail: MailFacts, thread: KnownThread, reopen_within: timedelta) -> bool:
    """Whether neither a changed base subject nor a long time since closing asks for a new thread."""
    subject = base_subject(mail.subject)
    unchanged = not subject or not thread.subject or subject == base_subject(thread.subject)
    return unchanged and (thread.closed_at is None or mail.received - thread.closed_at <= reopen_within)


def _opened(
    mail: MailFacts,
    known: Sequence[KnownThread],
    allowed: Sequence[KnownThread],
    refused: Sequence[KnownThread],
    flags: tuple[str, ...],
) -> Placement:
    """A new thread, linked to the one that it carries on from; its id is nobody else's."""
    awaits = _awaits(mail, [*refused, *allowed])
    free, own = _root_threads(mail, mail.message_id if allowed else _root(mail, refused))
    wanted = own if any(thread.thread_id == free for thread in known) else free
    if allowed:
        carried = allowed[0]
        why = "long after it was closed" if _same_matter(mail, carried, timedelta.max) else "its subject changed"
        return Placement(wanted, "linked", why, flags, carried.thread_id, awaits=awaits)
    return Placement(
        wanted, "new", "somebody else's thread" if refused else "nothing it answers is known", flags, awaits=awaits
    )


def _root(mail: MailFacts, refused: Sequence[KnownThread]) -> str:
    """The first trusted reference: the oldest, unless a refused thread holds one; else the mail's own id."""
    foreign = frozenset[str]().union(*(t.own_ids for t in refused))
    roots = [r for r in (*mail.references, *mail.in_reply_to) if r != mail.message_id]
    return roots[0] if roots and not foreign.intersection(roots) else mail.message_id


def _root_threads(mail: MailFacts, root: str) -> tuple[uuid.UUID, uuid.UUID]:
    """The thread that begins with a mail, and the author's own one for where somebody else sits in that."""
    return thread_id(mail, root), thread_id(mail, f"{root}\x1f{mail.author}")


def _awaits(mail: MailFacts, others: Sequence[KnownThread]) -> tuple[str, ...]:
    """The ancestors that no other thread holds: when such a mail comes, it belongs with this one."""
    taken = frozenset[str]().union(*(t.own_ids for t in others))
    return tuple(i for i in mail.ancestors if i not in taken)
