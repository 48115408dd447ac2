"""A question about somebody, in the words in which they would have said it: "what did Maria buy" as "what did I buy".

Who is spoken of by name in a question speaks of themselves as I in their messages, while every message that greets them
lies near their name. Measured on LoCoMo (docs/benchmarks.md).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import islice

from services.memory.embeddings import Embedder, Vector, meanings

LANGUAGE = "en"  # whose words for oneself stand here, and in which it was measured
MOST = 20  # words of names

_NAME = re.compile(r"[^\W\d_]{3,40}")
_OWNED = r"(['’]s\b|(?<=s)['’](?=\s))"


async def own_words(embedder: Embedder, question: str, names: Iterable[str], language: str) -> Vector | None:
    """The meaning of a question in the words of whom it names; None where it names nobody, or is not in English."""
    said = voiced(question, names) if language == LANGUAGE else question
    if said == question:
        return None
    (meaning,) = await meanings(embedder, [said])
    return meaning.vector


def voiced(question: str, names: Iterable[str]) -> str:
    """An English question with I for each of the names, and my for what is theirs; a name alone stays as it is.

    Only what is written with a capital is a name: who is called Will May does not take "will" and "may" from it.
    """
    words = islice((word for name in names for word in _NAME.findall(name)), MOST)
    spelled = sorted({form for word in words for form in (word, word.capitalize()) if form[0].isupper()}, reverse=True)
    if not spelled:
        return question
    one = "|".join(spelled)
    name = re.compile(rf"\b(?:{one})(?: (?:{one}))*\b{_OWNED}?")
    says_more = re.search(r"\w", name.sub("", question))
    return name.sub(lambda found: "my" if found[1] else "I", question) if says_more else question
