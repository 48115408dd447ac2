"""An incident counts each customer once; a mail reports once; and an answer is drafted once for each who reported it."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator

from tests.oracle.evidence import Evidence


def reported_once(evidence: Evidence) -> Iterator[str]:
    """A mail reports one trouble, once, of one incident at most; the table has each report."""
    reports = evidence.by_type["trouble.reported.v1"]
    mails = Counter(one["mail_id"] for one in reports)
    yield from (f"mail {mail} reported {count} troubles" for mail, count in mails.items() if count > 1)
    incidents: dict[str, set[str]] = defaultdict(set)
    for one in reports:
        if one["incident_id"]:
            incidents[one["report_id"]].add(one["incident_id"])
    for one in evidence.by_type["incident.opened.v1"]:
        for id in one["report_ids"]:
            incidents[id].add(one["incident_id"])
    yield from (f"report {id} is of {len(found)} incidents" for id, found in incidents.items() if len(found) > 1)
    rows = {one["report_id"]: one["incident_id"] for one in evidence.tables["trouble_reports"]}
    said = {one["report_id"]: next(iter(incidents[one["report_id"]]), None) for one in reports}
    yield from (
        f"report {id} is of {rows.get(id)} and the events say {of}" for id, of in said.items() if rows.get(id) != of
    )


def customers_once(evidence: Evidence) -> Iterator[str]:
    """It opens with as many customers as it has, each counted once however often they wrote."""
    author = {one["report_id"]: one["participant_id"] for one in evidence.by_type["trouble.reported.v1"]}
    for one in evidence.by_type["incident.opened.v1"]:
        customers = {author[id] for id in one["report_ids"] if id in author}
        unread = sum(id not in author for id in one["report_ids"]) if evidence.unread else 0
        if not len(customers) <= one["customers"] <= len(customers) + unread:
            yield f"incident {one['incident_id']} counts {one['customers']} customers and has {len(customers)}"


def answered_once(evidence: Evidence) -> Iterator[str]:
    """A draft of the answer is asked for once; at most one for each customer and closing."""
    ours = {one["outreach_id"] for one in evidence.by_type["outreach.proposed.v1"]}
    drafts = [one for one in evidence.by_type["thread.draft_requested.v1"] if one["reply_id"] not in ours]
    ids = Counter(one["reply_id"] for one in drafts)
    yield from (f"the answer {id} was asked for {count} times" for id, count in ids.items() if count > 1)
    closings = sum(bool(one["answer"]) for one in evidence.by_type["incident.closed.v1"])
    people = Counter(one["participant_id"] for one in drafts)
    yield from (
        f"{who} gets {count} answers to {closings} closings" for who, count in people.items() if count > closings
    )
