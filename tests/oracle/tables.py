"""The tables are what the events say: folded here once more, in a few lines, and by the deployment's own rebuild (hashes)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from tests.oracle.evidence import Evidence, Row

LEDGER = {
    "reply.held.v1": "draft",
    "reply.approved.v1": "approved",
    "reply.discarded.v1": "discarded",
    "reply.sending.v1": "sending",
    "reply.deferred.v1": "approved",
    "reply.sent.v1": "sent",
    "reply.unknown.v1": "unknown",
    "reply.failed.v1": "failed",
    "reply.bounced.v1": "bounced",
}
Folded = dict[Any, Any]


def equal_their_rebuild(evidence: Evidence) -> Iterator[str]:
    """Every table has the hash of the same table rebuilt from the events."""
    if evidence.folds is None:
        return
    if not evidence.folds:
        yield "nothing was rebuilt from the events"
    for table, (live, folded) in evidence.folds.items():
        if live != folded:
            yield f"the table {table} is not the fold of the events"


def say_what_events_say(evidence: Evidence) -> Iterator[str]:
    """Mails, threads, turns, conversations, the ledger and the summaries, row by row."""
    yield from _differences("mails", _mails(evidence), _column(evidence, "mails", "mail_id", "thread_id", "verdict"))
    yield from _differences(
        "threads", _threads(evidence), _column(evidence, "threads", "thread_id", "state", "open_turn")
    )
    yield from _differences("turns", _turns(evidence), _column(evidence, "turns", "turn_id", "outcome", "mail_ids"))
    rows = {
        (one["thread_id"], one["version"]): (one["mail_id"], one["reply_id"]) for one in evidence.tables["conversation"]
    }
    yield from _differences("conversation", _conversation(evidence), rows)
    yield from _differences("deliveries", _ledger(evidence), _column(evidence, "deliveries", "reply_id", "state"))
    yield from _differences(
        "thread_summaries",
        _summaries(evidence.by_type["thread.summarized.v1"]),
        _summaries(evidence.tables["thread_summaries"]),
    )


def versions_are_the_newest(evidence: Evidence) -> Iterator[str]:
    """Each aggregate stands at the version of its newest event, be it one that nobody can read any more."""
    newest = {
        (one["aggregate"], one["aggregate_id"]): one["version"] for one in evidence.stored if one["version"] is not None
    }
    rows = {(one["kind"], one["id"]): one["version"] for one in evidence.tables["aggregates"]}
    yield from _differences("aggregates", newest, rows)


def _differences(table: str, folded: Mapping[Any, Any], rows: Mapping[Any, Any]) -> Iterator[str]:
    for key in sorted(folded.keys() | rows.keys(), key=str):
        if folded.get(key) != rows.get(key):
            yield f"{table} {key} is {rows.get(key)} and the events say {folded.get(key)}"


def _column(evidence: Evidence, table: str, key: str, *names: str) -> Folded:
    return {row[key]: tuple(row[name] for name in names) for row in evidence.tables[table]}


def _mails(evidence: Evidence) -> Folded:
    return {one["mail_id"]: (one["thread_id"], one["verdict"]["kind"]) for one in evidence.by_type["email.read.v1"]}


def _threads(evidence: Evidence) -> Folded:
    return {thread: _thread(events) for thread, events in evidence.of_thread.items()}


def _thread(events: list[Row]) -> tuple[str, str | None]:
    state, turn = "new", None
    for one in events:
        if one["type"] == "thread.state_changed.v1":
            state = one["data"]["to_state"]
        elif one["type"] in ("turn.opened.v1", "turn.closed.v1"):
            turn = one["data"]["turn_id"] if one["type"] == "turn.opened.v1" else None
    return state, turn


def _turns(evidence: Evidence) -> Folded:
    found: Folded = {one["turn_id"]: (None, one["mail_ids"]) for one in evidence.by_type["turn.opened.v1"]}
    for one in evidence.by_type["turn.closed.v1"]:
        found[one["turn_id"]] = (one["outcome"], one["mail_ids"])
    return found


def _conversation(evidence: Evidence) -> Folded:
    attached = ("thread.mail_attached.v1", "thread.reply_attached.v1")
    return {
        (thread, one["version"]): (one["data"].get("mail_id"), one["data"].get("reply_id"))
        for thread, events in evidence.of_thread.items()
        for one in events
        if one["type"] in attached
    }


def _summaries(rows: Iterable[Row]) -> Folded:
    """The newest of each person in each thread."""
    return {(one["thread_id"], one["participant_id"], one["trusted"]): (one["text"],) for one in rows}


def _ledger(evidence: Evidence) -> Folded:
    return {
        reply: ([LEDGER[one["type"]] for one in events if one["type"] in LEDGER][-1],)
        for reply, events in evidence.of_delivery.items()
    }
