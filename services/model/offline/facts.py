"""Facts that an author states about themselves, each with the words it was read from.

Precise rather than greedy: a rule asks for a first person, a stated thing and no doubt; questions, requests and
conditions state nothing. A fact's quote is a verbatim span of the author's text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date

from services.model.offline.dates import DATE, read_date
from services.model.offline.lexicon import NOT_A_NAME
from services.model.offline.sentences import one_line, sentences, terms

_QUOTE_LIMIT = 300
_KEY_LIMIT = 80
_MANY = ("preference", "goal", "uses")
_TOPIC_WORDS = 3
_NAME = r"[A-Z][\w'’-]+(?: (?:van|von|de|der|da|di|la|al|el|bin|[A-Z]\.))*(?: [A-Z][\w'’-]+){0,2}"
_FIRM = r"[A-Z][\w&'’-]*(?: (?:[A-Z&][\w&'’-]*))*"
_DOUBT = re.compile(
    r"\b(?:if|whether|considering|thinking|might|maybe|perhaps|would|could|should|may|interested|wonder\w*"
    r"|looking into|want(?:ed)? to|not yet|no longer|never)\b|\bnot (?:on|upgrad\w+|subscribed)\b|n['’]t\b",
    re.I,
)
_ROLE = (
    r"(?:(?:head|director|VP|vice president) of [a-z]+(?: (?!at|for|in|with|and)[a-z]+)?"
    r"|CTO|CEO|CFO|COO|CIO|(?:co-)?founder|owner"
    r"|(?:[a-z]+ ){0,2}(?:manager|administrator|admin|engineer|developer|accountant|assistant|director|consultant))"
)


@dataclass(frozen=True, slots=True)
class Stated:
    """One stated fact; `quote` is a verbatim span of at most 300 characters."""

    kind: str
    key: str
    value: str
    quote: str
    importance: int
    valid_to: date | None = None


@dataclass(frozen=True, slots=True)
class _Rule:
    kind: str
    key: str
    pattern: re.Pattern[str]
    importance: int
    in_doubt: bool = False  # may stand in a sentence that holds a condition or a question
    check: Callable[[str], bool] = lambda value: True


def _is_name(value: str) -> bool:
    return value.split()[0] not in NOT_A_NAME


def _is_person(value: str) -> bool:
    return _is_name(value) and not value.isupper()


def _rule(kind: str, key: str, importance: int, pattern: str, **more: object) -> _Rule:
    return _Rule(kind, key, re.compile(pattern), importance, **more)  # type: ignore[arg-type]


_CHANGING = r"upgrad(?:e|ed|ing)|switch(?:ed|ing)?|mov(?:e|ed|ing)|downgrad(?:e|ed|ing)|chang(?:e|ed|ing)"
_CHOOSING = (
    r"tak(?:e|en|ing)|took|chose|chosen|choos(?:e|ing)|book(?:ed|ing)?|order(?:ed|ing)?|bought|buy(?:ing)?"
    r"|go(?:ne|ing)? for|went for|decided (?:on|for)|opt(?:ed|ing)? for"
)
_PLAN = r"[\"'“‘«]?(?P<v>[A-Z][\w-]+)[\"'”’»]?(?: plan| tier| subscription)\b"
_WE_ARE = r"(?:[Ww]e are|[Ww]e['’]re|I am|I['’]m|[Ww]e have been|[Ww]e were moved)"
_RULES = (
    _rule("identity", "name", 9, rf"\b(?:I['’]m|I am|[Mm]y name is|[Tt]his is) (?P<v>{_NAME})(?=[ ,.!\n]|$)"
          rf"(?! (?:is|has|was|plan))", in_doubt=True, check=_is_person),
    _rule("identity", "name", 9, rf"^(?P<v>{_NAME}) (?:from|at|of) {_FIRM} here\b", in_doubt=True, check=_is_person),
    _rule("identity", "company", 8, rf"\b(?:I['’]m|I am|[Mm]y name is|[Tt]his is) {_NAME},? "
          rf"(?:and I work (?:at|for)|(?:\w+ )?(?:from|at|with|of)) (?P<v>{_FIRM})", in_doubt=True, check=_is_name),
    _rule("identity", "company", 8, rf"^{_NAME} (?:from|at|of) (?P<v>{_FIRM}) here\b", in_doubt=True, check=_is_name),
    _rule("identity", "company", 8, rf"\b(?:I|[Ww]e) work (?:at|for) (?P<v>{_FIRM})", in_doubt=True, check=_is_name),
    _rule("identity", "company", 8, rf"\b[Oo]ur company,? (?:is (?:called )?)?(?P<v>{_FIRM})", check=_is_name),
    _rule("identity", "role", 7, rf"\bI(?:['’]m| am) (?:the |a |an |our )?(?:new )?(?P<v>{_ROLE})\b"),
    _rule("customer_info", "plan", 8, rf"\b{_WE_ARE}\b[^.?!]{{0,60}}? on (?:the |your |a )?"
          r"(?P<v>[A-Z][\w-]+)(?: plan| tier| subscription)\b"),
    _rule("customer_info", "plan", 8, rf"\b(?:{_CHANGING}|subscrib(?:e|ed|ing)|sign(?:ed)? up|went|going)"
          rf"(?: [\w'’-]+){{0,6}}? (?:to|for|onto)(?: the| your| our)? {_PLAN}"),
    _rule("customer_info", "plan", 8, rf"\b(?:[Ww]e|I)\b[^.?!]{{0,40}}? (?:{_CHOOSING})(?: the| your| a)? {_PLAN}"),
    _rule("customer_info", "plan", 8, rf"\b(?:{_CHANGING})\b[^.?!]{{0,60}}? (?:to|for|onto) (?:the|your|our)? ?"
          r"(?:plan|tier|subscription),? (?:called |named )?[\"'“‘«]?(?P<v>[A-Z][\w-]+)"),
    _rule("customer_info", "seats", 6, r"\b(?:[Ww]e are|[Ww]e['’]re|[Ww]e have)(?: now| currently| about| around){0,2} "
          r"(?P<v>\d[\d,]*) (?:users|people|employees|seats|colleagues)\b"),
    _rule("customer_info", "seats", 5, r"\b(?:[Ww]e|I)\b[^.?!]{0,200}\bfor (?P<v>\d[\d,]*) "
          r"(?:users|people|employees|seats)\b"),
    _rule("customer_info", "renewal date", 7, r"\b[Ww]e(?: have|['’]ve)?(?: just)? (?P<v>renewed)(?: our| the)?\b"),
    _rule("customer_info", "city", 5, rf"\b[Ww]e(?: have|['’]ve)?(?: just)? (?:moved|relocated)(?: our office)? to "
          rf"(?P<v>{_FIRM})", check=_is_name),
    _rule("contact_info", "phone", 7, r"\b(?:[Mm]y|[Oo]ur)(?: new)? (?:phone|mobile|cell|telephone)?(?: ?number)?"
          r"(?: is|:) (?P<v>\+?\d[\d ()/-]{6,18}\d)"),
    _rule("contact_info", "address", 6, r"\b[Oo]ur new (?:postal |office |billing )?address is:? (?P<v>[^.\n]{8,120})"),
    _rule("preference", "contact", 7, r"\b(?:[Pp]lease )(?P<v>(?:call|phone|text|email|reach|contact|write to) "
          r"(?:me|us) (?:only |always |rather )?(?:on|at|by|via|in|before|after|between)\b[^.?!\n]{2,80})",
          in_doubt=True),
    _rule("preference", "contact", 7, r"\b[Pp]lease (?P<v>(?:do not|don['’]t|never) (?:call|phone|text) "
          r"(?:me|us)[^.?!\n]{0,60})", in_doubt=True),
    _rule("preference", "preference", 6, r"\b(?:I|[Ww]e) (?:strongly |always |usually )?(?P<v>prefer [^.?!\n]{3,100})"),
    _rule("preference", "preference", 6, r"\b(?P<v>[Ff]rom now on,? [^.?!\n]{5,120})", in_doubt=True),
    _rule("customer_info", "uses", 5, rf"\b[Ww]e use (?P<v>{_FIRM})(?= as| for| to|[,.\n]|$)", check=_is_name),
    _rule("relationship", "colleague", 5, rf"\b[Mm]y (?:colleague|boss|manager|assistant|successor),? (?P<v>{_NAME})",
          in_doubt=True, check=_is_person),
    _rule("goal", "goal", 7, r"\b[Ww]e (?P<v>(?:plan|intend|aim|are planning|are aiming) to [^.?!\n]{8,140})"),
    _rule("goal", "goal", 6, r"\b(?:[Ww]e are|[Ww]e['’]re|I am|I['’]m) (?P<v>looking for (?:a|an) [^.?!\n]{5,120})"),
)  # fmt: skip
_NUMBERED = re.compile(
    r"\b(?P<what>[Oo]rder|[Ii]nvoice|[Tt]icket|[Cc]ase|[Bb]ooking)(?: (?:number|no\.?|id))?:? ?(?:#\s?)?"
    r"(?P<v>(?:[A-Z]{1,4}-?)?[0-9]{3,}[A-Za-z0-9-]*)\b"
)
_ABSENT = re.compile(
    r"\b(?:I am|I['’]m|I will be|I['’]ll be|[Ww]e are|[Ww]e will be)(?: \w+)? (?:(?:on|away on) "
    r"(?:vacation|holiday|holidays|leave|parental leave)|out of (?:the )?office|away|travell?ing)[^.?!\n]{0,30}? "
    rf"(?:until|till|through) (?P<day>{DATE})",
    re.I,
)


def stated(text: str, written: date) -> list[Stated]:
    """The facts of an author's new text, in order, one for each kind and key: the last one stated."""
    found: dict[tuple[str, str], Stated] = {}
    for sentence in sentences(text):
        for fact in (*_ruled(sentence), *_numbered(sentence), *_absent(sentence, written)):
            if len(fact.quote) <= _QUOTE_LIMIT and len(fact.key) <= _KEY_LIMIT:
                found[(fact.kind, fact.key)] = fact
    return list(found.values())


def _ruled(sentence: str) -> Iterator[Stated]:
    doubtful = sentence.endswith("?") or bool(_DOUBT.search(sentence))
    for rule in _RULES:
        match = rule.pattern.search(sentence)
        if not match or (doubtful and not rule.in_doubt):
            continue
        value = one_line(match["v"]).rstrip(" ,;:-")
        if rule.check(value):
            yield Stated(rule.kind, _key(rule.key, value), value, match[0], rule.importance)


def _key(key: str, value: str) -> str:
    """Keys that hold several values next to each other name what theirs is about: "uses okta"."""
    about = [plain for term in terms(value) if (plain := "".join(filter(str.isalnum, term)).strip())]
    return " ".join([key, *about[:_TOPIC_WORDS]]) if key in _MANY else key


def _numbered(sentence: str) -> Iterator[Stated]:
    for match in _NUMBERED.finditer(sentence):
        what = match["what"].lower()
        yield Stated("order_info", f"{what} {match['v'].lower()}", match["v"], match[0], 6)


def _absent(sentence: str, written: date) -> Iterator[Stated]:
    match = _ABSENT.search(sentence)
    until = read_date(match["day"], written) if match else None
    if match and until:
        day = one_line(match["day"]).rstrip(".")
        yield Stated("event", "absence", f"away until {day}", match[0].rstrip("."), 6, until)
