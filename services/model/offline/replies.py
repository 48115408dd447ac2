"""From a mail and its context to acts: a reply, no reply, a look-up, or handing over to a person."""

from __future__ import annotations

from typing import Any

from services.model.offline import tone
from services.model.offline.answers import Answers, find_answers
from services.model.offline.facts import Stated
from services.model.offline.lexicon import STOP
from services.model.offline.lookups import TOOL, look_up, looked_up
from services.model.offline.notes import news, noted, remembering
from services.model.offline.requests import Wishes, read_wishes
from services.model.offline.sentences import words
from services.model.offline.view import View
from services.model.offline.writing import Draft

Act = tuple[str, dict[str, Any]]  # a tool's name and its input

_ENGLISH = 0.15  # share of small English words in any English text of some length
_TELLING_LENGTH = 12  # words
_GOALS = 8


def acts(view: View) -> list[Act]:
    """The next acts, the last of which ends the turn or looks something up; at least one."""
    text = view.body
    requests = read_wishes(text)
    if not _is_english(text):
        return [_escalation(view, "The mail is not in English, which is all that the offline model reads.")]
    if requests.person:
        return [_escalation(view, requests.person)]
    if requests.nothing:
        return [("no_reply_needed", {"reason": "The customer only says thanks.", "settled": True})]
    answers = find_answers(view, requests, text, view.passages + looked_up(view))
    if query := look_up(view, answers.unfinished):
        return [(TOOL, query)]
    told = news(view, text)
    return [*remembering(told, view.name or "The customer"), ("reply", _reply(view, requests, text, answers, told))]


def _reply(view: View, requests: Wishes, text: str, answers: Answers, told: list[Stated]) -> dict[str, Any]:
    frustrated = tone.is_frustrated(text)
    draft = Draft(view)
    draft.greet(frustrated=frustrated, recall=requests.recall)
    draft.add([line for line in (noted(told, text),) if line])
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
        "intent": tone.intent(text),
        "goals_add": answers.pending[:_GOALS],
        "goals_close": _reached(view, requests),
        "citations": list(dict.fromkeys(one for one in answers.citations if one)),
    }


def _reached(view: View, requests: Wishes) -> list[str]:
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
