"""What the SMTP server has, against what the events say: once, to the right person, and known or called unknown."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator

from tests.oracle.evidence import Evidence

RESULTS = ("sent", "unknown", "failed", "deferred")


def at_most_once(evidence: Evidence) -> Iterator[str]:
    """The server accepted no message twice, no turn was answered twice, no mail was, and nobody else's message is there."""
    copies = Counter(one.message_id for one in evidence.accepted)
    yield from (f"the server accepted {name} {count} times" for name, count in copies.items() if count > 1)
    turn_of = {one["message_id"]: one["turn_id"] for one in evidence.by_type["reply.approved.v1"]}
    yield from (f"the server accepted {name}, which nobody approved" for name in copies if name not in turn_of)
    turns = Counter(turn_of[name] for name in copies if name in turn_of)
    yield from (f"turn {turn} was answered {count} times" for turn, count in turns.items() if count > 1)
    covers = {one["turn_id"]: one["mail_ids"] for one in evidence.by_type["turn.opened.v1"]}
    answers = Counter(mail for turn in turns if turn not in evidence.begun_by_us for mail in covers.get(turn, ()))
    yield from (f"mail {mail} was answered {count} times" for mail, count in answers.items() if count > 1)


def to_the_author(evidence: Evidence) -> Iterator[str]:
    """Each message went to the author of the newest mail of its turn, as that mail was offered."""
    sender = {one.message_id: one.sender for one in evidence.offered}
    author = {one["mail_id"]: sender.get(one["message_id"]) for one in evidence.by_type["email.read.v1"]}
    mails = {one["turn_id"]: one["mail_ids"] for one in evidence.by_type["turn.opened.v1"]}
    turn_of = {one["message_id"]: one["turn_id"] for one in evidence.by_type["reply.approved.v1"]}
    for one in evidence.accepted:
        authors = {author.get(mail) for mail in mails.get(turn_of.get(one.message_id, ""), ())[-1:]}
        if one.message_id in turn_of and authors != {one.recipient}:
            yield f"{one.message_id} went to {one.recipient} and answers {authors}"


def settled(evidence: Evidence) -> Iterator[str]:
    """What is called sent was accepted; what was accepted is sent or unknown; each intent has exactly one result."""
    copies = Counter(one.message_id for one in evidence.accepted)
    name_of = {one["reply_id"]: one["message_id"] for one in evidence.by_type["reply.approved.v1"]}
    sent, unknown = ({one["reply_id"] for one in evidence.by_type[f"reply.{kind}.v1"]} for kind in ("sent", "unknown"))
    yield from (f"reply {one} is called sent and never arrived" for one in sent if not copies[name_of.get(one, "")])
    for reply, name in name_of.items():
        if copies[name] and reply not in sent | unknown:
            yield f"reply {reply} arrived and is neither sent nor unknown"
    results: Counter[tuple[str, int]] = Counter()
    for kind in RESULTS:
        results.update((one["reply_id"], one["attempt"]) for one in evidence.by_type[f"reply.{kind}.v1"])
    for one in evidence.by_type["reply.sending.v1"]:
        if results[one["reply_id"], one["attempt"]] != 1:
            count = results[one["reply_id"], one["attempt"]]
            yield f"attempt {one['attempt']} of reply {one['reply_id']} has {count} results"


def in_order(evidence: Evidence) -> Iterator[str]:
    """The replies of a thread reached the server in the order in which their turns were opened."""
    turn_of = {one["message_id"]: one["turn_id"] for one in evidence.by_type["reply.approved.v1"]}
    thread_of = {one["turn_id"]: one["thread_id"] for one in evidence.by_type["turn.opened.v1"]}
    place = {one["turn_id"]: at for at, one in enumerate(evidence.by_type["turn.opened.v1"])}
    arrived: dict[str, list[int]] = defaultdict(list)
    for one in evidence.accepted:
        turn = turn_of.get(one.message_id)
        if turn in place:
            arrived[thread_of[turn]].append(place[turn])
    for thread, places in arrived.items():
        if places != sorted(places):
            yield f"the replies of thread {thread} arrived out of order"
