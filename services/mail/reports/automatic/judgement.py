"""Whether a mail without a responder's headers is an automatic reply: two kinds of evidence, or a person wrote it.

The kinds: a mail program's subject prefix, a responder's manners in the text (each manner one), a reply within seconds,
a body that came before. Within seconds a day, an address or a number to call is one too, in whatever language: nobody
types those so fast. What a person asks for outweighs them all, but for the prefix with a responder's words.
"""

from __future__ import annotations

import re

from services.mail.message import ParsedMail
from services.mail.reports.automatic.evidence import Wording, read_wording, shares
from services.mail.reports.automatic.subject_words import read_subject
from services.mail.subjects import base_subject

BARE_CHARS, NOTE_CHARS, LONGEST_CHARS = 300, 500, 6000
_QUOTED = re.compile(r"^\s{0,20}(?:\w{0,12}|[|+])\s?[>|]")
_SURE = frozenset(("absent", "answering", "declared", "gone", "shut", "unread"))  # nobody says so without meaning it
_BARE = frozenset(("absent", "unread", "declared", "no_reply", "promised"))  # what a responder may say and nothing else


def why_automatic(mail: ParsedMail, *, within_seconds: bool = False, seen_before: bool = False) -> str:
    """The evidence that a robot wrote a mail, in words, or "" for a person's.

    `within_seconds` and `seen_before` are what only a store knows: it answered a mail of ours faster than a person
    writes, and its sender has sent the same body before.
    """
    subject, text = read_subject(mail.subject), _own_text(mail)
    if len(text) > LONGEST_CHARS and not (subject.hint or within_seconds or seen_before):
        return ""
    wording = read_wording(text, mail.language, to_the_end=bool(subject.prefix))
    if subject.prefix and _prefix_counts(mail, wording):
        return f"subject “{subject.prefix}”"
    if wording.demands or (wording.requests and not _declares(wording)):
        return ""
    known = [f"subject “{subject.hint}”"] if subject.hint else []
    known += [*(["a reply within seconds"] if within_seconds else []), *(["a body seen before"] if seen_before else [])]
    known += ["a day or whom to ask"] if within_seconds and wording.refers else []
    enough = len(known) + len(wording.kinds) > 1 if known else _is_enough(mail, text, wording)
    return ", ".join([*known, *(f"“{kind}”" for kind in sorted(wording.kinds))]) if enough else ""


def is_answer(mail: ParsedMail) -> bool:
    """Whether a mail answers another: by its ids, or by a prefix of its subject."""
    return answers_by_id(mail) or base_subject(mail.subject) != " ".join(mail.subject.split()).casefold()


def answers_by_id(mail: ParsedMail) -> bool:
    """Whether a mail's headers name the one that it answers."""
    return bool(mail.in_reply_to or mail.references)


def _prefix_counts(mail: ParsedMail, wording: Wording) -> bool:
    """In an answer, with a responder's manners, or where nobody asks for anything."""
    return answers_by_id(mail) or len(wording.kinds) > 1 or not (wording.demands or wording.requests)


def _declares(wording: Wording) -> bool:
    return "declared" in wording.kinds and len(wording.kinds) > 1


def _is_enough(mail: ParsedMail, text: str, wording: Wording) -> bool:
    """Words alone: two manners of which one is sure, in an answer, and hardly anything else in the text."""
    manners = wording.kinds
    if not manners or not (is_answer(mail) or _declares(wording) or len(manners) > 2):
        return False
    said, other = shares(text, mail.language)
    if len(manners) == 1:
        return bool(manners & _BARE) and not other and len(text) <= BARE_CHARS
    return 2 * other <= said and bool(manners & _SURE or len(text) <= NOTE_CHARS)


def _own_text(mail: ParsedMail) -> str:
    text = mail.reply.new or mail.text
    return "\n".join(line for line in text.split("\n") if not _QUOTED.match(line))
