from dataclasses import replace
from datetime import UTC, datetime
from uuid import UUID, uuid5

import numpy as np
import pytest

from services.memory.cue import FACT_CUES, Evidence, fact_evidence, judged, passage_evidence, recalled
from services.memory.facts import Fact
from services.memory.search import Hit
from services.memory.signals import Passage, SignalWeights, signal_matrix, weighed

SPACE = UUID(int=9)


def hit(
    day: int, score: float, similarity: float | None, coverage: float, text: str = "a fact", confidence: float = 0.8
) -> Hit:
    at = datetime(2026, 3, day, 9, tzinfo=UTC)
    fact = Fact(
        fact_id=uuid5(SPACE, f"{day}{text}"), participant_id=SPACE, kind="note", key="k", value="v", text=text,
        confidence=confidence, importance=0.5, weight=1, trust="inferred", pinned=False, valid_from=at, valid_to=None,
        expires_at=None, recorded_at=at, superseded_at=None, source_message_id=None, quote=None,
    )  # fmt: skip
    return Hit(fact, score, score, similarity, 1.0, coverage)


def passage(position: int, speaker: str, similarity: float, lexical: float) -> Passage:
    identity = uuid5(SPACE, str(position))
    return Passage(identity, SPACE, position, speaker, 80, False, similarity, lexical, lexical / 10, lexical)


def evidence_of(query: str, *passages: Passage) -> Evidence:
    matrix, weights = signal_matrix(passages, query), SignalWeights()
    order = np.argsort(-weighed(matrix, weights), kind="stable")
    return passage_evidence(passages, matrix, query, weights, order)


def test_no_hits_mean_nothing():
    """An empty memory knows nothing, and says so."""
    recall = recalled([])
    assert (recall.cue.verdict, recall.window, recall.gist) == ("nothing", None, None)


@pytest.mark.parametrize(
    ("similarity", "coverage", "verdict"),
    [(0.75, 0.9, "sure"), (0.4, 0.5, "rings a bell"), (0.2, 0.1, "nothing")],
)
def test_the_nearer_the_surer(similarity, coverage, verdict):
    """Near in meaning and in words is sure, somewhat near rings a bell, far is nothing."""
    assert judged(Evidence(similarity, coverage)).verdict == verdict


def test_a_bell_tells_when_and_what():
    """What rings a bell comes with the days of its best hits and the best one's text, to be confirmed."""
    recall = recalled([hit(9, 0.8, 0.3, 0.1, "the kettle"), hit(5, 0.6, 0.2, 0.1), hit(1, 0.1, 0.1, 0.0)])
    assert recall.cue.verdict == "rings a bell"
    assert recall.gist == "the kettle"
    assert recall.window is not None
    assert (recall.window.start.day, recall.window.end.day) == (5, 10)


@pytest.mark.parametrize(("confidence", "verdict"), [(0.7, "sure"), (0.5, "rings a bell")])
def test_what_was_only_inferred_is_not_sure(confidence, verdict):
    """However well a fact fits, one that nobody said in so many words is to be confirmed."""
    assert recalled([hit(9, 0.8, 0.8, 0.9, confidence=confidence)]).cue.verdict == verdict


@pytest.mark.parametrize("end", ["", " ", "\n"])
def test_a_question_that_was_asked_before_is_no_answer(end):
    """Asked again, a question finds that it was asked; memory still holds nothing on it."""
    asked = f"John asked: What is the name of my dog?{end}"
    assert recalled([hit(9, 0.8, 0.95, 1.0, asked)]).cue.verdict == "nothing"


def test_a_fact_without_a_vector_is_judged_by_its_words():
    """A missing vector is no similarity, not an error."""
    assert fact_evidence(hit(9, 0.8, None, 0.7)) == Evidence(0.0, 0.7)


def test_the_answer_is_the_most_relevant_fact_not_the_most_important():
    """What makes memory sure is also what it says, although another fact weighs more."""
    important = replace(hit(9, 0.9, 0.40, 0.3, "Ada is the CTO."), relevance=0.3)
    recall = recalled([important, hit(8, 0.6, 0.62, 0.9, "The export fails on Mondays.")])
    assert (recall.cue.verdict, recall.gist) == ("sure", "The export fails on Mondays.")


def test_a_certain_fact_vouches_for_no_other():
    """Whether a fact may be relied on is asked of the one that answers, not of the one that stands first."""
    certain = replace(hit(9, 0.9, 0.40, 0.3, "Ada is the CTO.", confidence=0.95), relevance=0.3)
    recall = recalled([certain, hit(8, 0.6, 0.62, 0.9, "The export fails on Mondays.", confidence=0.5)])
    assert (recall.cue.verdict, recall.gist) == ("rings a bell", "The export fails on Mondays.")


def test_two_halves_are_no_evidence():
    """A fact near in meaning and another that shares the words do not add up to one that is both."""
    near, wordy = hit(9, 0.5, 0.5, 0.0, "one"), hit(8, 0.5, 0.0, 0.5, "two")
    assert recalled([near, wordy]).cue.related == pytest.approx(recalled([near]).cue.related)


def test_said_by_someone_else_is_not_sure():
    """The right passage spoken by the other person is a false premise: it rings a bell at most."""
    john = [passage(0, "John", 0.75, 9.0), passage(1, "Maria", 0.1, 0.0), passage(2, "Maria", 0.1, 0.0)]
    right, wrong = evidence_of("What did John adopt?", *john), evidence_of("What did Maria adopt?", *john)
    assert right.margin is not None
    assert wrong.margin is not None
    assert right.margin > 0 > wrong.margin
    assert judged(right).verdict == "sure"
    assert judged(wrong).verdict == "rings a bell"


def test_naming_nobody_leaves_the_person_open():
    """A question that names nobody is judged by relatedness alone."""
    evidence = evidence_of("What was adopted?", passage(0, "John", 0.75, 9.0), passage(1, "Maria", 0.1, 0.0))
    assert evidence.margin is None
    assert judged(evidence).verdict == "sure"


def test_sure_was_said_where_the_answer_was_not_among_the_first_five():
    """Near in meaning and words, but twenty passages are as good as each other: which one answers is open."""
    alike = [passage(10 * place, "", 0.75, 9.0) for place in range(20)]
    one = [passage(0, "", 0.75, 9.0), *(passage(10 * place, "", 0.1, 0.0) for place in range(1, 20))]
    many, single = (evidence_of("What was adopted?", *some) for some in (alike, one))
    assert many.held == pytest.approx(0.25)
    assert judged(many).verdict == "rings a bell"
    assert judged(single).verdict == "sure"


def test_a_question_in_other_words_was_judged_by_them() -> None:
    """Ranked by "what did I buy", a memory that never spoke of Maria would be as near as hers."""
    rows = [passage(0, "Ann", 0.9, 1.0), passage(1, "Ann", 0.8, 0.0)]
    assert evidence_of("q", *rows).similarity == 0.9
    assert evidence_of("q", *(replace(row, as_asked=0.2) for row in rows)).similarity == 0.2


@pytest.mark.parametrize(("held", "verdict"), [(0.9, "sure"), (0.89, "rings a bell")])
def test_passages_are_sure_from_nine_in_ten(held, verdict):
    """Where one of the first five answers with less than .9, the reader is asked to confirm."""
    assert judged(Evidence(0.75, 0.9, held=held)).verdict == verdict


@pytest.mark.parametrize(("similarity", "verdict"), [(0.37, "rings a bell"), (0.43, "sure")])
def test_a_fact_is_sure_from_nine_in_ten(similarity, verdict):
    """A fact that answers with a likelihood between .8 and .9 is sure of a conversation, not of a fact."""
    evidence = Evidence(similarity, 0.1)
    assert judged(evidence, replace(FACT_CUES, sure_from=0.8)).verdict == "sure"
    assert judged(evidence, FACT_CUES).verdict == verdict


def test_what_rests_on_what_has_ended_is_not_sure():
    """A fact whose ground has changed weighs half, and is to be confirmed however surely it was said."""
    stale = hit(9, 0.8, 0.8, 0.9, confidence=0.9)
    assert recalled([stale]).cue.verdict == "sure"
    assert recalled([replace(stale, fact=replace(stale.fact, weight=0.5))]).cue.verdict == "rings a bell"


def test_who_speaks_is_asked_only_where_somebody_else_might():
    """Naming two, or the only one who ever spoke, says nothing of whose words they are."""
    john, maria = passage(0, "John", 0.75, 9.0), passage(1, "Maria", 0.1, 0.0)
    assert evidence_of("Did John meet Maria?", john, maria, passage(2, "Ann", 0.1, 0.0)).margin is None
    assert evidence_of("What did John adopt?", john, replace(john, position=1)).margin is None


def test_being_named_proves_nothing_about_what_was_said():
    """The named one's words are compared with others' without what being named adds, and counted among the five best."""
    rows = [passage(10 * place, speaker, 0.5, 1.0) for place, speaker in enumerate(("Ann", "Bob", "Ann", "Bob"))]
    evidence = evidence_of("What did Ann say?", *rows)
    assert evidence.margin == pytest.approx(0)
    assert evidence.share == pytest.approx(0.5)


@pytest.mark.parametrize(("alike", "verdict"), [(0.3, "sure"), (0.29, "rings a bell")])
def test_passages_are_sure_only_where_the_first_means_what_is_asked(alike, verdict):
    """What stands first by its neighbours and its thread alone may not be it, however likely one of the five answers."""
    assert judged(Evidence(0.75, 0.9, held=0.99, alike=alike)).verdict == verdict


@pytest.mark.parametrize(("asks", "alike"), [(True, 0.6), (False, 0.1)])
def test_an_answer_means_what_the_question_before_it_means(asks, alike):
    """Two words that answer are like nothing that anybody asks; the question that they answer is. Other neighbours count not."""
    before, first = passage(1, "Ada", 0.6, 0.1), passage(2, "Bob", 0.1, 1.0)
    passages = (replace(before, question=asks), first, passage(3, "Ada", 0.5, 0.0))
    matrix = signal_matrix(passages, "which ribbon?")
    found = passage_evidence(passages, matrix, "which ribbon?", SignalWeights(), np.array([1, 0, 2]))
    assert found.alike == pytest.approx(alike)


def test_what_is_alike_is_so_to_the_question_as_it_was_put():
    """A question in the words of whom it names ranks; whether the first is alike is judged by the question itself."""
    first = replace(passage(1, "Ada", 0.9, 1.0), as_asked=0.2)
    matrix = signal_matrix((first,), "which ribbon?")
    found = passage_evidence((first,), matrix, "which ribbon?", SignalWeights(), np.array([0]))
    assert found.alike == pytest.approx(0.2)
