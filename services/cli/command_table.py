"""The commands, in the order of the help: where each is, and its line, said without importing it."""

from __future__ import annotations

from typing import NamedTuple


class Entry(NamedTuple):
    """One command; `line` is the first line of its own help, and fits a terminal of 80 columns."""

    target: str  # MODULE:ATTRIBUTE in `services.cli`: a function, or a Typer of its own
    line: str


COMMANDS = {
    "demo": Entry("demo:demo", "Play an invented company's mail through the real flow."),
    "up": Entry("run:up", "Start the embedded stack and every processor, until Ctrl-C."),
    "run": Entry("run:run", "Run processors on the servers that the settings name."),
    "console": Entry("console:console", "Print a link that signs in to the console, once."),
    "users": Entry("users:typer_app", "Manage who may sign in to the console."),
    "teams": Entry("teams:typer_app", "Manage teams, which share a queue of threads."),
    "settings": Entry("settings:typer_app", "Print every setting, or change some while it runs."),
    "write": Entry("write:write", "Send a mail as a customer would, and show the reply."),
    "mails": Entry("mails:mails", "List received mails with their outcome and the reason."),
    "thread": Entry("threads:thread", "Show a thread: state, summary, goals, conversation, log."),
    "why": Entry("why:why", "Show the context that a reply was made from."),
    "threads": Entry("threads:threads", "List threads, the latest change first."),
    "due": Entry("threads:due", "List what is due next, overdue items first."),
    "move": Entry("threads:move", "Request one step of a thread's state machine."),
    "mark": Entry("threads:mark", "Set a thread's priority, tags and goals, or leave a note."),
    "reply": Entry("reply:typer_app", "Answer a thread yourself, or take an answer back."),
    "take": Entry("assignment:take", "Take a thread over: the agent writes nothing in it."),
    "hand-back": Entry("assignment:hand_back", "Hand a thread back to the agent."),
    "assign": Entry("assignment:assign", "Say who has a thread."),
    "snooze": Entry("assignment:snooze", "Take a thread off the lists until a moment."),
    "drafts": Entry("drafts:drafts", "List the drafts that wait for approval, oldest first."),
    "approve": Entry("drafts:approve", "Send a draft, as it is or in your own words."),
    "reject": Entry("drafts:reject", "Reject a draft; its turn ends as rejected."),
    "patterns": Entry("patterns:typer_app", "Show what people make of drafts, by intent."),
    "incidents": Entry("incidents:typer_app", "List issues that several customers report."),
    "outreach": Entry("outreach:typer_app", "Show what came of mail that we began."),
    "webhooks": Entry("webhooks:typer_app", "Manage endpoints that are told what happens."),
    "investigate": Entry("investigate:typer_app", "Have a hard case investigated, on files."),
    "import": Entry("imports:import_mail", "Import mail as history, or as new mail to be answered."),
    "status": Entry("status:status", "Show consumers with their lag, and what waits."),
    "replay": Entry("replay:replay_past", "Run the real handlers on past events, in a sandbox."),
    "rebuild": Entry("rebuild:rebuild", "Rebuild projections from the stored events."),
    "archive": Entry("archive:archive", "Move old events from the table to compressed files."),
    "retention": Entry("retention:retention", "Show what is older than its retention; nothing changes."),
    "backup": Entry("backup:backup", "Back up database, blobs and archived events."),
    "restore": Entry("backup:restore", "Restore a backup into an empty database and folder."),
    "forget": Entry("forget:forget", "Erase a person for good: keys, rows, files, caches."),
    "scrub": Entry("forget:scrub_disk", "Rewrite the tables that held an erased person."),
    "export": Entry("forget:export_person", "Export all that is held about a person into a folder."),
    "alerts": Entry("alerts:typer_app", "Show who is alerted when a human must act."),
    "keys": Entry("keys:typer_app", "Rotate the master key that wraps the keys of people."),
    "deliveries": Entry("deliveries:typer_app", "List replies with the state of their delivery."),
    "suppressions": Entry("suppressions:typer_app", "List addresses that get no mail, or lift one."),
    "topics": Entry("topics:typer_app", "List topics and their lag, show or publish records."),
    "dlq": Entry("dlq:typer_app", "Manage dead letters: what a consumer could not handle."),
    "outbox": Entry("outbox:outbox", "List stored events that the broker refused."),
    "held": Entry("outbox:list_held", "List records that wait for a newer release."),
    "inbox": Entry("inbox:typer_app", "Manage the inboxes that the agent answers for."),
    "knowledge": Entry("knowledge:typer_app", "Manage the documents that replies are made from."),
    "memory": Entry("memory:typer_app", "Show what is known about a person, and change it."),
    "vectors": Entry("vectors:vectors", "Show which models made the stored embeddings."),
    "profile": Entry("profile:profile", "Show or change a person's profile."),
}

# Their sub-commands, so that what was meant by a misspelt one is known without loading any.
SUB_COMMANDS = {
    "users": ("list", "invite", "role", "remove"),
    "teams": ("list", "add", "set", "remove"),
    "settings": ("set", "unset", "changed", "history", "undo"),
    "reply": ("send", "cancel"),
    "alerts": ("test",),
    "keys": ("rotate",),
    "deliveries": ("settle", "release"),
    "suppressions": ("list", "lift"),
    "patterns": ("open", "close"),
    "incidents": ("list", "show", "close", "reopen"),
    "outreach": ("show", "unsubscribe", "subscribe"),
    "webhooks": (
        *("list", "types", "add", "edit", "pause", "resume", "rotate", "remove", "test", "deliveries", "again"),
    ),
    "investigate": ("start", "list", "show", "rounds", "file", "stop", "accept", "reject"),
    "topics": ("list", "tail", "produce", "acknowledge"),
    "dlq": ("turns", "reopen", "list", "show", "redrive", "discard"),
    "inbox": ("list", "test", "add", "login", "pause", "resume", "remove"),
    "knowledge": ("add", "unanswered", "proposed", "propose", "accept", "reject", "list", "show", "search", "remove"),
    "memory": (
        *("lifecycle", "move", "merge", "unmerge", "brief", "graph", "stats", "periods", "restore", "restore-all"),
        *("people", "show", "search", "history", "as-of", "add", "correct", "pin", "unpin", "forget"),
    ),
}
