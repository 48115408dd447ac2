"""From a mail and its context to one act: a reply, no reply, a look-up, or handing over to a person.

Everything a reply states stands in the request: sentences of our documents, facts about the author, the author's
own words. What it cannot find it says it cannot find.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from services.core.model.offline import tone
from services.core.model.offline.lexicon import STOP
from services.core.model.offline.matching import SURE, Found, best
from services.core.model.offline.memory_lines import asked_for, clause, told
from services.core.model.offline.sentences import one_line, sentences, terms, words
from services.core.model.offline.view import Passage, View
from services.core.model.offline.wishes import Wishes, about_us, body_of, read_wishes
from services.core.model.offline.writing import Draft

Act = tuple[str, dict[str, Any]]

_UNSURE = 0.3  # below SURE and above this the answer is offered, not stated
_POINTS_BACK = re.compile(r"\b(?:it|this|that|these|those|they)\b", re.I)
_COMPOUND = re.compile(r",? and (?=(?:whether|when|how|what|which|where|who|why|can|could|is|are|do|does)\b)", re.I)
_REMEDY = re.compile(r"^if\b|\b(?:check|problem|incident|error|try)\b", re.I)
_PASSAGE = re.compile(r"^\[([^\]\n]+)\] ([^\n]*?)(?: / ([^\n]*))?\n", re.MULTILINE)
_RECALL = re.compile(r"\b(?:stand|we are|remind|news|update|discuss\w*|talk\w*|follow\w*)\b", re.I)
_AGAIN = "You have reported this before, and it is not settled yet."
_STILL = "I see that the trouble is still there."
_ENGLISH = 0.15


@dataclass(slots=True)
class _Answers:
    """What was found for the questions of a mail, while they are gone through."""

    paragraphs: list[str] = field(default_factory=list)
    citations: list[str] = field(default_factory=list)
    open: list[str] = field(default_factory=list)
    doubtful: list[str] = field(default_factory=list)  # questions with an answer that may be beside the point
    pending: list[str] = field(default_factory=list)  # what we owe besides, as goals


def act(view: View) -> Act:
    """The next act as (tool name, input). Raises nothing; an empty mail is asked back."""
    text = "\n\n".join(mail.text for mail in view.mails)
    wishes = read_wishes(text)
    if not _is_english(text):
        return _escalation(view, "The mail is not in English, which is all that the offline model reads.")
    if wishes.person:
        return _escalation(view, wishes.person)
    if wishes.nothing:
        return "no_reply_needed", {"reason": "The customer only says thanks.", "settled": wishes.settled}
    passages = view.passages + _looked_up(view)
    answers = _answers(view, wishes, text, passages)
    if (answers.open or answers.doubtful) and (query := _look_up(view, answers.open + answers.doubtful)):
        return query
    return "reply", _reply(view, wishes, text, answers)


def _answers(view: View, wishes: Wishes, text: str, passages: tuple[Passage, ...]) -> _Answers:
    answers = _Answers()
    problem = tone.trouble(body_of(text))
    if problem:
        _remedy(view, answers, problem, passages)
    if wishes.recall:
        _recollection(view, answers)
    for question in _questions(wishes, bool(problem)):
        _answer(view, answers, question, text, passages)
    return answers


def _questions(wishes: Wishes, problem: bool) -> list[str]:
    """The single questions; those that only point at the trouble or at what was said before are dealt with."""
    single = [part.strip() for one in wishes.questions for part in _COMPOUND.split(one)]
    if wishes.recall:
        single = [one for one in single if not _RECALL.search(one)]
    return [one for one in single if terms(one) and not (problem and tone.is_empty(one))][:4]


def _answer(view: View, answers: _Answers, question: str, text: str, passages: tuple[Passage, ...]) -> None:
    if about_us(question) and (fact := asked_for(question, view.facts)):
        answers.paragraphs.append(f"As far as I remember, {clause(fact)}.")
        return
    found = best(question, passages)
    if (
        (found is None or found.score < SURE)
        and _POINTS_BACK.search(question)
        and (wider := _in_context(question, text, passages))
    ):
        found = wider
    if found is None or found.score < _UNSURE:
        answers.open.append(question)
        return
    answers.doubtful += [question] if found.score < SURE else []
    _cite(answers, found, "" if found.score >= SURE else "I am not sure that this is what you mean: ")


def _in_context(question: str, text: str, passages: tuple[Passage, ...]) -> Found | None:
    """A question that is short on words ("Why is it higher?") read together with the sentence before it."""
    said = sentences(body_of(text))
    before = [said[i - 1] for i, one in enumerate(said) if i and question in one]
    return best(f"{before[0]} {question}", passages) if before else None


def _cite(answers: _Answers, found: Found, opening: str) -> None:
    paragraph = opening + one_line(" ".join(found.sentences))
    if paragraph not in answers.paragraphs:
        answers.paragraphs.append(f"{paragraph} (see: {found.passage.title})" if found.passage.title else paragraph)
        answers.citations.append(found.passage.id)


def _remedy(view: View, answers: _Answers, problem: str, passages: tuple[Passage, ...]) -> None:
    known = tone.is_empty(problem)
    answers.paragraphs += [_AGAIN] if _reported_before(view, problem) else []
    answers.paragraphs.append(_STILL if known else f'I have noted the trouble you describe: "{one_line(problem)}"')
    already = one_line(" ".join(line.text for line in view.recent if line.ours))
    found = best(f"{problem} problem", passages, only=_REMEDY)
    if found is None or found.score < _UNSURE:
        found = best("problem", passages, only=_REMEDY)
    new = tuple(one for one in found.sentences if one_line(one) not in already) if found else ()
    if found and new and found.score >= _UNSURE:
        _cite(answers, Found(new, found.passage, found.score), "")
    else:
        answers.paragraphs.append("I find no further remedy in our documents; our team sees that this is open.")
        answers.pending.append(f"Find a remedy: {one_line(problem)}"[:300])


def _reported_before(view: View, problem: str) -> bool:
    """Whether an open issue of the author has the same key; the turn's own report is not stored yet."""
    key = tone.issue_key(problem, names=view.name)
    return bool(key) and any(one.get("issue") == key and not one.get("resolved") for one in view.items("participant"))


def _recollection(view: View, answers: _Answers) -> None:
    remembered = told(view.facts, view.items("earlier"))
    if remembered:
        listed = "\n".join(f"- {one}" for one in remembered)
        answers.paragraphs.append(f"This is what I remember of our earlier contact:\n{listed}")
        return
    gist = sentences(next((text for name in ("summary", "brief", "session") if (text := view.text(name))), ""))[:3]
    if gist:
        answers.paragraphs.append(f"This is what I have noted of our earlier contact: {one_line(' '.join(gist))}")
    else:
        answers.paragraphs.append("I find nothing that I remember of an earlier contact, and I would rather not guess.")


def _look_up(view: View, questions: list[str]) -> Act | None:
    """One search for what is still open, if there is a tool for it and none was made."""
    offered = any(tool.name == "search_knowledge" for tool in view.request.tools)
    if not offered or any(
        call.name == "search_knowledge" for round_ in view.request.history for call in round_.answer.calls
    ):
        return None
    return "search_knowledge", {"query": one_line(" ".join(questions))[:300]}


def _looked_up(view: View) -> tuple[Passage, ...]:
    """Passages that earlier rounds of this conversation brought in."""
    calls = {call.id: call.name for round_ in view.request.history for call in round_.answer.calls}
    results = [result for round_ in view.request.history for result in round_.results if not result.error]
    return tuple(
        passage
        for result in results
        if calls.get(result.call_id) == "search_knowledge"
        for passage in _read_passages(result.content)
    )


def _read_passages(content: str) -> tuple[Passage, ...]:
    """Passages as the tool writes them: a line `[id] title / heading`, then the text."""
    parts = _PASSAGE.split(content)[1:]
    return tuple(Passage(*(part.strip() for part in parts[i : i + 4])) for i in range(0, len(parts), 4))


def _reply(view: View, wishes: Wishes, text: str, answers: _Answers) -> dict[str, Any]:
    draft = Draft(view)
    draft.greet(frustrated=tone.is_frustrated(text))
    draft.add(answers.paragraphs)
    draft.admit(answers.open)
    if not (answers.paragraphs or answers.open):
        draft.acknowledge(text)
    if tone.is_frustrated(text) or view.value("participant", "risk") == "high":
        draft.offer_person()
    else:
        draft.close(confirm=bool(answers.doubtful) or wishes.recall, answered=bool(answers.citations))
    draft.disclose()
    draft.sign()
    waiting = answers.pending + [f"Find an answer for the customer: {one_line(one)}"[:300] for one in answers.open]
    return {
        "text": draft.text(),
        "state": "in_progress" if waiting else "awaiting_reply",
        "goals_add": waiting,
        "goals_close": _reached(view, wishes),
        "citations": list(dict.fromkeys(one for one in answers.citations if one)),
    }


def _reached(view: View, wishes: Wishes) -> list[str]:
    goals = [str(goal) for item in view.items("thread") for goal in item.get("goals") or ()]
    return goals if wishes.settled else []


def _escalation(view: View, reason: str) -> Act:
    draft = Draft(view)
    draft.greet(frustrated=False)
    draft.add(["I am handing your message to a colleague of our team, who will answer you personally."])
    draft.sign()
    return "escalate", {"reason": reason, "message_to_customer": draft.text()}


def _is_english(text: str) -> bool:
    said = [word.lower() for word in words(text)]
    return len(said) < 12 or sum(word in STOP for word in said) / len(said) >= _ENGLISH
