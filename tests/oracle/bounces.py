"""Mail of ours that came back: each report is noted once, and nobody is written to again whom it names."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from tests.oracle.evidence import Evidence


def noted_once(evidence: Evidence) -> Iterator[str]:
    """A hard bounce of a mail of ours is in the ledger, once and of the reply that it names; no other report is."""
    meant = {
        one["mail_id"]: one["report"]["reply_id"]
        for one in evidence.by_type["email.read.v1"]
        if (one.get("report") or {}).get("reply_id") and one["report"]["kind"] in ("hard", "complaint")
    }
    noted = Counter((one["mail_id"], one["reply_id"]) for one in evidence.by_type["reply.bounced.v1"])
    for mail, reply in meant.items():
        if noted[mail, reply] != 1:
            yield f"the report {mail} about reply {reply} was noted {noted[mail, reply]} times"
    yield from (
        f"reply {reply} bounced by {mail}, which does not say so" for mail, reply in noted if meant.get(mail) != reply
    )


def suppressed_for_good(evidence: Evidence) -> Iterator[str]:
    """Whom a report names is on the list, nobody else is, and nothing that was approved later reached them."""
    named: set[str] = set()
    late: set[str] = set()
    for event in evidence.events:
        one = event["data"]
        if event["type"] == "reply.bounced.v1" and one["suppressed"]:
            named.add(one["recipient"])
        elif event["type"] == "reply.approved.v1" and one["recipient"].lower() in named:
            late.add(one["message_id"])
    yield from (
        f"{one.message_id} left to {one.recipient}, who is suppressed"
        for one in evidence.accepted
        if one.message_id in late
    )
    rows = {one["addr"] for one in evidence.tables["suppressions"]}
    yield from (f"{one} is suppressed and no report says so" for one in rows - named)
    yield from (f"{one} bounced and is not suppressed" for one in named - rows)
