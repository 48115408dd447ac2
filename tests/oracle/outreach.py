"""Mail that we begin: once a person, as one draft, never to whom wants none, and what became of each is known."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator

from tests.oracle.evidence import Evidence

ENDS = {"refused", "discarded", "failed", "sent", "answered", "bounced"}
LEFT = {"sent", "answered", "bounced"}


def once_a_person(evidence: Evidence) -> Iterator[str]:
    """However often the round is asked for, a person is proposed one mail, and it is one draft of one thread."""
    proposed = evidence.by_type["outreach.proposed.v1"]
    people = Counter(one["participant_id"] for one in proposed)
    yield from (f"{who} was proposed {count} mails" for who, count in people.items() if count > 1)
    ids = Counter(one["outreach_id"] for one in proposed)
    yield from (f"outreach {id} was proposed {count} times" for id, count in ids.items() if count > 1)
    drafts = Counter(one["reply_id"] for one in evidence.by_type["thread.draft_requested.v1"])
    yield from (f"the draft {id} was asked for {drafts[id]} times" for id in ids if drafts[id] != 1)


def never_to_whom_wants_none(evidence: Evidence) -> Iterator[str]:
    """Who has unsubscribed, or is suppressed, is proposed nothing from then on, and what waits for them does not leave."""
    wants_none: set[str] = set()
    reader = {one["outreach_id"]: one["participant_id"] for one in evidence.by_type["outreach.proposed.v1"]}
    author = {one["reply_id"]: one["participant_id"] for one in evidence.by_type["reply.drafted.v1"]}
    late: set[str] = set()
    for event in evidence.events:
        one, kind = event["data"], event["type"]
        if kind == "outreach.unsubscribed.v1":
            (wants_none.discard if one["lifted"] else wants_none.add)(one["participant_id"])
        elif kind == "reply.bounced.v1" and one["suppressed"] and not one.get("of_copy"):
            wants_none.add(author.get(one["reply_id"], ""))
        elif kind == "outreach.proposed.v1" and one["participant_id"] in wants_none:
            yield f"{one['participant_id']} wants no mail and was proposed {one['outreach_id']}"
        elif kind == "reply.approved.v1" and reader.get(one["reply_id"], "") in wants_none:
            late.add(one["message_id"])
    yield from (
        f"{one.message_id} left to {one.recipient}, who wants none"
        for one in evidence.accepted
        if one.message_id in late
    )
    rows = {one["participant_id"] for one in evidence.tables["unsubscribes"]}
    said = {one["participant_id"] for one in evidence.by_type["outreach.unsubscribed.v1"]}
    yield from (f"{who} is unsubscribed and nobody said so" for who in rows - said)


def each_has_an_end(evidence: Evidence) -> Iterator[str]:
    """At rest a proposal is refused, discarded, failed or left, as its reply is; one whose fate is unknown stays open."""
    kinds: dict[str, set[str]] = defaultdict(set)
    for kind in ("sent", "unknown", "bounced"):
        for one in evidence.by_type[f"reply.{kind}.v1"]:
            kinds[one["reply_id"]].add(kind)
    for row in evidence.tables["outreach"]:
        id, state = row["outreach_id"], row["state"]
        if state not in ENDS and "unknown" not in kinds[id]:
            yield f"outreach {id} is still {state}"
        if (state in LEFT) != bool({"sent", "bounced"} & kinds[id]):
            yield f"outreach {id} is {state} and its reply is {', '.join(sorted(kinds[id])) or 'not sent'}"
