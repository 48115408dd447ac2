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

from services.mail.message import ParsedMail
from services.mail.reports.automatic.evidence import Wording, read_wording, shares
from services.mail.reports.automatic.haste import says_much
from services.mail.reports.automatic.subject_words import read_subject
from services.mail.subjects import base_subject

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
