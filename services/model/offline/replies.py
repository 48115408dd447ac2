"""From a mail and its context to acts: a reply, no reply, a look-up, or handing over to a person."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from services.model.offline import tone
from services.model.offline.answers import Answers, compared, find_answers, offers, questions_of
from services.model.offline.facts import Stated, stated
from services.model.offline.lexicon import STOP
from services.model.offline.meaning import Reader
from services.model.offline.operations import remembered
from services.model.offline.requests import Requests, read_requests
from services.model.offline.sentences import one_line, quotable, sentences, words
from services.model.offline.view import Passage, View
from services.model.offline.writing import Draft

Act = tuple[str, dict[str, Any]]  # a tool's name and its input

_ENGLISH = 0.15  # share of small English words in any English text of some length
_TELLING_LENGTH = 12  # words
_HARDLY_READ = 40  # words of a mail in another language, of which nothing but its question is understood
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
    mail = Reading.of(view)
    if not _is_english(view.body):
        return await _in_another_language(view, mail, reader)
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


async def _in_another_language(view: View, mail: Reading, reader: Reader) -> list[Act]:
    """What documents offer to each question of a mail that is hardly read; a person for any other."""
    asked = mail.requests.questions
    if asked and len(words(view.body)) <= _HARDLY_READ:
        meanings = await reader.read(compared(asked, view.body), view.passages)
        answers = offers(view, asked, meanings)
        if not answers.open:
            return [("reply", _reply(view, mail, answers))]
    return [_escalation(view, "The mail is not in English, which is all that the offline model reads.")]


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


# Look-ups in our documents: asking the tool once, and reading what it brought.
TOOL = "search_knowledge"

_PASSAGE = re.compile(r"^\[([^\]\n]{1,500})\] ([^\n]{0,500}?)(?: / ([^\n]{0,500}))?\n", re.MULTILINE)
_QUERY_LIMIT = 300


def look_up(view: View, questions: list[str]) -> dict[str, Any] | None:
    """The tool's input for what is still open; None if there is no such tool, or if it was asked already."""
    asked = any(call.name == TOOL for round_ in view.request.history for call in round_.answer.calls)
    if asked or not questions or not view.offers(TOOL):
        return None
    return {"query": one_line(" ".join(questions))[:_QUERY_LIMIT]}


def looked_up(view: View) -> tuple[Passage, ...]:
    """Passages that earlier rounds of this conversation brought in."""
    calls = {call.id: call.name for round_ in view.request.history for call in round_.answer.calls}
    results = [result for round_ in view.request.history for result in round_.results if not result.error]
    return tuple(one for result in results if calls.get(result.call_id) == TOOL for one in _read(result.content))


def _read(content: str) -> tuple[Passage, ...]:
    """Passages as the tool writes them: a line `[id] title / heading`, then the text."""
    parts = [part.strip() if part else "" for part in _PASSAGE.split(content)[1:]]
    return tuple(Passage(*parts[i : i + 4]) for i in range(0, len(parts), 4))


# What is stored at once, while the mail is read: news about the author's account, so that "noted" is true.
#
# Only for somebody whose memory is open to us; `reflect` reads the same mail again afterwards and corroborates.
_KINDS = ("customer_info", "contact_info", "preference", "event")
_MOST = 3


def news(view: View, text: str) -> list[Stated]:
    """At most three stated facts that memory does not hold yet; none for an author who is not authenticated."""
    if not view.items("participant") or view.now is None or not view.offers("remember_fact"):
        return []
    stored = {(one.kind, one.key, one.value.lower()) for one in view.facts}
    told = [one for one in stated(text, view.now.date()) if one.kind in _KINDS]
    return [one for one in told if (one.kind, one.key, one.value.lower()) not in stored][:_MOST]


def noted(facts: list[Stated], text: str) -> str:
    """One line that repeats the author's own sentences; "" for no news."""
    said = [quotable(one) for one in sentences(text) if any(fact.quote in one for fact in facts)]
    short = [one for one in dict.fromkeys(said) if not one.endswith("?")]
    return "I have noted: " + " ".join(f'"{one}"' for one in short) if short else ""


def remembering(facts: list[Stated], who: str) -> list[tuple[str, dict[str, Any]]]:
    """The calls of `remember_fact` that store them."""
    days = (one.valid_to.isoformat() if one.valid_to else None for one in facts)
    return [("remember_fact", {**remembered(one, who), "valid_to": day}) for one, day in zip(facts, days, strict=True)]
