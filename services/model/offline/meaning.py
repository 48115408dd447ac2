"""Which passages answer a question in other words: by what the product's embedder makes of passages and sentences.

A passage is as near as the mean of its own cosine to the question and that of its best sentence under its heading. Near
is not enough: in documents about one product everything is near, and most questions that nobody answered look like
those that somebody did. So an answer that was found by meaning alone is offered and asked back, never stated, and only
where it stands out from the passages that are certainly about something else.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from services.core.errors import EmbedderUnavailable
from services.mail.language import detect_language
from services.memory.cue import Logistic
from services.memory.embeddings import Embedder, EmbedderRefused, Vector
from services.model.offline.matches import Found, prose
from services.model.offline.sentences import one_line
from services.model.offline.view import Passage

OFFERED_FROM, STATED_FROM = 0.3, 0.6
RATHER = 0.5  # from here on an offer is rather right than wrong
ENGLISH, OTHER = "en", "other"
FITTED: Mapping[str, Mapping[str, Logistic]] = {
    "use-multilingual-3-and-minilm": {
        ENGLISH: Logistic(-3.84, (9.64, 17.06)),
        OTHER: Logistic(-0.93, (-0.93, 23.79)),
    },
    "all-MiniLM-L6-v2-onnx-int8": {
        ENGLISH: Logistic(-3.9, (7.22, 14.41)),
        OTHER: Logistic(-2.27, (4.36, 4.58)),
    },
}
"""By embedder and the question's language: whether one of the two nearest passages answers, from the nearest one's
score and its distance to the third. `python -m tests.benchmarks.offline_answers --fit` prints them. What was not
fitted offers nothing."""

_SHOWN = 2  # passages; in other words the second nearest is the right one in a case of six
_FAR = 0.2  # a third passage's score where there is none
_LONGEST = 3  # sentences of a passage
_KEPT = 4096  # vectors, 4 kB each


@dataclass(frozen=True, slots=True)
class Near:
    """A passage by meaning: the sentence of it that is nearest to the question, and how near both are together."""

    passage: Passage
    sentences: tuple[str, ...]
    best: int
    score: float

    @property
    def found(self) -> Found:
        """The nearest sentence with its neighbours, in the document's order."""
        first = max(min(self.best - 1, len(self.sentences) - _LONGEST), 0)
        return Found(self.sentences[first : first + _LONGEST], self.passage, self.score)


@dataclass(frozen=True, slots=True)
class Meanings:
    """The vectors of questions, passages and their sentences, by the text that was embedded."""

    model: str = ""
    vectors: Mapping[str, Vector] = field(default_factory=dict)

    def nearest(self, question: str, passages: Sequence[Passage]) -> list[Near]:
        """The passages by meaning, nearest first; none where nothing was embedded."""
        asked = self.vectors.get(question)
        if asked is None:
            return []
        near = [self._near(asked, one) for one in {passage.id: passage for passage in passages}.values()]
        return sorted((one for one in near if one), key=lambda one: -one.score)

    def offers(self, asked: Sequence[str], passages: Sequence[Passage], least: float = OFFERED_FROM) -> list[Found]:
        """What may answer a question, nearest first, to be asked back; none where nothing stands out.

        `asked` are ways to put it, of which the one counts that finds most; `least`, its probability.
        """
        ways = [(self._probability(one, near), near) for one in asked if (near := self.nearest(one, passages))]
        probability, best = max(ways, key=lambda way: way[0], default=(0.0, []))
        return [one.found for one in best[:_SHOWN]] if probability >= least else []

    def agrees(self, question: str, found: Found, passages: Sequence[Passage]) -> bool:
        """Whether the passage that words point at is also the nearest by meaning."""
        near = self.nearest(question, passages)
        return bool(near) and near[0].passage.id == found.passage.id

    def confirms(self, question: str, found: Found, passages: Sequence[Passage]) -> bool:
        """Whether it is, and stands out."""
        near = self.nearest(question, passages)
        stands_out = self.model not in FITTED or self._probability(question, near) >= STATED_FROM
        return stands_out and self.agrees(question, found, passages)

    def _probability(self, question: str, near: Sequence[Near]) -> float:
        fitted = FITTED.get(self.model, {}).get(language(question))
        return fitted.probability(evidence(near)) if fitted else 0.0

    def _near(self, asked: Vector, passage: Passage) -> Near | None:
        said = prose(passage)
        scores = [float(asked @ self.vectors[_under_heading(passage, one)]) for one in said]
        if not scores:
            return None
        best = max(range(len(said)), key=scores.__getitem__)
        whole = float(asked @ self.vectors[_whole(passage)])
        return Near(passage, said, best, (whole + scores[best]) / 2)


def evidence(near: Sequence[Near]) -> tuple[float, float]:
    """What the judgement looks at."""
    third = near[2].score if len(near) > 2 else _FAR
    return near[0].score, near[0].score - third


def language(question: str) -> str:
    """For which questions the same cosine means the same: English, as short ones that nobody can tell, or not."""
    return ENGLISH if detect_language(question) in ("", ENGLISH) else OTHER


class Reader:
    """Embeds what a request says; vectors of the last texts are kept, since documents come again with each mail."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._kept: OrderedDict[str, Vector] = OrderedDict()

    async def read(self, questions: Sequence[str], passages: Sequence[Passage]) -> Meanings:
        """The meanings of some questions and of the passages; empty where the embedder is away."""
        wanted = list(dict.fromkeys([*questions, *_texts(passages)])) if questions and passages else []
        try:
            fresh = [text for text in wanted if text not in self._kept]
            vectors = dict(zip(fresh, await self._embedder.embed(fresh), strict=True)) if fresh else {}
        except (EmbedderUnavailable, EmbedderRefused):
            return Meanings()
        vectors |= {text: self._kept[text] for text in wanted if text in self._kept}
        self._keep(vectors)
        return Meanings(self._embedder.name, vectors)

    def _keep(self, vectors: Mapping[str, Vector]) -> None:
        for text, vector in vectors.items():
            self._kept[text] = vector
            self._kept.move_to_end(text)
        while len(self._kept) > _KEPT:
            self._kept.popitem(last=False)


def _texts(passages: Iterable[Passage]) -> Iterator[str]:
    for passage in passages:
        yield _whole(passage)
        yield from (_under_heading(passage, one) for one in prose(passage))


def _whole(passage: Passage) -> str:
    return f"{passage.title} {passage.heading}: {one_line(passage.text)}"


def _under_heading(passage: Passage, sentence: str) -> str:
    return f"{passage.heading.rpartition(' > ')[2] or passage.title}: {sentence}"
