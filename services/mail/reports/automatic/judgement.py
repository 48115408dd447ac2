"""Whether a mail without a responder's headers is an automatic reply: two kinds of evidence, or a person wrote it.

The kinds: a mail program's subject prefix, a responder's manners in the text, a reply sooner than anyone types it, a
body that came before. Two of them make a robot, and so do three manners. Where there is less it is a doubt, which a
person settles: to answer a robot costs a mail, to set a person aside in silence costs a customer. So is a prefix that
is all of the subject, unless the words are a robot's. What a person asks for outweighs all of them, but for the prefix
with a responder's words, and where nobody can have read what is answered: that is a doubt, whatever the words are (ADR
430).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache

from services.core.wording import lines_of
from services.mail.message import ParsedMail
from services.mail.reports.automatic.evidence import PACKAGE, Wording, read_wording, shares
from services.mail.reports.automatic.phrases import Sentence, Tables, is_unspaced, tables, words_of
from services.mail.thread_ids import MAX_CHARS, base_subject

# What a subject says about who wrote the mail: a mail program's prefix, or words that robots use too.
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


# Whether a text came sooner than anyone types it: evidence that needs no language.
#
# A robot answers at once, and its `Date` says when, however long the mail was on its way. A person opens the mail,
# reads it, and types.
UNREAD = timedelta(seconds=15)  # in which nobody gets a mail, opens it, reads it and answers
OPENING = timedelta(seconds=10)  # to get the mail, open it and read a few words
LETTERS_A_SECOND = 10  # 120 words a minute, which few people type
LONGEST = timedelta(seconds=60)  # a text that takes longer may have been prepared, and pasted
CLOCKS = timedelta(seconds=30)  # by which the clocks of two servers may differ
LETTERS_OF_A_SIGN = 3  # one Han character, kana or Hangul syllable takes as long as three letters
MUCH = 30  # letters that nobody taps in passing, as "thank you" is
_SIGNS = "\u2e80"


def too_soon(text: str, left: datetime, came: datetime, written: datetime | None) -> bool:
    """Whether nobody can have typed `text` as an answer to our mail: by when it came, or by its own `Date`."""
    return _within(min(OPENING + timedelta(seconds=_letters(text) / LETTERS_A_SECOND), LONGEST), left, came, written)


def unread(left: datetime, came: datetime, written: datetime | None) -> bool:
    """Whether nobody can have read our mail before this answer to it, however short it is."""
    return _within(UNREAD, left, came, written)


def says_much(text: str) -> bool:
    """Whether a text is more than a word of thanks."""
    return _letters(text) >= MUCH


def _within(needed: timedelta, left: datetime, came: datetime, written: datetime | None) -> bool:
    return came - left <= needed or (written is not None and -CLOCKS <= written - left <= needed)


def _letters(text: str) -> int:
    return sum(LETTERS_OF_A_SIGN if one >= _SIGNS else 1 for one in text if not one.isspace())


BARE_CHARS, NOTE_CHARS, LONGEST_CHARS = 300, 500, 6000
SURE_MANNERS = 3  # with nothing else in the text: people who write about leave and receipts show two, hardly ever three
SURE_SENTENCES = 2  # among which they are: one sentence of a person ("closed on Wednesday until six") may hold them
_UNREAD = "it answers ours within 15 s, sooner than anyone reads a mail"
_QUOTED = re.compile(r"^\s{0,20}(?:\w{0,12}|[|+])\s?[>|]")
_SPOKEN = re.compile(  # what a person reports that a robot said
    r"\"[^\"\n]{12,300}\"|“[^”\n]{12,300}”|„[^“”\n]{12,300}[“”]|«[^»\n]{12,300}»|「[^」\n]{6,300}」"
)
_SURE = frozenset(("absent", "answering", "declared", "gone", "unread"))  # nobody says so without meaning it
_BARE = frozenset(("absent", "unread", "declared", "no_reply", "promised"))  # what a responder may say and nothing else


@dataclass(frozen=True, slots=True)
class Judgement:
    """The evidence that a robot wrote a mail, in words; "" for a person's. Without `sure` a person has to look."""

    why: str = ""
    sure: bool = False


def judge_automatic(
    mail: ParsedMail, *, unread: bool = False, within_seconds: bool = False, seen_before: bool = False
) -> Judgement:
    """Who wrote a mail, by its subject and its words.

    The rest is what only a store knows: it answered a mail of ours sooner than anyone reads ours (`unread`) or types it
    (`within_seconds`), and its sender has sent the same body before (`seen_before`).
    """
    found = _judged(mail, within_seconds, seen_before)
    return Judgement(_UNREAD) if unread and not found.why else found


def _judged(mail: ParsedMail, within_seconds: bool, seen_before: bool) -> Judgement:
    subject, text = read_subject(mail.subject), _own_text(mail)
    if len(text) > LONGEST_CHARS and not (subject.hint or within_seconds or seen_before):
        return Judgement()
    wording = read_wording(text, mail.language, to_the_end=bool(subject.prefix))
    if subject.prefix and _prefix_counts(mail, wording):
        return Judgement(f"subject “{subject.prefix}”", sure=not subject.alone or _is_robots(mail, wording))
    asked = wording.requests and not _declares(wording)
    if wording.demands or (asked and not within_seconds):
        return Judgement()
    habits = [*(["a reply sooner than anyone types it"] if within_seconds else [])]
    habits += ["a body seen before"] if seen_before else []
    known = [*([f"subject “{subject.hint}”"] if subject.hint else []), *habits]
    known += ["a day or whom to ask"] if within_seconds and wording.refers else []
    why = ", ".join([*known, *(f"“{kind}”" for kind in sorted(wording.kinds))])
    if known and len(known) + len(wording.kinds) > 1 and not asked:
        return Judgement(why, sure=True)
    if habits:
        return Judgement(why) if says_much(text) else Judgement()
    if subject.before and answers_by_id(mail):
        return Judgement("a robot's words before the subject")
    return Judgement() if known else _by_words(mail, text, wording, why)


def is_answer(mail: ParsedMail) -> bool:
    """Whether a mail answers another: by its ids, or by a prefix of its subject."""
    return answers_by_id(mail) or base_subject(mail.subject) != " ".join(mail.subject.split()).casefold()


def answers_by_id(mail: ParsedMail) -> bool:
    """Whether a mail's headers name the one that it answers."""
    return bool(mail.in_reply_to or mail.references)


def _prefix_counts(mail: ParsedMail, wording: Wording) -> bool:
    """In an answer, with a responder's manners, or where nobody asks for anything."""
    return answers_by_id(mail) or len(wording.kinds) > 1 or not (wording.demands or wording.requests)


def _is_robots(mail: ParsedMail, wording: Wording) -> bool:
    """Whether a text below nothing but a prefix is a robot's for sure: its manners, and no demand."""
    return not (wording.demands or wording.requests) and (len(wording.kinds) > 1 or answers_by_id(mail))


def _declares(wording: Wording) -> bool:
    return "declared" in wording.kinds and len(wording.kinds) > 1


def _by_words(mail: ParsedMail, text: str, wording: Wording, why: str) -> Judgement:
    """Words alone: two manners of which one is sure, in an answer, and hardly anything else in the text."""
    manners = wording.kinds
    if not manners or not (is_answer(mail) or _declares(wording) or len(manners) > 2):
        return Judgement()
    found = shares(text, mail.language)
    if len(manners) == 1:
        enough = bool(manners & _BARE) and not found.other and len(text) <= BARE_CHARS
    else:
        enough = 2 * found.other <= found.said and bool(manners & _SURE or len(text) <= NOTE_CHARS)
    sure = len(manners) >= SURE_MANNERS and found.sentences >= SURE_SENTENCES and not found.other
    return Judgement(why, sure=sure) if enough else Judgement()


def _own_text(mail: ParsedMail) -> str:
    text = mail.reply.new or mail.text
    own = "\n".join(line for line in text.split("\n") if not _QUOTED.match(line))
    return _SPOKEN.sub("…", own) if len(own) <= LONGEST_CHARS else own
