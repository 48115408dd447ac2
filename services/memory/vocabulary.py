"""The tokenizer of the local embedder: BERT's uncased WordPiece over the vocabulary file carried next to it.

Invariant: a text's token ids depend on nothing but the text; no network, no cache, no global state.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from tokenizers import BertWordPieceTokenizer

VOCABULARY = Path(__file__).with_name("minilm_vocabulary.txt")
MAX_TOKENS = 256  # what all-MiniLM-L6-v2 was trained with, [CLS] and [SEP] included

Ids = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class TokenBatch:
    """Token ids and attention mask of n texts, both of shape (n, longest), padded with [PAD] = 0."""

    ids: Ids
    mask: Ids


class WordPiece:
    """Turns texts into padded batches of token ids, cut after `max_tokens`."""

    def __init__(self, vocabulary: Path = VOCABULARY, max_tokens: int = MAX_TOKENS) -> None:
        self._tokenizer = BertWordPieceTokenizer(str(vocabulary), lowercase=True)
        self._tokenizer.enable_truncation(max_tokens)
        self._tokenizer.enable_padding()

    def encode(self, texts: Sequence[str]) -> TokenBatch:
        """The texts as one batch; an empty text still has its [CLS] and [SEP]."""
        encoded = self._tokenizer.encode_batch(list(texts))
        return TokenBatch(
            ids=np.array([e.ids for e in encoded], dtype=np.int64),
            mask=np.array([e.attention_mask for e in encoded], dtype=np.int64),
        )
