"""What is found for a mail: answers from our documents and from memory, remedies, and what stays open.

Everything found stands in the request: sentences of our documents, facts about the author, the author's own words.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from services.model.offline import tone
from services.model.offline.matches import SURE, Found, best, rest_of
from services.model.offline.meaning import RATHER, Meanings
from services.model.offline.memory_lines import asked_for, clause, recollected, remembered, told
from services.model.offline.requests import Requests, about_us
from services.model.offline.sentences import one_line, quotable, sentences, terms
from services.model.offline.view import Passage, Recollection, View

_UNSURE = 0.4  # from here to SURE an answer by words is offered, and a remedy given
_MOST_QUESTIONS = 4
_GOAL_LIMIT = 300
_LONGEST = 300  # characters of a mail that is a question as a whole
_POINTS_BACK = re.compile(r"\b(?:it|this|that|these|those|they)\b", re.I)
_COMPOUND = re.compile(r",? and (?=(?:whether|when|how|what|which|where|who|why|can|could|is|are|do|does)\b)", re.I)
_REMEDY = re.compile(r"^if\b|\b(?:check|problem|incident|error|try)\b", re.I)
_WHERE_WE_STAND = re.compile(r"\b(?:stand|we are|remind|news|update|discuss\w*|talk\w*|follow\w*)\b", re.I)
MAYBE = "I am not sure that this is what you mean: "
ALSO = "Perhaps rather: "
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


def find_answers(
    view: View, requests: Requests, questions: Sequence[str], passages: tuple[Passage, ...], meanings: Meanings
) -> Answers:
    """Go through the trouble, the request to be reminded, and each question of a mail."""
    answers, text = Answers(), view.body
    if problem := tone.trouble(text):
        _remedy(view, answers, problem, passages, meanings)
    if requests.recall:
        _recollect(view, answers)
    for question in questions:
        _answer(view, answers, question, text, passages, meanings)
    return answers


def offers(view: View, questions: Sequence[str], meanings: Meanings) -> Answers:
    """What documents rather answer to questions than not, by meaning alone, to be confirmed; the others are open."""
    answers = Answers()
    for question in questions:
        if offered := meanings.offers(as_asked(question, view.body), view.passages, RATHER):
            _offer(answers, question, offered)
        else:
            answers.open.append(question)
    return answers


def questions_of(requests: Requests, text: str, *, tells: bool) -> list[str]:
    """The single questions of a mail; those that only point at the trouble or at what was said before are dealt with.

    A mail that asks nothing, tells of no trouble and, not `tells`, nothing of its author is a question as a whole.
    """
    problem = bool(tone.trouble(text))
    if not (requests.questions or requests.recall or requests.settled or problem or tells):
        return [one_line(text)[:_LONGEST]] if terms(text) else []
    single = [part.strip() for one in requests.questions for part in _COMPOUND.split(one)]
    if requests.recall:
        single = [one for one in single if not _WHERE_WE_STAND.search(one)]
    asks = (one for one in single if any(terms(said) for said in as_asked(one, text)))
    return [one for one in asks if not (problem and tone.is_empty(one))][:_MOST_QUESTIONS]


def compared(questions: Sequence[str], text: str) -> list[str]:
    """What is compared with the documents by meaning: the questions, as they are understood, and the trouble."""
    asked = [said for question in questions for said in as_asked(question, text)]
    return [*asked, problem] if (problem := tone.trouble(text)) else asked


def _answer(
    view: View, answers: Answers, question: str, body: str, passages: tuple[Passage, ...], meanings: Meanings
) -> None:
    memory = recollected(question, view.recollections)
    of_now = not (memory and memory.of_then)
    if of_now and about_us(question) and (fact := asked_for(question, view.facts)):
        answers.paragraphs.append(f"As far as I remember, {clause(fact)}.")
        return
    if memory and (memory.of_memory or (memory.of_then and memory.gist)):
        _from_memory(answers, question, memory)
        return
    if found := extreme(question, passages):
        _cite(answers, found)
        return
    asked = as_asked(question, body)
    by_words = _by_words(asked, passages)
    sure = ((said, found) for said, found in by_words if found.score >= SURE)
    stated = next((found for said, found in sure if meanings.confirms(said, found, passages)), None)
    if stated is None and memory and memory.gist and about_us(question):
        _from_memory(answers, question, memory)
    elif stated is not None:
        _cite(answers, stated)
        if rest := rest_of(question, stated, passages):
            _cite(answers, rest)
    elif offered := meanings.offers(asked, passages) or [
        found for said, found in by_words if meanings.agrees(said, found, passages)
    ]:
        _offer(answers, question, offered)
    else:
        answers.open.append(question)
        answers.pending.append(f"Find an answer for the customer: {quotable(question)}"[:_GOAL_LIMIT])


def _by_words(asked: Sequence[str], passages: tuple[Passage, ...]) -> list[tuple[str, Found]]:
    """What words alone say may answer a question, by the way in which it is put."""
    return [(said, found) for said in asked if (found := best(said, passages)) and found.score >= _UNSURE]


def as_asked(question: str, body: str) -> list[str]:
    """A question as it is, and with the sentence before it, which may say what it is about ("Is that normal?")."""
    said = sentences(body)
    before = next((said[i - 1] for i, one in enumerate(said) if i and question in one), "")
    if not before or (before.endswith("?") and not _POINTS_BACK.search(question)):
        return [question]
    together = f"{before} {question}"
    return [question, together] if terms(question) else [together]


def _offer(answers: Answers, question: str, offered: Sequence[Found]) -> None:
    """What may be the answer, to be confirmed."""
    answers.doubtful.append(question)
    for number, found in enumerate(offered):
        _cite(answers, found, ALSO if number else MAYBE)


def _from_memory(answers: Answers, question: str, memory: Recollection) -> None:
    """What memory says of it: stated, offered to be confirmed, or that nothing is noted."""
    if not memory.gist:
        answers.paragraphs.append(f'{_NOTHING_NOTED}: "{quotable(question)}"')
        return
    answers.paragraphs.append(remembered(memory))
    if memory.verdict != "sure":
        answers.to_confirm.append(question)


def _cite(answers: Answers, found: Found, opening: str = "") -> None:
    source = f" (see: {found.passage.title})" if found.passage.title else ""
    paragraph = opening + one_line(" ".join(found.sentences)) + source
    if paragraph not in answers.paragraphs:
        answers.paragraphs.append(paragraph)
        answers.citations.append(found.passage.id)


def _remedy(view: View, answers: Answers, problem: str, passages: tuple[Passage, ...], meanings: Meanings) -> None:
    """Repeat the trouble, and give a remedy of our documents that this thread has not had yet."""
    said = quotable(problem)
    if _reported_before(view, problem):
        answers.paragraphs.append(_AGAIN)
    answers.paragraphs.append(_STILL if tone.is_empty(problem) else f'I see the trouble you describe: "{said}"')
    already = one_line(" ".join(line.text for line in view.recent if line.ours))
    remedies = [(MAYBE, one) for one in meanings.offers([problem], passages)]
    if found := _sure_remedy(f"{problem} problem", passages) or _sure_remedy("problem", passages):
        remedies.insert(0 if meanings.confirms(problem, found, passages) else len(remedies), ("", found))
    for opening, one in remedies:
        if new := tuple(sentence for sentence in one.sentences if sentence not in already):
            _cite(answers, Found(new, one.passage, one.score), opening)
            break
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


# The dearest or the cheapest of several prices: "What does the top plan cost?" names no plan, and means one.
#
# Extractive: what comes out is a sentence of a passage, and only where at least two prices of one thing are compared.
_DEAREST = re.compile(r"\b(?:top|highest|biggest|largest|dearest|most expensive)\b", re.I)
_CHEAPEST = re.compile(r"\b(?:cheapest|lowest|smallest|least expensive)\b", re.I)
_PRICE = re.compile(r"\b(?:costs?|prices?|pricing|how much)\b", re.I)
_RANKED = re.compile(r"\b(?:most|least|expensive)\b", re.I)
_AMOUNT = re.compile(
    r"[$€£]\s?(\d{1,7}(?:\.\d{1,2})?)(?![\d.,]\d)|\b(\d{1,7}(?:\.\d{1,2})?) (?:dollars|euros?|pounds)\b", re.I
)


def extreme(question: str, passages: Sequence[Passage]) -> Found | None:
    """The sentence with the price that is asked for; None where no such price is, or nothing is compared."""
    dearest, cheapest = _DEAREST.search(question), _CHEAPEST.search(question)
    if bool(dearest) == bool(cheapest) or not _PRICE.search(question):
        return None
    rest = _CHEAPEST.sub(" ", _DEAREST.sub(" ", _PRICE.sub(" ", _RANKED.sub(" ", question))))
    thing = frozenset(terms(rest))
    for passage in passages:
        priced = list(_priced(passage, thing)) if thing else []
        amounts = {amount for amount, _ in priced}
        wanted = max(amounts, default=0.0) if dearest else min(amounts, default=0.0)
        named = [sentence for amount, sentence in priced if amount == wanted]
        if len(amounts) > 1 and len(named) == 1:
            return Found((named[0],), passage, 1.0)
    return None


def _priced(passage: Passage, thing: frozenset[str]) -> Iterator[tuple[float, str]]:
    """Sentences about the thing that name exactly one price."""
    for line in passage.text.splitlines():
        for sentence in [] if line.lstrip().startswith("#") else sentences(line):
            found = [float(one or other) for one, other in _AMOUNT.findall(sentence)]
            if len(found) == 1 and thing <= frozenset(terms(sentence)):
                yield found[0], sentence
