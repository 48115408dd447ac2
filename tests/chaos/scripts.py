"""What the servers outside of the deployment do: an SMTP server that fails when told to, a model that always answers."""

from __future__ import annotations

import random
import re
from collections import Counter
from dataclasses import dataclass, field

from tests.flow.scenario import agent, fact, reflection
from tests.support.scripted_model import Script, Seen
from tests.support.scripted_replies import Behaviour, reply_tool, reply_tools
from tests.support.smtp_server import DROP, HANG, Session, Step

HOW_TO = "Hello,\n\nyou find it in the settings.\n\nBest regards"
LATER, NEVER = "421 4.3.2 not now", "550 5.1.1 never"
NUMBER = re.compile(r"This is my mail number (\d+)")
ROW = re.compile(r"- \[([0-9a-f-]{36})\] \S+: (.*)")
FAILS = "fails again"
REVIEWED = "how_to"  # the intent whose drafts wait for a person until approvals of it are earned
ORDER = re.compile(r"My order number is (\d+)")


@dataclass(slots=True)
class SmtpTrouble:
    """A script of the SMTP server; `met` counts what it did."""

    met: Counter[str] = field(default_factory=Counter)
    refuse: int = 0
    never: int = 0
    stop_at: list[tuple[str, str]] = field(default_factory=list)  # (step, HANG or DROP)

    def __call__(self, session: Session, step: Step) -> str | None:
        if self.refuse and step == "connect":
            self.refuse -= 1
            return self._met("smtp-refuses", LATER)
        if self.never and step == "rcpt":
            self.never -= 1
            return self._met("smtp-never", NEVER)
        for place in self.stop_at:
            if place[0] == step:
                self.stop_at.remove(place)
                return self._met({HANG: "smtp-hangs", DROP: "smtp-drops"}[place[1]], place[1])
        return None

    def _met(self, what: str, said: str) -> str:
        self.met[what] += 1
        return said


def diligent_model(seed: int) -> Script:
    """Answers each mail with its number, or says how something is done, which waits for a person.

    Now and then nothing is needed, a person is, or the matter is settled.
    """
    answering = agent(lambda seen: _answer(seed, seen), _learn)
    others = {"tell": _tell, "finish": _investigate}
    return lambda seen: next((others[one] for one in others if one in seen.tools), answering)(seen)


def _investigate(seen: Seen) -> Behaviour:
    """It looks at the folder, writes down that it did, and ends."""
    looks = (("list_files", {}), ("grep", {"words": "mail", "folder": "threads"}))
    notes = ("memory", {"command": "create", "path": "memory/scratchpad.md", "file_text": "Read the threads.\n"})
    if seen.round == 0:
        return reply_tools(*looks)
    return reply_tools(notes) if seen.round == 1 else reply_tool("finish", {"note": "They wait for an answer."})


def _tell(seen: Seen) -> Behaviour:
    """A period, word for word as its rows say it."""
    rows = ROW.findall("\n".join(seen.fenced("rows")))
    return reply_tool("tell", {"sentences": [{"text": text, "rows": [id]} for id, text in rows[:20]]})


def _answer(seed: int, seen: Seen) -> Behaviour:
    numbers = NUMBER.findall("\n".join(seen.fenced("mail"))) or ["0"]
    dice = random.Random(f"{seed}/{numbers[-1]}")
    chance = dice.random()
    if chance < 0.05:
        return reply_tool("no_reply_needed", {"reason": "They only said thanks."})
    if chance < 0.08:
        said = "Hello,\n\na colleague will write to you.\n\nBest regards"
        return reply_tool("escalate", {"reason": "A person should look.", "message_to_customer": said})
    if 0.4 < chance < 0.6:
        return reply_tool("reply", {"text": HOW_TO, "state": "awaiting_reply", "intent": REVIEWED})
    text = f"Hello,\n\nthank you for your mail number {numbers[-1]}, we look into it.\n\nBest regards"
    goals = [f"settle mail {numbers[-1]}"] if chance < 0.3 else []
    state = "resolved" if chance > 0.85 else "awaiting_reply"
    return reply_tool("reply", {"text": text, "state": state, "goals_add": goals})


def _learn(seen: Seen) -> Behaviour:
    orders = ORDER.search(seen.text)
    facts = [fact("order number", orders[1], orders[0], kind="order_info")] if orders else []
    trouble = "report export fails" if FAILS in seen.text else ""
    said = f"They wrote mails {', '.join(NUMBER.findall(seen.text)[-5:])}."
    return reflection(said, *facts, signals={"issue_key": trouble, "intent": "question"})
