"""What is found for a mail: answers from our documents and from memory, remedies, and what stays open.

Everything found stands in the request: sentences of our documents, facts about the author, the author's own words.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from services.model.offline import tone
from services.model.offline.extremes import extreme
from services.model.offline.matches import SURE, Found, best, rest_of
from services.model.offline.memory_lines import asked_for, clause, recollected, remembered, told
from services.model.offline.requests import Wishes, about_us
from services.model.offline.sentences import one_line, quotable, sentences, terms
from services.model.offline.view import Passage, Recollection, View

_UNSURE = 0.4  # from here to SURE an answer is offered, not stated
_MOST_QUESTIONS = 4
_GOAL_LIMIT = 300
_POINTS_BACK = re.compile(r"\b(?:it|this|that|these|those|they)\b", re.I)
_COMPOUND = re.compile(r",? and (?=(?:whether|when|how|what|which|where|who|why|can|could|is|are|do|does)\b)", re.I)
_REMEDY = re.compile(r"^if\b|\b(?:check|problem|incident|error|try)\b", re.I)
_WHERE_WE_STAND = re.compile(r"\b(?:stand|we are|remind|news|update|discuss\w*|talk\w*|follow\w*)\b", re.I)
_AGAIN = "You have reported this before, and it is not settled yet."
_NOTHING_NOTED = "I have nothing noted of this, and I would rather not guess"
_STILL = "I see that the trouble is still there."


@dataclass(frozen=True, slots=True)
class Answers:
    """What was found, in the order of the mail."""

    paragraphs: list[str] = field(default_factory=list)
    citations: list[str] = field(default_factory=list)
    open: list[str] = field(default_factory=list)  # questions without an answer
    doubtful: list[str] = field(default_factory=list)  # questions with an answer that may be beside the point
    to_confirm: list[str] = field(default_factory=list)  # questions that only ring a bell
    pending: list[str] = field(default_factory=list)  # what we owe, as goals

    @property
    def unfinished(self) -> list[str]:
        """The questions that one more look into the documents might help."""
        return self.open + self.doubtful


def find_answers(view: View, requests: Wishes, text: str, passages: tuple[Passage, ...]) -> Answers:
    """Go through the trouble, the request to be reminded, and each question of a mail."""
    answers = Answers()
    problem = tone.trouble(text)
    if problem:
        _remedy(view, answers, problem, passages)
    if requests.recall:
        _recollect(view, answers)
    for question in _questions(requests, bool(problem)):
        _answer(view, answers, question, text, passages)
    return answers


def _questions(requests: Wishes, problem: bool) -> list[str]:
    """The single questions; those that only point at the trouble or at what was said before are dealt with."""
    single = [part.strip() for one in requests.questions for part in _COMPOUND.split(one)]
    if requests.recall:
        single = [one for one in single if not _WHERE_WE_STAND.search(one)]
    return [one for one in single if terms(one) and not (problem and tone.is_empty(one))][:_MOST_QUESTIONS]


def _answer(view: View, answers: Answers, question: str, body: str, passages: tuple[Passage, ...]) -> None:
    memory = recollected(question, view.recollections)
    of_now = not (memory and memory.of_then)
    if of_now and about_us(question) and (fact := asked_for(question, view.facts)):
        answers.paragraphs.append(f"As far as I remember, {clause(fact)}.")
        return
    if memory and (memory.of_memory or (memory.of_then and memory.gist)):
        _from_memory(answers, question, memory)
        return
    found = extreme(question, passages) or best(question, passages)
    if (found is None or found.score < SURE) and _POINTS_BACK.search(question):
        found = _in_context(question, body, passages) or found
    if memory and memory.gist and about_us(question) and (found is None or found.score < SURE):
        _from_memory(answers, question, memory)
        return
    if found is None or found.score < _UNSURE:
        answers.open.append(question)
        answers.pending.append(f"Find an answer for the customer: {quotable(question)}"[:_GOAL_LIMIT])
        return
    if found.score < SURE:
        answers.doubtful.append(question)
    _cite(answers, found, "" if found.score >= SURE else "I am not sure that this is what you mean: ")
    if rest := rest_of(question, found, passages):
        _cite(answers, rest, "")


def _from_memory(answers: Answers, question: str, memory: Recollection) -> None:
    """What memory says of it: stated, offered to be confirmed, or that nothing is noted."""
    if not memory.gist:
        answers.paragraphs.append(f'{_NOTHING_NOTED}: "{quotable(question)}"')
        return
    answers.paragraphs.append(remembered(memory))
    if memory.verdict != "sure":
        answers.to_confirm.append(question)


def _in_context(question: str, body: str, passages: tuple[Passage, ...]) -> Found | None:
    """A question that points back ("Why is it higher?"), read together with the sentence before it."""
    said = sentences(body)
    before = next((said[i - 1] for i, one in enumerate(said) if i and question in one), "")
    return best(f"{before} {question}", passages) if before else None


def _cite(answers: Answers, found: Found, opening: str) -> None:
    source = f" (see: {found.passage.title})" if found.passage.title else ""
    paragraph = opening + one_line(" ".join(found.sentences)) + source
    if paragraph not in answers.paragraphs:
        answers.paragraphs.append(paragraph)
        answers.citations.append(found.passage.id)


def _remedy(view: View, answers: Answers, problem: str, passages: tuple[Passage, ...]) -> None:
    """Repeat the trouble, and give a remedy of our documents that this thread has not had yet."""
    said = quotable(problem)
    if _reported_before(view, problem):
        answers.paragraphs.append(_AGAIN)
    answers.paragraphs.append(_STILL if tone.is_empty(problem) else f'I see the trouble you describe: "{said}"')
    already = one_line(" ".join(line.text for line in view.recent if line.ours))
    found = next((one for query in (f"{problem} problem", "problem") if (one := _sure_remedy(query, passages))), None)
    new = tuple(one for one in found.sentences if one_line(one) not in already) if found else ()
    if found and new:
        _cite(answers, Found(new, found.passage, found.score), "")
    else:
        answers.paragraphs.append("I find no further remedy in our documents; our team sees that this is open.")
        answers.pending.append(f"Find a remedy: {said}"[:_GOAL_LIMIT])


def _sure_remedy(query: str, passages: tuple[Passage, ...]) -> Found | None:
    found = best(query, passages, only=_REMEDY)
    return found if found and found.score >= _UNSURE else None


def _reported_before(view: View, problem: str) -> bool:
    """Whether an open issue of the author has the same key; the turn's own report is not stored yet."""
    key = tone.issue_key(problem, names=view.name)
    return bool(key) and any(one.get("issue") == key and not one.get("resolved") for one in view.items("participant"))


def _recollect(view: View, answers: Answers) -> None:
    """Where things stand: facts and earlier threads, else the gist of a summary, else that there is nothing."""
    remembered = told(view.facts, view.items("earlier"))
    gist = sentences(next((text for name in ("summary", "brief", "session") if (text := view.text(name))), ""))[:3]
    if remembered:
        listed = "\n".join(f"- {one}" for one in remembered)
        answers.paragraphs.append(f"This is what I remember of our earlier contact:\n{listed}")
    elif gist:
        answers.paragraphs.append(f"This is what I have noted of our earlier contact: {one_line(' '.join(gist))}")
    else:
        answers.paragraphs.append("I find nothing that I remember of an earlier contact, and I would rather not guess.")
