"""What a subject says about who wrote the mail: a mail program's prefix, or words that robots use too."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

from services.core.wording import lines_of
from services.mail.reports.automatic.evidence import PACKAGE
from services.mail.reports.automatic.sentences import Sentence, is_unspaced, words_of
from services.mail.reports.automatic.tables import Tables, tables
from services.mail.subjects import MAX_CHARS, base_subject

MAX_TAGS = 3
_TAG = re.compile(
    r"\s{0,9}(?:\[[^\[\]]{1,40}\]|\{[^{}]{1,40}\}|\*{2,5}[^*]{1,40}\*{2,5}|EXTERN(?:AL|E|O|AL E-?MAIL)?\s?:)"
    r"\s{0,9}:?\s{0,9}"
)


@dataclass(frozen=True, slots=True)
class SubjectWords:
    """The prefix, and the words that are evidence next to others; each "" where there is none.

    `before`: robots' words and a colon stand before another subject, as mail programs and no people put them.
    `alone`: the prefix is all of the subject, as a person too may write who speaks of such a reply or goes away.
    """

    prefix: str = ""
    hint: str = ""
    alone: bool = False
    before: bool = False


def read_subject(subject: str) -> SubjectWords:
    """What a subject begins with. Behind `Re:` a prefix is none: somebody answers a robot."""
    tags, untagged = _untagged(subject[:MAX_CHARS].replace("\uff1a", ":"))
    head, _, rest = untagged.partition(":")
    words = words_of(head)
    asks = head.rstrip().endswith(("?", "？", "؟"))  # "Auto-reply?" is a person's subject
    prefix = next((one for one in (words, _without_reply(words)) if one in _prefixes() and not asks), ())
    if prefix:
        return SubjectWords(" ".join(prefix), " ".join(prefix), alone=not rest.strip())
    said = (words, words_of(rest.partition(":")[0]), *tags)
    hint = next((" ".join(one) for one in said if _is_hint(one)), "")
    before = bool(rest.strip()) and len(words) <= _longest_prefix() and (_is_hint(words) or _is_automatic(words))
    return SubjectWords(hint=hint, before=before)


def _untagged(subject: str) -> tuple[list[tuple[str, ...]], str]:
    """What gateways and ticket systems put before the subject (`[EXTERN]`, `[Request received]`), and the rest of it.

    A prefix in brackets stays.
    """
    tags = list[tuple[str, ...]]()
    for _ in range(MAX_TAGS):
        tag = _TAG.match(subject)
        if tag is None or words_of(tag[0]) in _prefixes():
            break
        tags.append(words_of(tag[0]))
        subject = subject[tag.end() :]
    return tags, subject


def _is_automatic(words: tuple[str, ...]) -> bool:
    return any(stem in word for word in (*words, "".join(words)) for stem in _stems())


def _is_hint(words: tuple[str, ...]) -> bool:
    text = " ".join(words)
    begins = any(words[:length] in _prefixes() for length in range(1, _longest_prefix() + 1))
    if begins or _hints().opening(words) or _statements().kinds(Sentence(words, text)):
        return True
    return is_unspaced(text) and bool(_hints().kinds(Sentence((), text)))


def _without_reply(words: tuple[str, ...]) -> tuple[str, ...]:
    return words[:-1] if len(words) > 1 and base_subject(f"{words[-1]}:") == "" else words


def _hints() -> Tables:
    return tables(PACKAGE, ("subjects",))


def _statements() -> Tables:
    return tables(PACKAGE, ("subject_statements",))


@cache
def _prefixes() -> frozenset[tuple[str, ...]]:
    return frozenset(words_of(line) for line in lines_of(PACKAGE, "prefixes"))


@cache
def _longest_prefix() -> int:
    return max(map(len, _prefixes()))


@cache
def _stems() -> tuple[str, ...]:
    """Parts of words that say "automatic", as `words_of` folds."""
    return tuple("".join(words_of(one)) for one in lines_of(PACKAGE, "automatic_stems"))
