from dataclasses import replace
from datetime import UTC, datetime
from uuid import UUID, uuid5

import numpy as np
import pytest

from services.memory.periods import Window
from services.memory.signals import (
    SAID_WEIGHTS,
    SIGNALS,
    Passage,
    SignalWeights,
    named_speakers,
    signal_matrix,
    spread,
    weighed,
)

SPACE = UUID(int=7)


def passage(position: int, *, stream: str = "a", speaker: str = "Ann", **changes: object) -> Passage:
    values = {
        "length": 80,
        "question": False,
        "similarity": 0.1,
        "lexical": 0.0,
        "coverage": 0.0,
        "stream_lexical": 0.0,
        **changes,
    }
    return Passage(uuid5(SPACE, f"{stream}{position}"), uuid5(SPACE, stream), position, speaker, **values)


def column(matrix: np.ndarray, name: str) -> list[float]:
    return matrix[:, SIGNALS.index(name)].tolist()


def test_a_passage_inherits_from_the_ones_beside_it():
    """What stands in the turn before is a signal of its own, because the question precedes the answer."""
    matrix = signal_matrix([passage(0, lexical=4.0), passage(1), passage(2)], "q")
    assert column(matrix, "lexical") == [1, 0, 0]
    assert column(matrix, "lexical_before") == [0, 1, 0]
    assert column(matrix, "lexical_two_before") == [0, 0, 1]


def test_neighbours_end_at_the_stream():
    """The last turn of one session is not the neighbour of the first turn of the next."""
    matrix = signal_matrix([passage(0, lexical=4.0), passage(1, stream="b")], "q")
    assert column(matrix, "lexical_before") == [0, 0]


def test_a_missing_neighbour_adds_nothing():
    """Positions may have gaps: a deleted turn is simply not there."""
    matrix = signal_matrix([passage(0, lexical=4.0), passage(2)], "q")
    assert column(matrix, "lexical_before") == [0, 0]
    assert column(matrix, "lexical_two_before") == [0, 1]


def test_the_best_of_a_stream_lifts_all_of_it():
    """Every passage of a stream knows how near the stream's best one is."""
    rows = [passage(0, similarity=0.9), passage(1, similarity=0.1), passage(0, stream="b", similarity=0.2)]
    assert column(signal_matrix(rows, "q"), "stream_dense") == [1, 1, 0]


def test_without_vectors_words_still_rank():
    """Before anything is embedded, the words alone decide and nothing is infinite or missing."""
    rows = [passage(0, similarity=None), passage(1, similarity=None, lexical=3.0)]
    scores = weighed(signal_matrix(rows, "q"), SignalWeights())
    assert np.isfinite(scores).all()
    assert scores[1] > scores[0]


@pytest.mark.parametrize(
    ("query", "named"),
    [
        ("What did Ann buy?", {"Ann Berg"}),
        ("what did ann's brother say", {"Ann Berg"}),
        ("When did Berg call Carlos?", {"Ann Berg", "Carlos"}),
        ("What was an order?", set()),
        ("", set()),
    ],
)
def test_speakers_are_named_by_any_part_of_their_name(query, named):
    """A query names a speaker by first or last name, in any case, but not by a part of a word."""
    assert named_speakers(query, ["Ann Berg", "Carlos"]) == named


def test_naming_two_speakers_says_nothing():
    """Only a query about one of them favours what that one said."""
    rows = [passage(0, speaker="Ann"), passage(1, speaker="Carlos")]
    assert column(signal_matrix(rows, "Did Ann meet Carlos?"), "speaker_named") == [0, 0]
    assert column(signal_matrix(rows, "Did Carlos travel?"), "speaker_named") == [0, 1]


def test_every_weight_has_a_column():
    """The matrix has one column for each weight, in the same order."""
    assert signal_matrix([passage(0)], "q").shape == (1, len(SIGNALS))


def test_length_stops_counting_at_a_paragraph():
    """A greeting has no substance, a paragraph has all of it, and a long chunk has no more than that."""
    rows = [passage(n, length=length) for n, length in enumerate((3, 20, 100, 400, 4000))]
    greeting, shortest, sentence, paragraph, chunk = column(signal_matrix(rows, "q"), "length")
    assert greeting == shortest == 0
    assert 0 < sentence < 1
    assert paragraph == chunk == 1


def test_a_time_that_the_question_names_speaks_for_what_was_said_about_then() -> None:
    """Within it fully, outside less with distance; without a time, or a moment, not at all."""
    march = Window(datetime(2026, 3, 1, tzinfo=UTC), datetime(2026, 4, 1, tzinfo=UTC))
    moments = (datetime(2026, 3, 9, tzinfo=UTC), datetime(2026, 5, 2, tzinfo=UTC), None)
    rows = [replace(passage(place), at=at) for place, at in enumerate(moments)]
    assert column(signal_matrix(rows, "q", march), "timely") == [1.0, pytest.approx(0.5), 0.0]
    assert column(signal_matrix(rows, "q"), "timely") == [0.0, 0.0, 0.0]
    scores = weighed(signal_matrix(rows, "q", march), SAID_WEIGHTS)
    assert scores.argmax() == 0


def test_a_long_message_does_not_win_by_its_length() -> None:
    """What was said is weighed without length, where one side writes long answers."""
    short, long = passage(0, length=30), passage(9, length=400)
    assert len(set(weighed(signal_matrix([short, long], "q"), SAID_WEIGHTS))) == 1


def test_what_follows_a_question_may_answer_it_in_two_words() -> None:
    """Where we asked just what is asked now, the next message says it, whatever its own words."""
    rows = [passage(0, question=True, lexical=4.0, similarity=0.9), passage(1), passage(2)]
    matrix = signal_matrix(rows, "q")
    assert column(matrix, "answers_lexical") == [0, 1, 0]
    assert column(matrix, "answers_dense") == [0, 1, 0]
    told = signal_matrix([replace(rows[0], question=False), *rows[1:]], "q")
    assert column(told, "answers_lexical") == column(told, "answers_dense") == [0, 0, 0]


def test_who_is_named_counts_as_much_as_what_they_say_fits() -> None:
    """Of the named one's passages those that also fit are lifted, not each of them alike."""
    rows = [
        passage(0, speaker="Ann", lexical=4.0, similarity=0.9),
        passage(1, speaker="Ann"),
        passage(2, speaker="Carlos", lexical=4.0, similarity=0.9),
    ]
    matrix = signal_matrix(rows, "Did Ann travel?")
    assert column(matrix, "named_lexical") == column(matrix, "named_dense") == [1, 0, 0]


def test_one_hit_filled_the_first_ten_with_what_stands_around_it() -> None:
    """Each better passage of the same stream costs a share, so that another stream's comes before the third."""
    rows = [passage(0), passage(1), passage(2), passage(0, stream="b")]
    scores = spread(np.array([1.0, 0.95, 0.9, 0.85]), rows, 0.1)
    assert np.argsort(-scores, kind="stable").tolist() == [0, 1, 3, 2]
    assert scores.tolist() == pytest.approx([1.0, 0.85, 0.7, 0.85])
    assert spread(np.array([1.0, 0.5]), rows[:2], 0.0).tolist() == [1.0, 0.5]
