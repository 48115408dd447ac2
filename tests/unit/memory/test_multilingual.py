import threading

import numpy as np
import pytest

from services.core.app import make_embedder
from services.core.settings import EmbeddingSettings
from services.memory.embeddings import MiniLM
from services.memory.multilingual import MOST_CHARACTERS, Multilingual


@pytest.fixture(scope="module")
def embedder() -> Multilingual:
    return Multilingual()


def test_the_default_is_for_any_language_and_the_english_one_an_option() -> None:
    """Without a word the multilingual embedder is used; `minilm` asks for the English one."""
    assert isinstance(make_embedder(EmbeddingSettings()), Multilingual)
    assert isinstance(make_embedder(EmbeddingSettings(model="minilm")), MiniLM)


def test_vectors_have_length_one(embedder: Multilingual) -> None:
    """Every vector is float32, 896 long and of length 1, whatever the text."""
    for vector in embedder.embed_now(["one", "", " ", "\x00\ud800", "契約はいつ更新されますか？", "🎉" * 5000]):
        assert vector.dtype == np.float32
        assert vector.shape == (embedder.dimensions,)
        assert np.linalg.norm(vector) == pytest.approx(1, abs=1e-3)


def test_nothing_to_embed_is_nothing(embedder: Multilingual) -> None:
    """No text, no vector."""
    assert embedder.embed_now([]) == []


def test_a_long_text_is_cut(embedder: Multilingual) -> None:
    """What a stranger sends costs no more than its beginning."""
    start = "The parcel never arrived. " * 100
    assert len(start) > MOST_CHARACTERS
    (one,), (other,) = embedder.embed_now([start]), embedder.embed_now([start + "x" * 1_000_000])
    assert one @ other == pytest.approx(1, abs=1e-4)


@pytest.mark.parametrize(
    ("question", "answer", "other"),
    [
        (
            "Wann verlängert sich unser Abonnement?",
            "The subscription renews on 3 March.",
            "Ada works as an accountant.",
        ),
        ("Combien d'utilisateurs avons-nous ?", "They have 14 users.", "The trial ends on 12 October."),
        ("契約はいつ更新されますか？", "The subscription renews on 3 March.", "Ben runs a bakery in Leeds."),
    ],
)
def test_languages_share_one_space(embedder: Multilingual, question: str, answer: str, other: str) -> None:
    """A question is nearer to its answer in another language than to another fact."""
    asked, told, unlike = embedder.embed_now([question, answer, other])
    assert asked @ told > asked @ unlike + 0.1


def test_strangers_in_one_language_are_not_alike(embedder: Multilingual) -> None:
    """To speak the same language is no likeness: to an English model these two have a cosine of .5."""
    asked, fact = embedder.embed_now(["Qui a peint le tableau du couloir ?", "Ils ont 14 utilisateurs."])
    assert asked @ fact < 0.3


def test_threads_do_not_disturb_each_other(embedder: Multilingual) -> None:
    """Texts that are embedded at the same time have the vectors that they have alone."""
    texts = [f"order number {n} was late by {n} days" for n in range(24)]
    alone = embedder.embed_now(texts)
    found: dict[int, np.ndarray] = {}
    workers = [
        threading.Thread(target=lambda n=n: found.update({n: embedder.embed_now([texts[n]])[0]})) for n in range(24)
    ]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert all(found[n] @ alone[n] == pytest.approx(1, abs=1e-3) for n in range(24))
