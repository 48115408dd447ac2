import numpy as np
import pytest

from services.memory.embeddings import MiniLM, normalise
from services.memory.vocabulary import VOCABULARY, WordPiece


@pytest.fixture(scope="module")
def minilm():
    return MiniLM()


def test_vectors_have_length_one(minilm):
    """Every vector is float32, 384 long and of length 1."""
    for vector in minilm.embed_now(["one", "a longer text about an order", ""]):
        assert vector.dtype == np.float32
        assert vector.shape == (384,)
        assert np.linalg.norm(vector) == pytest.approx(1, abs=1e-5)


@pytest.mark.parametrize(
    ("text", "near", "far"),
    [
        ("My internet drops every evening", "The router keeps losing its connection", "I prefer tea to coffee"),
        ("Please send the money back", "I would like a refund", "What are your opening hours?"),
        ("The parcel never arrived", "My delivery is missing", "Can you reset my password?"),
    ],
)
def test_like_meanings_are_nearer_than_unlike_ones(minilm, text, near, far):
    """Sentences of like meaning have a clearly higher cosine than unlike ones, without a common word."""
    a, b, c = minilm.embed_now([text, near, far])
    assert a @ b > a @ c + 0.2


def test_a_vector_does_not_depend_on_its_batch(minilm):
    """A text has the same vector alone and beside longer texts, else it could not be cached by its hash."""
    texts = ["refund", "an order that was placed " * 12, "late parcel"]
    for text, together in zip(texts, minilm.embed_now(texts), strict=True):
        assert minilm.embed_now([text])[0] @ together == pytest.approx(1, abs=1e-4)


def test_order_is_kept_across_batches(minilm):
    """Vectors come back in the order of the texts, although batches are made by length."""
    texts = [f"{'word ' * (n % 7)}number {n}" for n in range(20)]
    together = minilm.embed_now(texts)
    assert all(minilm.embed_now([t])[0] @ v > 0.999 for t, v in zip(texts, together, strict=True))


def test_tokenizer_lowers_and_splits_into_known_pieces():
    """The tokenizer is BERT's uncased one: lower case, accents stripped, rare words in pieces, padded with 0."""
    pieces = VOCABULARY.read_text(encoding="utf-8").split("\n")
    batch = WordPiece().encode(["Café embeddings", "ok"])
    read = [[pieces[i] for i in row] for row in batch.ids.tolist()]
    assert read[0] == ["[CLS]", "cafe", "em", "##bed", "##ding", "##s", "[SEP]"]
    assert read[1] == ["[CLS]", "ok", "[SEP]", "[PAD]", "[PAD]", "[PAD]", "[PAD]"]
    assert batch.mask.sum(axis=1).tolist() == [7, 3]


def test_a_text_of_zeros_stays_finite():
    """Normalising never divides by zero."""
    assert normalise(np.zeros((1, 3), dtype=np.float32)).tolist() == [[0.0, 0.0, 0.0]]
