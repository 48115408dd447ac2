"""Questions of customers that the knowledge base did not answer, in groups that ask the same.

Computed when it is asked for, from what became of the newest mails: nothing is stored, so that an erase and retention
leave nothing behind here. Days count back from the newest mail: an inbox that has been quiet for months has the list
that it had then. What it costs has a bound: `MAILS` mails are looked at and `QUESTIONS` questions compared, and who
reads it is told where that cut something off. Only mails of proven customers count, so that nobody else can fill the
list, and questions of different memory spaces are never put together.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal
from uuid import UUID

from services.core.app import App
from services.core.db import fetch_one, queries, rows_as
from services.memory.embeddings import Vector
from services.memory.question_groups import Question, groups, says_enough, without_numbers
from services.memory.questions import asked
from services.model.offline.requests import body_of

SQL = queries(__file__, "unanswered.sql")

DAYS = 90
MAILS = 2000
QUESTIONS = 300
SHOWN = 5  # mails of a group
LARGELY = 0.3  # of a draft's words that people changed

Reason = Literal["escalated", "answered_by_hand", "rewritten", "nothing_cited"]


@dataclass(frozen=True, slots=True)
class AskedIn:
    """A mail that asks it, in its own words."""

    thread_id: UUID
    mail_id: UUID
    question: str
    at: datetime
    reasons: tuple[Reason, ...]


@dataclass(frozen=True, slots=True)
class Answered:
    """An answer that a person gave to it. `article` is what came of it: "", proposed or rejected."""

    thread_id: UUID
    reply_id: UUID
    article: str


@dataclass(frozen=True, slots=True)
class Unanswered:
    """Questions that ask the same: the one most alike to the others, who asked, why it counts, and the newest mails.

    `people` are one where they were merged; `answer` is the newest that a person gave, None where nobody did.
    """

    question: str
    space: str
    inboxes: tuple[str, ...]
    people: int
    threads: int
    last_asked: datetime
    reasons: dict[Reason, int]
    asked_in: tuple[AskedIn, ...]
    answer: Answered | None


@dataclass(frozen=True, slots=True)
class UnansweredList:
    """The groups, those that most people ask first; of how many mails since when; `cut`: there were more."""

    groups: tuple[Unanswered, ...]
    since: datetime
    mails: int
    questions: int
    cut: bool
    settled: int


@dataclass(frozen=True, slots=True)
class _Mail:
    mail_id: UUID
    thread_id: UUID
    space: str
    inbox: str
    at: datetime
    text: str
    person: UUID
    reasons: list[Reason]
    answer_id: UUID | None
    looked_at: int


@dataclass(frozen=True, slots=True)
class _Article:
    document_id: UUID
    thread_id: UUID
    reply_id: UUID
    state: str
    decided_at: datetime | None


class UnansweredQuestions:
    """The list, and what this process worked out for it last: what mails ask, the questions' vectors, their groups.

    A mail that is not read again, since its person was erased, is forgotten with the next list.
    """

    def __init__(self, app: App) -> None:
        self._app = app
        self._vectors: dict[str, Vector] = {}
        self._asked: dict[tuple[UUID, str, tuple[Reason, ...]], list[Question]] = {}
        self._groups: dict[tuple[Question, ...], list[list[Question]]] = {}

    async def read(self, *, limit: int = 50) -> UnansweredList:
        """The questions of the `DAYS` days up to the newest mail. Raises what the embedder raises where it is away."""
        app = self._app
        async with app.database.transaction(app.settings.workspace) as conn:
            newest = await fetch_one(conn, SQL.newest_mail, {"workspace": app.settings.workspace})
            since = (newest["at"] if newest else app.now()) - timedelta(days=DAYS)
            args = {"workspace": app.settings.workspace, "since": since, "mails": MAILS, "largely": LARGELY}
            mails = await rows_as(conn, _Mail, SQL.unanswered, args)
            of = {"workspace": app.settings.workspace, "thread_ids": list({one.thread_id for one in mails})}
            articles = await rows_as(conn, _Article, SQL.articles_of, of)
        questions = self._questions_of(mails)
        compared = questions[:QUESTIONS]
        found = await self._grouped({one.mail_id: one for one in mails}, compared, articles)
        still = [one for one in found if one is not None]
        still.sort(key=lambda one: (-one.people, -one.last_asked.timestamp(), one.question))
        looked_at = mails[0].looked_at if mails else 0
        cut = looked_at >= MAILS or len(questions) > QUESTIONS or len(still) > limit
        return UnansweredList(tuple(still[:limit]), since, looked_at, len(compared), cut, len(found) - len(still))

    def _questions_of(self, mails: Sequence[_Mail]) -> list[Question]:
        before, self._asked = self._asked, {}
        for one in mails:
            key = (one.mail_id, one.text, tuple(one.reasons))
            self._asked[key] = before[key] if key in before else _questions(one)
        return [one for some in self._asked.values() for one in some]

    async def _grouped(
        self, mails: Mapping[UUID, _Mail], questions: Sequence[Question], articles: Sequence[_Article]
    ) -> list[Unanswered | None]:
        """Every group; None for one that an accepted article has answered since it was asked last."""
        vectors = await self._embedded([without_numbers(one.text) for one in questions])
        spaces: dict[str, list[int]] = defaultdict(list)
        for at, one in enumerate(questions):
            spaces[mails[one.mail_id].space].append(at)
        of = {tuple(questions[one] for one in at): [vectors[one] for one in at] for at in spaces.values()}
        self._groups = {some: self._groups.get(some) or groups(some, theirs) for some, theirs in of.items()}
        return [_group(some, mails, articles) for found in self._groups.values() for some in found]

    async def _embedded(self, texts: Sequence[str]) -> list[Vector]:
        missing = [one for one in dict.fromkeys(texts) if one not in self._vectors]
        made = dict(zip(missing, await self._app.embedder.embed(missing), strict=True)) if missing else {}
        self._vectors = {one: self._vectors[one] if one in self._vectors else made[one] for one in texts}
        return [self._vectors[one] for one in texts]


def _questions(mail: _Mail) -> list[Question]:
    """What a mail asks that memory cannot answer alone, and that says what it is about.

    Of a mail whose reply only cites nothing, questions alone count, not what stands in the place of one.
    """
    found = [one for one in asked(body_of(mail.text), mail.at) if not one.of_memory and says_enough(one.text)]
    if mail.reasons == ["nothing_cited"]:
        found = [one for one in found if one.text.endswith("?")]
    return [Question(one.text, mail.mail_id, mail.at) for one in found]


def _group(
    questions: Sequence[Question], mails: Mapping[UUID, _Mail], articles: Sequence[_Article]
) -> Unanswered | None:
    of = list({one.mail_id: mails[one.mail_id] for one in sorted(questions, key=lambda one: one.place)}.values())[::-1]
    threads = {one.thread_id for one in of}
    told = [one for one in articles if one.thread_id in threads]
    if any(one.state == "accepted" and one.decided_at and one.decided_at >= of[0].at for one in told):
        return None
    words = {one.mail_id: one.text for one in questions}
    return Unanswered(
        question=questions[0].text,
        space=of[0].space,
        inboxes=tuple(sorted({one.inbox for one in of})),
        people=len({one.person for one in of}),
        threads=len(threads),
        last_asked=of[0].at,
        reasons=dict(Counter(reason for one in of for reason in one.reasons)),
        asked_in=tuple(
            AskedIn(one.thread_id, one.mail_id, words[one.mail_id], one.at, tuple(one.reasons)) for one in of[:SHOWN]
        ),
        answer=_answer(of, told),
    )


def _answer(mails: Iterable[_Mail], articles: Sequence[_Article]) -> Answered | None:
    """The newest answer in a person's words, one of which no article was rejected first."""
    states = {one.reply_id: one.state for one in articles}
    given = [Answered(one.thread_id, one.answer_id, states.get(one.answer_id, "")) for one in mails if one.answer_id]
    return next((one for one in given if one.article != "rejected"), given[0] if given else None)
