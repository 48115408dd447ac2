"""What the author of a mail wants from us: a person, a refund, nothing, or answers.

Each rule is one pattern over the author's own new text; greetings and signatures are left out first.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from services.model.offline.questions import questions_of
from services.model.offline.sentences import one_line, sentences, words

_GREETING = re.compile(
    r"^(?:hi|hello|hey|dear|good (?:morning|afternoon|evening)|greetings)\b[^\n]{0,40}?[,!:\n]\s*", re.I
)
_CLOSING = re.compile(
    r"^(?:(?:best|kind|warm|many)(?: (?:regards|wishes))?|regards|cheers|sincerely|thanks|thank you|yours(?: \w{1,30})?"
    r"|thanks in advance|many thanks)\s*+[,.!]?\s*+$",
    re.I,
)
_PERSON = re.compile(
    r"""\b(?:speak|talk|chat|get\ through|connect\ me|put\ me\ through|transfer\ me|escalate)\b[^.?!]{0,40}
        \b(?:manager|supervisor|human|(?:real\ |actual\ )?person|someone|somebody|boss|agent|representative)\b
    |\b(?:get|give|want|need|demand)\ (?:(?:me|us|to\ (?:see|reach|contact))\ )?(?:(?:an?|your|the|my|some)\ )?
        (?:manager|supervisor|human|(?:real\ )?person)\b
    |^(?:a\ )?(?:human|real\ person)(?:,?\ please)?[.!]*$
    |\bnot\ (?:a\ )?(?:machine|bot|robot|ai)\b|\bescalate\ (?:this|it|my|our)\b""",
    re.I | re.X,
)
_LEGAL = re.compile(
    r"\b(?:my|our) (?:lawyers?|attorneys?|solicitors?|legal (?:team|counsel))\b|\blegal (?:action|steps|proceedings)\b"
    r"|\b(?:sue|lawsuit|take (?:you|this) to court|press charges|charge ?back|data protection authority)\b",
    re.I,
)
_REFUND = re.compile(
    r"\b(?:want|need|demand|request|expect|like|ask(?:ing)? for|please|give|get)\b[^.?!]{0,30}"
    r"\b(?:refund|money back|reimburse\w*|compensation|credit for)\b|\brefund (?:me|us|my|our|the)\b",
    re.I,
)
_POLICY_QUESTION = re.compile(
    r"\brefund (?:policy|rules|terms)\b|\b(?:is|are|what|how|do you|can)\b.{0,300}\brefunds?\b.{0,300}\?", re.I
)
_SECURITY = re.compile(
    r"\b(?:hacked|data breach|security breach|vulnerabilit\w+|account (?:was|is) compromised)\b", re.I
)
_SETTLED = re.compile(
    r"\b(?:solved|resolved|fixed|works? (?:now|again|fine)|working (?:now|again)|all (?:good|set|done|clear)"
    r"|that (?:explains|answers|clears|helps|helped|did it|worked)|no (?:further|more) questions)\b",
    re.I,
)
_NOTHING_LEFT = re.compile(
    r"^(?:(?:ok(?:ay)?|great|perfect|super|wonderful|excellent|got it|understood|noted|will do|sounds good"
    r"|much appreciated|no worries|thanks?|thank you|many thanks|thx|cheers|have a (?:nice|good|great)"
    r"|all (?:good|set|solved|done|clear)|that (?:explains|answers|clears|helps|helped|did it|worked|solves|solved)"
    r"|it works|works|solved|no (?:further|more))\b)",
    re.I,
)
_RECALL = re.compile(
    r"\bfollow(?:ing)?[- ]up\b|\bwhere (?:do )?(?:we|things|it) (?:stand|are)|\bwhere we are\b|\b(?:our|the) (?:last )?"
    r"(?:chat|conversation|discussion|call)\b|\bwhat (?:did )?we (?:discuss|talk|agree)\w*|\bany (?:news|updates?)\b"
    r"|\blast time\b|\bas discussed\b",
    re.I,
)
_OWN = re.compile(r"\b(?:we|our|us|my|I|mine|ours)\b")
_YET = re.compile(r"\b(?:but|however|still|yet|unfortunately|except|although|only)\b", re.I)
_ACKNOWLEDGEMENT_WORDS = 30


@dataclass(frozen=True, slots=True)
class Requests:
    """A mail, understood as far as rules go. `questions` are verbatim spans of it."""

    person: str  # why a person has to take over, or ""
    nothing: bool  # pure thanks or acknowledgement
    settled: bool
    recall: bool  # asks where things stand, of an earlier conversation
    questions: tuple[str, ...]


def read_requests(text: str) -> Requests:
    """What the new text of a mail asks for."""
    body = body_of(text)
    said = sentences(body)
    questions = questions_of(said)
    settled = bool(_SETTLED.search(one_line(body))) and not re.search(
        r"\bnot (?:solved|resolved|fixed|working)", body, re.I
    )
    return Requests(
        person=_needs_person(body, said),
        nothing=_is_acknowledgement(said, questions),
        settled=settled and not questions,
        recall=bool(_RECALL.search(one_line(body))),
        questions=questions,
    )


def body_of(text: str) -> str:
    """The text without its greeting line and what follows a closing line ("Best regards,")."""
    text = _GREETING.sub("", text.strip(), count=1)
    lines = text.splitlines()
    for number, line in enumerate(lines):
        if number and _CLOSING.match(line.strip()):
            return "\n".join(lines[:number]).strip()
    return "\n".join(_without_name(lines)).strip()


def about_us(question: str) -> bool:
    """Whether the question is about the author's own affairs, so that memory may answer it."""
    return bool(_OWN.search(question))


def _without_name(lines: list[str]) -> list[str]:
    """Without a last line that only signs: one to three capitalised words after a blank line."""
    while lines and not lines[-1].strip():
        lines = lines[:-1]
    signed = (
        len(lines) > 1 and not lines[-2].strip() and re.fullmatch(r"[A-Z][\w.'-]*(?: [A-Z][\w.'-]*){0,2}", lines[-1])
    )
    return lines[:-1] if signed else lines


def _needs_person(body: str, said: list[str]) -> str:
    flat = one_line(body)
    if _PERSON.search(flat):
        return "The customer asks for a person."
    if _LEGAL.search(flat):
        return "The customer speaks of legal steps or a charge-back."
    if any(_REFUND.search(one_line(one)) and not _POLICY_QUESTION.search(one_line(one)) for one in said):
        return "The customer asks for money back, which a person decides."
    if _SECURITY.search(flat):
        return "The customer reports a security matter."
    return ""


def _is_acknowledgement(said: list[str], questions: tuple[str, ...]) -> bool:
    if not said or questions or sum(len(words(one)) for one in said) > _ACKNOWLEDGEMENT_WORDS:
        return False
    return all(_NOTHING_LEFT.search(one_line(one)) and not _YET.search(one) for one in said)
