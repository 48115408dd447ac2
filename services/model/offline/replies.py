"""From a mail and its context to acts: a reply, no reply, a look-up, or handing over to a person."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from services.model.offline import tone
from services.model.offline.answers import Answers, compared, find_answers, questions_of
from services.model.offline.facts import Stated
from services.model.offline.lexicon import STOP
from services.model.offline.lookups import TOOL, look_up, looked_up
from services.model.offline.meaning import Reader
from services.model.offline.notes import news, noted, remembering
from services.model.offline.requests import Requests, read_requests
from services.model.offline.sentences import words
from services.model.offline.view import View
from services.model.offline.writing import Draft

Act = tuple[str, dict[str, Any]]  # a tool's name and its input

_ENGLISH = 0.15  # share of small English words in any English text of some length
_TELLING_LENGTH = 12  # words
_GOALS = 8


@dataclass(frozen=True, slots=True)
class Reading:
    """A mail as it was understood: what it wants, what it tells of its author, what is to be answered."""

    requests: Requests
    told: list[Stated]
    questions: list[str]

    @classmethod
    def of(cls, view: View) -> Reading:
        """What the new mails of a turn say."""
        requests, told = read_requests(view.body), news(view, view.body)
        return cls(requests, told, questions_of(requests, view.body, tells=bool(told)))


async def acts(view: View, reader: Reader) -> list[Act]:
    """The next acts, the last of which ends the turn or looks something up; at least one."""
    if own := view.text("own_words"):
        return [("reply", _reworded(view, own))]
    if not _is_english(view.body):
        return [_escalation(view, "The mail is not in English, which is all that the offline model reads.")]
    mail = Reading.of(view)
    if mail.requests.person:
        return [_escalation(view, mail.requests.person)]
    if mail.requests.nothing:
        return [("no_reply_needed", {"reason": "The customer only says thanks.", "settled": True})]
    passages = view.passages + looked_up(view)
    meanings = await reader.read(compared(mail.questions, view.body), passages)
    answers = find_answers(view, mail.requests, mail.questions, passages, meanings)
    if query := look_up(view, answers.unfinished):
        return [(TOOL, query)]
    noted_now = remembering(mail.told, view.name or "The customer")
    return [*noted_now, ("reply", _reply(view, mail, answers))]


def _reworded(view: View, own: str) -> dict[str, Any]:
    """What a colleague wrote, with a greeting where it has none: this model words nothing anew."""
    first, _, rest = own.partition("\n")
    draft = Draft(view)
    if not (rest and first.rstrip().endswith((",", "!"))):
        draft.greet(frustrated=False, recall=True)
    draft.add([own])
    return {"text": draft.text(), "state": "awaiting_reply"}


def _reply(view: View, mail: Reading, answers: Answers) -> dict[str, Any]:
    requests, told = mail.requests, mail.told
    frustrated = tone.is_frustrated(view.body)
    draft = Draft(view)
    draft.greet(frustrated=frustrated, recall=requests.recall)
    draft.add([line for line in (noted(told, view.body),) if line])
    draft.add(answers.paragraphs)
    draft.admit(answers.open)
    if not (answers.paragraphs or answers.open):
        draft.ask_back(thank=bool(told))
    if frustrated or view.value("participant", "risk") == "high":
        draft.offer_person()
    else:
        draft.close(
            confirm=bool(answers.doubtful or answers.to_confirm) or requests.recall, answered=bool(answers.citations)
        )
    draft.disclose()
    draft.sign()
    return {
        "text": draft.text(),
        "state": "in_progress" if answers.pending else "awaiting_reply",
        "intent": tone.intent(view.body),
        "goals_add": answers.pending[:_GOALS],
        "goals_close": _reached(view, requests),
        "citations": list(dict.fromkeys(one for one in answers.citations if one)),
    }


def _reached(view: View, requests: Requests) -> list[str]:
    goals = [str(goal) for item in view.items("thread") for goal in item.get("goals") or ()]
    return goals[:_GOALS] if requests.settled else []


def _escalation(view: View, reason: str) -> Act:
    draft = Draft(view)
    draft.greet(frustrated=False, recall=True)
    draft.add(["I am handing your message to a colleague of our team, who will answer you personally."])
    draft.sign()
    return "escalate", {"reason": reason, "message_to_customer": draft.text()}


def _is_english(text: str) -> bool:
    said = [word.lower() for word in words(text)]
    return len(said) < _TELLING_LENGTH or sum(word in STOP for word in said) / len(said) >= _ENGLISH
