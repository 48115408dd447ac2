"""What is expected of each command that the documentation suggests, in the order in which they run on one demo."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

from tests.support.documented_demo import HELD, Demo
from tests.support.documents import pdf_of

ADA, ADA_TWICE = "Ada Miller <ada@acme.example>", "Ada <ada@home.example>"
ADA_M = "Ada Miller <ada.m@acme.example>"
LOST = "A document that was lost, and is found again.\n"

Value = str | Callable[[Demo], str]


@dataclass(frozen=True, slots=True)
class Step:
    """One command: what must be in its answer (in one line), and what stands for the page's names and ids."""

    command: str
    says: tuple[str, ...]
    code: int = 0
    uses: Mapping[str, Value] = field(default_factory=dict)
    before: Callable[[Demo], object] | None = None
    typed: str = ""
    until: str = ""
    variables: Callable[[Demo], dict[str, str]] = lambda demo: {}


def step(command: str, *says: str, **how: Any) -> Step:
    """`step("mails", "a reply was sent")`."""
    return Step(f"correspondent {command}", says, **how)


# Commands that a test cannot run here, with the reason; they are parsed, so each option of theirs exists.
NOT_RUN = {
    "correspondent investigate accept 0a1d8f0e --by grace": (
        "the demo's model proposes nothing; tests/integration/test_investigations.py"
    ),
    "correspondent investigate reject 7c2e8f0e --by grace": (
        "the demo's model proposes nothing; tests/integration/test_investigations.py"
    ),
    "correspondent archive --to s3://mail-archive/events": "needs a bucket; tests/integration/test_archive.py has one",
    "correspondent inbox add support support@shop.example --imap-host imap.shop.example --smtp-host smtp.shop.example": (
        "needs a mail server; tests/integration/test_receive_inbox_command.py has one"
    ),
    "correspondent inbox add support you@gmail.com --imap-host imap.gmail.com --smtp-host smtp.gmail.com": (
        "needs an account at Google"
    ),
    "correspondent inbox add support support@shop.example --imap-host imap.fastmail.com"
    " --smtp-host smtp.fastmail.com --smtp-port 465 --smtp-tls implicit": "needs an account at Fastmail",
    "correspondent inbox add support support@shop.example --smtp-host smtp.mailgun.org"
    " --username postmaster@shop.example": "needs an account at Mailgun",
    "correspondent inbox add support support@your-company.com --imap-host imap.your-provider.com"
    " --smtp-host smtp.your-provider.com": "needs a mail server; tests/integration/test_receive_inbox_command.py",
    "correspondent inbox login support --address you@gmail.com --provider google"
    " --client-id ....apps.googleusercontent.com": "needs consent at Google; tests/integration/test_oauth_consent.py",
    "correspondent inbox login support --address support@shop.example --provider microsoft --client-id ..."
    " --tenant shop.example --device": "needs consent at Microsoft; tests/integration/test_oauth_consent.py",
    "correspondent up --processes 2": "takes a folder of its own; tests/integration/test_cli.py has one",
    "correspondent console NAME": "needs a user; tests/integration/test_console_users.py has some",
    "correspondent replay --topic inbound-email.raw --from 2026-05-15 --to 2026-05-16 --model other-model"
    " --prompt telegram.txt": "needs a model's server; tests/integration/test_replay.py has one",
}


def _files(demo: Demo) -> None:
    for name in ("docs", "handbook", "mnt/backups", "mnt/keys", "cases"):
        (demo.folder / name).mkdir(parents=True)
    for name, text in {
        "docs/opening.md": "# Opening hours\n\nOur office is open from nine to five.\n",
        "handbook/refunds.md": "# Refunds\n\n## How long it takes\n\nThe money is back on the card after five days.\n",
        "own.md": "# Refund on my card\n\nThe money is back on the card after five working days.\n",
        "telegram.txt": "You write like a telegram.\n",
        "old-mail.mbox": OLD_MAIL,
    }.items():
        (demo.folder / name).write_text(text)
    for name in ("faq.pdf", "prices.pdf", "offer.pdf", "terms.pdf"):
        (demo.folder / name).write_bytes(pdf_of(f"This is {name}. A training costs 100 dollars."))


OLD_MAIL = """From ada@acme.example Mon Oct 12 10:00:00 2026
From: Ada Miller <ada@acme.example>
To: support@harborline.example
Subject: Our order
Date: Mon, 12 Oct 2026 10:00:00 +0000
Message-ID: <order-4711@acme.example>

Hello, we have ordered 20 licences, order number 4711. Thank you.

Ada

"""


def _documents(*numbers: int, text: str = LOST) -> Callable[[Demo], object]:
    def write(demo: Demo) -> None:
        blob = hashlib.sha256(text.encode()).hexdigest()
        about = {"title": "Lost", "origin": "lost.md", "by": "operator", "media_type": "text/markdown", "blob": blob}
        entries = [
            {
                "type": "document.submitted.v1",
                "data": {"document_id": f"7b2d3c1e-0000-5000-8000-00000000000{number}", **about},
            }
            for number in numbers
        ]
        (demo.folder / "events.jsonl").write_text("".join(json.dumps(one) + "\n" for one in entries))

    return write


def _wrong_turns(demo: Demo) -> None:
    entries = [{"type": "turn.opened.v1", "data": {}}, {"type": "turn.failed.v1", "data": {"turn_id": "x"}}]
    (demo.folder / "events.jsonl").write_text("".join(json.dumps(one) + "\n" for one in entries))


def _another_lost(demo: Demo) -> None:
    _documents(2, text="lost for good")(demo)
    demo.run("correspondent topics produce document-events events.jsonl")


def _found_again(demo: Demo) -> None:
    (demo.folder / "found.md").write_text(LOST)
    demo.run("correspondent knowledge add found.md")


def _draft(demo: Demo) -> None:
    demo.write("What does the Team plan cost?", HELD)


def _outage(demo: Demo) -> None:
    for name in ("ann@one.example", "bo@two.example", "cy@three.example"):
        demo.write("The CSV export of the report fails with a timeout.", name)
    incident(demo)


class _Takes(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["content-length"]))
        self.send_response(204)
        self.end_headers()

    def log_message(self, *said: object) -> None:
        """Nothing: what is printed is the demo's."""


def receiver(demo: Demo) -> str:
    """The address of a receiver that takes every webhook, for as long as the tests run."""
    if "receiver" not in demo.kept:
        server = ThreadingHTTPServer(("127.0.0.1", 0), _Takes)
        Thread(target=server.serve_forever, daemon=True).start()
        demo.kept["receiver"] = f"http://127.0.0.1:{server.server_port}/hook"
    return demo.kept["receiver"]


def endpoint(demo: Demo) -> str:
    """The endpoint that was registered first."""
    return demo.found("correspondent webhooks list", r"^([0-9a-f]{8})  http")


def webhook(demo: Demo) -> str:
    """The test that it was told."""
    return demo.found(f"correspondent webhooks deliveries {endpoint(demo)}", r"  ([0-9a-f]{8})  webhook\.test")


def incident(demo: Demo) -> str:
    """The incident of three customers."""
    return demo.found("correspondent incidents list", r"  ([0-9a-f]{8})  support  ")


def investigation(demo: Demo) -> str:
    """The investigation, once it is over."""
    return demo.found("correspondent investigate list", r"  ([0-9a-f]{8}) +[0-9a-f]{8}  .*finished")


def dead_letter(demo: Demo) -> str:
    """The dead letter that waits."""
    return demo.found("correspondent dlq list", r"^ ([0-9a-f]{8}) ")


def draft(demo: Demo) -> str:
    """The draft that waits."""
    return demo.found("correspondent drafts", r"^([0-9a-f]{8})  to eve@held")


def fact(pattern: str) -> Callable[[Demo], str]:
    """A fact of Ada's."""
    return lambda demo: demo.found("correspondent memory show ada@acme.example", rf"^([0-9a-f-]{{36}}) +{pattern}")


def thread(subject: str) -> Callable[[Demo], str]:
    """The newest thread of this subject."""
    return lambda demo: demo.found("correspondent threads", rf"^([0-9a-f]{{8}})  \S+  {subject}  ")


def reply(demo: Demo) -> str:
    """The newest reply that was sent."""
    return demo.found("correspondent deliveries", r"^ ?\d{4}-\d\d-\d\d \d\d:\d\d +([0-9a-f]{8})")


def _settings(**values: str) -> Callable[[Demo], dict[str, str]]:
    return lambda demo: {f"CORRESPONDENT_{name}": value for name, value in values.items()}


ALERTED = _settings(ALERTS='{"to": [{"mail": "oncall@your-company.com"}]}')
KEPT_FOR = _settings(RETENTION='{"bodies_days": 150, "blobs_days": 150, "checkpoints_days": 150}')
OWN_PORT = _settings(WEB__PORT="0")
MNT = {"/mnt/backups": "mnt/backups", "/mnt/keys/today": "mnt/keys/today"}
JOHN = {"2026-11-21T11:18": "2026-10-01T00:00"}

STEPS = (
    step("--help", "An email support agent", "Play an invented company's mail", before=_files),
    step("settings", "quiet_s"),
    # the quickstart
    step(
        "knowledge add plans.md",
        "1 new or changed.",
        before=lambda demo: (demo.folder / "plans.md").write_text(demo.kept["plans.md"]),
    ),
    step(
        "write 'We are on the Team plan now. How do I change it?' --from 'Ann Lee <ann@customer.example>'"
        " --subject 'Changing the plan'",
        "Hi Ann,",
        'I have noted: "We are on the Team plan now."',
        "An owner changes the plan under Settings > Billing. (see: Plans and prices)",
        "I am an AI assistant.",
    ),
    step("mails", "ann@customer", "Changing the plan", "a reply was sent", "no_reply", "john@acme.example"),
    step("thread 9d6c92e9", "awaiting_reply", "Ann Lee", uses={"9d6c92e9": thread("Changing the plan")}),
    step(
        "move 9d6c92e9 closed",
        "Refused: from awaiting_reply a thread can only become in_progress, resolved",
        code=1,
        uses={"9d6c92e9": thread("Changing the plan")},
    ),
    # the README's table
    step("thread ID", "awaiting_reply", uses={"ID": thread("Changing the plan")}),
    step("move ID in_progress", "in_progress", uses={"ID": thread("Boards do not sync")}),
    step("memory show PERSON", "John Miller", "plan = Enterprise", uses={"PERSON": "john@acme.example"}),
    step(
        "memory periods PERSON",
        "No period of theirs was told.",
        "condense.enabled",
        uses={"PERSON": "john@acme.example"},
    ),
    step("outbox", "The broker refuses nothing."),
    step("held", "Nothing is held."),
    step("held --release NUMBER", "no record is held under the number 1", code=2, uses={"NUMBER": "1"}),
    step("deliveries --state unknown", "No "),
    step("deliveries", "sent", "john@acme.example"),
    step("suppressions list", "oscar@granite-co.example", "550 5.1.1 User unknown"),
    step("knowledge list", "Billing cycle", "Refund policy"),
    step("knowledge add docs/", "1 new or changed."),
    step("vectors", "The embedder in use is"),
    step("console", "http://127.0.0.1:", "/console/sign-in/"),
    step("users list", "second factor", "admin"),
    step("teams add Billing --member You --inbox support", "Billing is a team now."),
    step("teams list", "Billing You support"),
    step("assign 9d6c92e9 Billing", "has it: Billing", uses={"9d6c92e9": thread("Changing the plan")}),
    step("teams set Billing --member You", "Billing was changed."),
    step("status", "read_email", "0 dead letters", "threads escalated to a person"),
    step("deliveries release", "Nothing is held."),
    # memory
    step(
        "memory people",
        "lifecycle mood risk",
        "Ada Miller",
        "ada@acme.example",
        "john@acme.example",
        before=lambda demo: demo.write("We are on the Team plan. What does it cost?", ADA),
    ),
    step("memory show ada@acme.example", "customer_info/plan = Team", "“We are on the Team plan”"),
    step("memory graph ada@acme.example", "plan", "Team", "since"),
    step("memory stats --weeks 2", "customer_info", "current", "replies", "learning"),
    step("memory periods ada@acme.example", "No period of theirs was told.", "condense.enabled"),
    step("memory periods ada@acme.example 'which plan they had'", "Nothing that stands answers this."),
    step("memory search ada@acme.example 'Which plan are we on?'", "sure: Ada Miller is on the Team plan."),
    step("memory search --everybody 'Which plan are we on?'", "plan"),
    step("memory as-of ada@acme.example 2026-03-01", "Nothing is remembered."),
    step("memory as-of ada@acme.example 2026-03-01 --known-at 2026-03-05", "Nothing is remembered."),
    step("memory restore ada@acme.example 2026-03-01", "came since:", "customer_info/plan = Team"),
    step("memory add ada@acme.example plan Enterprise", "recorded", "operator said so"),
    step(
        "memory correct ada@acme.example FACT_ID Team",
        "operator",
        uses={"FACT_ID": fact("customer_info/plan")},
    ),
    step("memory pin ada@acme.example FACT_ID", "pinned", uses={"FACT_ID": fact("customer_info/plan")}),
    step(
        "memory unmerge ada@acme.example FACT_ID",
        "nothing was merged into this fact",
        code=1,
        uses={"FACT_ID": fact("customer_info/plan")},
    ),
    step("memory forget ada@acme.example FACT_ID", "operator", uses={"FACT_ID": fact("interaction/question")}),
    step(
        "memory brief ada@acme.example --edit 'Ada runs operations at Acme. She prefers short answers.' --by grace",
        "written: grace",
    ),
    step("memory brief ada@acme.example", "by grace", "Ada runs operations at Acme. She prefers short answers."),
    step("memory brief ada@acme.example --delete --by grace", "deleted: grace"),
    step("memory lifecycle ada@acme.example", "unknown -> customer"),
    step("memory move ada@acme.example vip --reason 'signed for three years' --by grace", "customer -> vip"),
    step(
        "memory merge ada@home.example ada.m@acme.example --reason 'her private address' --by grace",
        "merged with another participant: grace: her private address",
        before=lambda demo: (
            demo.write("I am on the Starter plan.", ADA_TWICE),
            demo.write("We are on the Enterprise plan.", ADA_M),
        ),
    ),
    step("memory show ada.m@acme.example", "also Ada <ada@home.example>", "plan = Enterprise"),
    step("memory unmerge ada@home.example ada.m@acme.example --by grace", "taken apart from another participant"),
    step("memory restore ada@home.example 2026-03-01 --run --by grace", "retracted"),
    step("memory restore-all 2026-03-01", "came", "people would be brought back"),
    step(
        "profile ada@acme.example --set 'account_manager=Grace Hopper' --set tier=gold --reason 'new contract'",
        "account_manager = Grace Hopper",
        "tier = gold",
    ),
    step("profile ada@acme.example --unset tier", "account_manager = Grace Hopper"),
    step("profile ada@acme.example", "account_manager = Grace Hopper"),
    step("why REPLY_ID", "Decided reply", uses={"REPLY_ID": reply}),
    step("why THREAD_ID", "Decided reply", uses={"THREAD_ID": thread("Changing the plan")}),
    step(
        "--home var/demo why 3705b36e",
        "Turn",
        "of thread 3705b36e",
        "As far as I remember, you are on the Enterprise plan.",
        "rests on",
    ),
    step("settings --inbox support --participant ada@acme.example", 'approval = "auto"', "# inbox support"),
    # knowledge
    step("knowledge add handbook/ --link 'https://help.leafboard.example/{name}'", "1 new or changed."),
    step("knowledge add handbook/refunds.md --link 'https://help.leafboard.example/{name}'", "1 unchanged."),
    step("knowledge show 9076 --past", "after five days", uses={"9076": lambda demo: document(demo, "Refunds")}),
    step("knowledge search 'refund on my card' --limit 1 --as-of 2026-11-21T11:18", "Refund policy", uses=JOHN),
    step(
        "knowledge propose d1579a44",
        "Proposed: asked for by operator",
        before=lambda demo: demo.write("How long does it take until a refund is on my card?", ADA),
        uses={"d1579a44": thread("A question")},
    ),
    step(
        "settings set limits.thread_per_hour 12 --reason 'busy week'",
        "limits.thread_per_hour = 12",
        "Stored as change 1.",
    ),
    step("settings set 'inboxes[support].persona' 'You are brief and warm.' --by grace", "Stored as change 2."),
    step("settings changed", "limits.thread_per_hour = 12", "the file has 10"),
    step("settings history", "busy week"),
    step("settings undo 1", "limits.thread_per_hour is as the file has it"),
    step("settings unset 'inboxes[support].persona'", "Stored as change 4."),
    step("knowledge unanswered", ""),
    step("knowledge proposed", "asked for by operator", "The money is back on the card after five days."),
    step("knowledge accept b2058de5 --text own.md", "Indexed.", uses={"b2058de5": lambda demo: proposal(demo)}),
    step(
        "knowledge accept b2058de5",
        "Refused: it was accepted before",
        code=1,
        uses={"b2058de5": lambda demo: demo.kept["proposal"]},
    ),
    step("knowledge remove ID", "", uses={"ID": lambda demo: document(demo, "Opening hours")}),
    step("knowledge add docs/ faq.pdf", "new or changed."),
    step("knowledge add prices.pdf --sendable", "new or changed."),
    # drafts
    step("drafts", "to eve@held.example", "Send one with `correspondent approve ID`", before=_draft),
    step("approve 538bbfb3", "sent. 250", uses={"538bbfb3": draft}),
    step("approve ID --attach offer.pdf --attach terms.pdf", "sent. 250", before=_draft, uses={"ID": draft}),
    step("patterns", "unchanged", "Nothing is earned while"),
    step("patterns close support how_to --reason 'new price list'", "support how_to: closed"),
    step("patterns open support how_to", "support how_to: open"),
    step("deliveries settle REPLY --sent", "only what is unknown can be settled", code=2, uses={"REPLY": reply}),
    # a person's own answer
    step("threads --state escalated", "Urgent: our account"),
    step("thread e04e0729", "version", uses={"e04e0729": thread("Boards do not sync")}),
    step(
        "reply e04e0729 --text 'Hi Dana, one more thing: please reload once.' --hold 60 --by grace",
        "approved. waits 60 s",
        "takes it back.",
        uses={"e04e0729": thread("Boards do not sync")},
    ),
    step("reply cancel d780d97d --by grace", "discarded. grace took it back", uses={"d780d97d": reply}),
    step("reply ID", "sent. 250", uses={"ID": thread("Boards do not sync")}, typed="We look into it.\n"),
    step("take 277ad877 --by grace", "escalated", "has it: grace", uses={"277ad877": thread("Password")}),
    step("assign 277ad877 bo", "has it: bo", uses={"277ad877": thread("Password")}),
    step(
        "snooze 277ad877 tomorrow --reason 'the release is tonight'",
        "snoozed until",
        uses={"277ad877": thread("Password")},
    ),
    step("snooze 277ad877", "Password", uses={"277ad877": thread("Password")}),
    step("hand-back 277ad877 --by bo", "Password", uses={"277ad877": thread("Password")}),
    # service levels
    step("due", "Nothing is due."),
    step("mark ID --priority urgent --tag outage --reason 'all down'", "", uses={"ID": thread("Urgent: our account")}),
    step("threads --state escalated --tag outage", "Urgent: our account"),
    step("mails --outcome human", "Urgent: our account", "1 human"),
    step("alerts", "Nobody is alerted"),
    step("alerts test", "mail oncall@your-company.com", "ok mail", variables=ALERTED),
    # webhooks
    step("webhooks list", "No endpoint is registered"),
    step("webhooks types", "thread.state_changed", "A customer's mail came in and is part of a thread."),
    step(
        "webhooks add https://hooks.your-company.com/correspondent --type thread.state_changed --type reply.sent"
        " --description 'Ticket desk'",
        "Registered:",
        "whsec_",
        uses={"https://hooks.your-company.com/correspondent": lambda demo: receiver(demo)},
    ),
    step(
        "webhooks test ENDPOINT", "Delivered: the endpoint answered 204", uses={"ENDPOINT": lambda demo: endpoint(demo)}
    ),
    step(
        "webhooks deliveries ENDPOINT",
        "webhook.test",
        "delivered",
        "204",
        uses={"ENDPOINT": lambda demo: endpoint(demo)},
    ),
    step(
        "webhooks edit ENDPOINT --type mail.received --text",
        "mail.received, with text",
        uses={"ENDPOINT": lambda demo: endpoint(demo)},
    ),
    step("webhooks pause ENDPOINT", "paused", uses={"ENDPOINT": lambda demo: endpoint(demo)}),
    step("webhooks resume ENDPOINT", "mail.received", uses={"ENDPOINT": lambda demo: endpoint(demo)}),
    step(
        "webhooks rotate ENDPOINT",
        "whsec_",
        "the one before signs, too",
        uses={"ENDPOINT": lambda demo: endpoint(demo)},
    ),
    step(
        "webhooks again ENDPOINT WEBHOOK",
        "Delivered: the endpoint answered 204",
        uses={"ENDPOINT": lambda demo: endpoint(demo), "WEBHOOK": lambda demo: webhook(demo)},
    ),
    step("webhooks remove ENDPOINT", "Removed.", uses={"ENDPOINT": lambda demo: endpoint(demo)}),
    # topics and dead letters
    step("topics list", "inbound-email.raw", "(nobody)"),
    step("topics acknowledge", "No loss is reported."),
    step("topics tail turns -n 2", "turn.closed.v1"),
    step("topics tail participant-events", "participant."),
    step("topics produce document-events events.jsonl", "document.submitted.v1", "1 sent.", before=_documents(1)),
    step(
        "topics produce turns events.jsonl",
        "line 1: turn.opened.v1 is decided by a processor",
        "line 2: thread_id: is missing",
        code=2,
        before=_wrong_turns,
    ),
    step("dlq list", "learn_doc", "BlobMissi", "waiting"),
    step("dlq show c1e8d27c", "state waiting", "services.core.blobs.BlobMissing", uses={"c1e8d27c": dead_letter}),
    step("dlq redrive a412e07b", "0 redriven, 1 failed.", code=1, uses={"a412e07b": dead_letter}),
    # what is asked for while a dead letter waits comes to its end all the same
    step("import old-mail.mbox --vouched-by 'Your Name'", "1 mails read, 1 new."),
    step("import PATH --inbox support", "1 mails read, 0 new.", uses={"PATH": "old-mail.mbox"}),
    step("memory search ada@acme.example 'that order from last month'", "4711"),
    step("memory search ada@acme.example 'that order from last month' --said", "4711"),
    step("memory search --everybody 'order 4711' --said", "4711"),
    step("dlq redrive --group learn_documents --error BlobMissing", "1 redriven, 0 failed.", before=_found_again),
    step(
        "dlq discard c1e8d27c --reason 'the file is lost for good'",
        "1 discarded, 0 failed.",
        before=_another_lost,
        uses={"c1e8d27c": dead_letter},
    ),
    step(
        "dlq turns --error TEXT --thread ID --since TIME --until TIME",
        "No failed turns.",
        uses={"TEXT": "ModelDeclined", "ID": thread("Changing the plan"), "TIME": "2026-03-01"},
    ),
    step("dlq reopen --error ModelDeclined", "No failed turns."),
    step("dlq reopen --all --dry-run", "No failed turns."),
    # the past
    step("replay", "without a difference, 0 with."),
    step("replay --thread c962620e", "2 replayed: 2 without a difference, 0 with."),
    step("replay --thread ID", "1 replayed: 1 without a difference", uses={"ID": thread("Changing the plan")}),
    step("replay --participant john@acme.example", "5 replayed: 5 without a difference, 0 with."),
    step("replay --event ID", "without a difference, 0 with.", uses={"ID": lambda demo: event(demo)}),
    step("replay --from 2026-03-01 --to 2026-04-01", "without a difference, 0 with."),
    step("replay --topic inbound-email.raw", "without a difference, 0 with."),
    step("replay --topic inbound-email.raw --from 2026-05-01 --to 2026-06-01", "8 replayed: 8 without a difference"),
    step("replay --prompt telegram.txt", "the offline model follows no instructions", code=2),
    step("replay --thread 773baeb4 --rebuild-context", "1 replayed: 1 without a difference"),
    step("replay --from 2026-03-01 --save cases/", "without a difference, 0 with."),
    step("replay --check cases/", "without a difference, 0 with."),
    step("replay --check cases/ --model offline", "replayed:"),
    step("replay --log may.jsonl --from 2026-05-01 --to 2026-06-01", "without a difference, 0 with."),
    step("replay --log may.jsonl --model offline", "may.jsonl is the log of another call", code=2),
    step("replay --until send_email", "send_email refuses replays: a replay sends no mail", code=2),
    step("rebuild --check", "equal", "the live tables are that state."),
    step("rebuild", "tables swapped in"),
    step("rebuild threads", "tables swapped in"),
    step("rebuild participants", "17 tables swapped in"),
    step("rebuild documents", "5 tables swapped in"),
    step("rebuild alerts", "2 tables swapped in"),
    step("rebuild documents --check", "equal", "the live tables are that state."),
    step("rebuild --as-of 2026-05-15 --into NAME", "the state of 2026-05-15", uses={"NAME": "earlier"}),
    # an incident
    step("incidents list", "csv export report timeout", before=_outage),
    step(
        "incidents close 8659832e --answer 'The export works again. We are sorry.' --by grace",
        "Answer: The export works again. We are sorry.",
        uses={"8659832e": incident},
    ),
    step("incidents show 8659832e", "cy@three.example", "an incident that they reported", uses={"8659832e": incident}),
    step("incidents reopen 8659832e", "open", "csv export report timeout", uses={"8659832e": incident}),
    # mail that we begin
    step("outreach show", "No mail was proposed so far."),
    step("outreach unsubscribe ada@acme.example", "ada@acme.example gets no more such mail."),
    step("outreach subscribe ada@acme.example", "ada@acme.example gets such mail again."),
    # hard cases
    step("investigate list", "Nothing was investigated so far."),
    step(
        "investigate start 773baeb4 'Why does the export keep failing?' --by grace",
        "has begun; its note will stand on the thread.",
        uses={"773baeb4": thread("Changing the plan")},
    ),
    step("investigate show 2f1d8f0e", "No line", "finished", uses={"2f1d8f0e": investigation}),
    step("investigate rounds 2f1d8f0e", "round 1", "memory/facts.md", "calls,", uses={"2f1d8f0e": investigation}),
    step("investigate file 2f1d8f0e AGENTS.md", "# The folder", uses={"2f1d8f0e": investigation}),
    step("investigate stop 2f1d8f0e", "finished", uses={"2f1d8f0e": investigation}),
    # inboxes
    step("inbox list", "support@harborline.example", "webhook or files"),
    step("inbox test support", "takes mail"),
    step("inbox pause support", "support is paused"),
    # back-ups, the archive, retention
    step("backup --to backups --keys-to keys/today", "events", "Keys: keys/today."),
    step("backup --to /mnt/backups --keys-to /mnt/keys/today", "events", "Keys:", uses=MNT),
    step(
        "--home new restore --from backups --keys keys/today", "are back.", "Tables that are not what they were: none."
    ),
    step("restore --from /mnt/backups --keys /mnt/keys/today", "holds", code=2, uses=MNT),
    step(
        "restore --from /mnt/backups --keys /mnt/keys/today --as-of 2026-03-02T18:00",
        "are back.",
        uses={**MNT, "restore": "--home newer restore"},
    ),
    step("export --participant maria@bluefin.example --to maria", "maria:", "2 mails, 2 replies."),
    step("retention", "150 d", variables=KEPT_FOR),
    step("retention --run", "150 d", variables=KEPT_FOR),
    step("archive", "moved"),
    step("archive --older-than 180d", "moved, to"),
    step("archive --older-than 190d", "moved, to"),
    step("archive --check", "files are whole"),
    # erasing
    step(
        "forget --participant john@acme.example --prove --by 'Grace, data protection'",
        "To be destroyed, of John Miller, john@acme.example",
        "Proved: none of them is anywhere.",
        typed="y\n",
    ),
    step("forget --participant john@acme.example --no-scrub", "Nothing is held about this person.", typed="y\n"),
    step("scrub", "Nothing to scrub"),
    step("scrub --all", "tables rewritten"),
    step("keys rotate", "keys are wrapped"),
    step("keys rotate --rewrap", "keys are wrapped"),
    step("inbox remove support", "support"),
    # what runs until Ctrl-C
    step("run read_email", "running", until='"running"', variables=Demo.servers),
    step("run generate_reply", "running", until='"running"', variables=Demo.servers),
    step("run read_email track_threads", "running", until='"running"', variables=Demo.servers),
    step("run all", "running", until='"running"', variables=Demo.servers),
    step("up", "ready on", "support", until='"running"', uses={"up": "--home fresh up"}, variables=OWN_PORT),
)


def document(demo: Demo, title: str) -> str:
    """The document of this title."""
    return demo.found("correspondent knowledge list", rf"^ ?([0-9a-f]{{8}})  {title} ")


def proposal(demo: Demo) -> str:
    """The article that is proposed."""
    demo.kept["proposal"] = demo.found("correspondent knowledge proposed", r"^([0-9a-f]{8})  ")
    return demo.kept["proposal"]


def event(demo: Demo) -> str:
    """The event that changed how John stands."""
    return demo.found("correspondent memory lifecycle john@acme.example", r"\[([0-9a-f-]{36})\]")
