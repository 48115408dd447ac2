"""The style sheets of an HTML mail: which declarations hold for an element, by selectors and the cascade.

Invariants: one pass over the sheet and one over the elements. Which selectors an element's ancestors and elder siblings
meet is handed down as bits of a number, so that no selector is tried by walking up a document, however many there are.
What hardly any mail is written with is not read (`:has`, `:nth-last-child`, nested rules): such a rule does not count.

Read by: Selectors 4 (compounds, the combinators, `:not`, `:is`, `:where`, `:nth-child`), CSS Cascade 5 (importance,
specificity, order), Media Queries 5 for a screen of `SCREEN_PX`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice, product

from lxml.html import HtmlElement

MAX_RULES = 2_000
MAX_COMPOUNDS = 2_000  # of all selectors together: bits of a number
MAX_TESTS = 40  # of attributes by a part of their value: each is tried on each element that has them
MAX_PLACES = 10  # among siblings, likewise
MAX_NESTED = 3  # `:is` within `:not` within ...
MAX_SLOTS = 6  # conditions of one compound
MAX_ALTERNATIVES = 40  # selectors that one is written out to, for its `:is`
MAX_STYLE_CHARACTERS = 100_000
SCREEN_PX = (1280, 800)

READ = {  # properties by which something is hidden
    "background-color", "background-clip", "-webkit-background-clip", "background-image", "clip", "clip-path", "color",
    "content-visibility", "display", "filter", "font-size", "height", "left", "right", "top", "bottom", "margin-left",
    "margin-top", "max-height", "max-width", "opacity", "overflow", "position", "scale", "text-indent", "transform",
    "-webkit-transform", "translate", "visibility", "-webkit-text-fill-color", "width",
}  # fmt: skip

_COMMENT = re.compile(r"/\*.*?(?:\*/|\Z)|<!--|-->", re.DOTALL)
_ESCAPE = re.compile(r"\\(?:([0-9a-f]{1,6})\s?|([^\n]))", re.IGNORECASE)  # CSS Syntax 3, 4.3.7
_STRING = r'"(?:[^"\\\n]|\\.){0,2000}+"|' + r"'(?:[^'\\\n]|\\.){0,2000}+'"
_PIECE = re.compile(rf"[{{}};]|{_STRING}", re.DOTALL)
_PART = re.compile(rf"[,()\[\]]|{_STRING}", re.DOTALL)
_FEATURE = re.compile(r"\(\s{0,9}([a-z-]{1,40})\s{0,9}(?::\s{0,9}([^()]{1,40}))?\)")
_NAME = r"(?:[\w-]|[^\x00-\x7f]|\\[0-9a-fA-F]{1,6}\s?|\\[^\n]){1,200}+"
_COMBINATOR = re.compile(r"\s{0,50}([>+~])\s{0,50}|\s{1,50}")
_SIMPLE = re.compile(
    rf"(?P<element>\*|{_NAME})|\.(?P<class>{_NAME})|\#(?P<id>{_NAME})"
    rf"|\[\s{{0,9}}(?P<name>{_NAME})\s{{0,9}}(?:(?P<is>[~|^$*]?=)\s{{0,9}}(?P<value>{_STRING}|{_NAME})\s{{0,9}}[iIsS]?\s{{0,9}})?\]"
    r"|:(?P<pseudo>:?[\w-]{1,40})"
)
NUMBER = r"-?[0-9]{0,20}\.?[0-9]{1,20}"  # whatever stands there, Python reads it; it reads no digits by the thousand
_FONT_SIZE = re.compile(rf"(?<![\w.#-])(0|{NUMBER}(?:px|pt|em|rem|ex|ch|%|in|cm|mm))(?=[/\s]|\Z)")
_NTH = re.compile(r"\s{0,9}(?:([+-]?\d{0,6})n\s{0,9}(?:([+-])\s{0,9}(\d{1,6}))?|([+-]?\d{1,6}))\s{0,9}")
_HOLDS = {  # of a screen that somebody reads mail on
    ("color", ""), ("hover", ""), ("hover", "hover"), ("any-hover", "hover"), ("pointer", ""), ("pointer", "fine"),
    ("any-pointer", "fine"), ("orientation", "landscape"), ("prefers-color-scheme", "light"), ("scripting", "none"),
    ("prefers-reduced-motion", "no-preference"), ("width", ""), ("height", ""), ("grid", "0"), ("update", "fast"),
}  # fmt: skip
_SIZE = re.compile(r"(min-|max-)?(?:device-)?(width|height)")
_GROUPS = {"@media", "@supports", "@layer"}
_ANY_OF = {"is", "where", "matches", "-webkit-any", "-moz-any"}
_LINKS = {"link", "any-link"}  # of a mail that was never opened before

Condition = tuple[str, ...]
Declarations = dict[str, str]


def declarations(style: str) -> tuple[Declarations, Declarations]:
    """Property to value of a `style` attribute or a rule, lower case, escapes read: the plain ones, the important ones.

    Of those that are `READ`. What a shorthand sets it sets here: `background` a colour, `font` a size.
    """
    if "\\" in style or "/*" in style:
        style = unescaped(_COMMENT.sub("", style))
    plain: Declarations = {}
    important: Declarations = {}
    for declaration in style.lower().split(";"):
        name, _, value = declaration.partition(":")
        if not value:
            continue
        said, bang, rest = value.partition("!")
        level = important if bang and rest.strip() == "important" else plain
        name, said = name.strip(), said.strip()
        if name == "font" and (size := _FONT_SIZE.search(said)):
            level["font-size"] = size[1]
        name = "background-color" if name == "background" else name
        if name in READ:
            level[name] = said
    return plain, important


def unescaped(text: str) -> str:
    """What a text of CSS says where it has escapes."""
    return _ESCAPE.sub(_character, text) if "\\" in text else text


def _character(found: re.Match[str]) -> str:
    code = int(found[1], 16) if found[1] else 0
    return found[2] or (chr(code) if 0 < code < 0x110000 else "")


# The rules of a sheet.


@dataclass(frozen=True, slots=True)
class Compound:
    """Conditions on one element, those that must not hold, and how it follows the one before: ` `, `>`, `+`, `~`."""

    wanted: tuple[Condition, ...] = ()
    unwanted: tuple[Condition, ...] = ()
    behind: str = ""


@dataclass(frozen=True, slots=True)
class Rule:
    """One selector, how specific it is, and what it declares."""

    compounds: tuple[Compound, ...]
    weight: tuple[int, int, int]
    plain: Declarations
    important: Declarations


def rules_of(sheet: str) -> Iterator[Rule]:
    """The rules that hold on a screen, in their order."""
    for prelude, body in islice(_blocks(_COMMENT.sub("", sheet[:MAX_STYLE_CHARACTERS])), MAX_RULES):
        plain, important = declarations(body)
        for text in _split(prelude):
            for compounds, weight in _selectors(text.strip()):
                yield Rule(compounds, weight, plain, important)


def _blocks(sheet: str) -> Iterator[tuple[str, str]]:
    """Each rule's prelude and body; those of groups that do not hold are left out."""
    groups: list[bool] = []  # those that are open, and whether each holds
    start, skipped, prelude, body = 0, 0, "", ""
    for found in _PIECE.finditer(sheet):
        mark = found[0]
        if len(mark) > 1:
            continue
        between, start = sheet[start : found.start()].strip(), found.end()
        if skipped:  # within a rule, or in what is no rule: how deep
            body += f"{between};" if skipped == 1 else ""
            skipped += {"{": 1, "}": -1}.get(mark, 0)
            if not skipped and prelude and all(groups):
                yield prelude, body
        elif mark == "{":
            kind = between.partition(" ")[0].partition("(")[0].lower()
            if kind in _GROUPS:
                groups.append(_holds(kind, between[len(kind) :].lower()))
            else:
                skipped, prelude, body = 1, "" if between.startswith("@") else between, ""
        elif mark == "}" and groups:
            groups.pop()
    if skipped and prelude and all(groups):  # a sheet that is cut off ends what is open
        yield prelude, body + sheet[start:]


def _holds(kind: str, condition: str) -> bool:
    if kind == "@media":
        return any(map(_query_holds, condition.split(",")))
    return kind == "@layer" or not condition.strip().startswith("not")


def _query_holds(query: str) -> bool:
    """Whether a media query holds, of the features that it names each."""
    words = _FEATURE.sub(" ", query).split()
    kinds = [word for word in words if word not in ("and", "only", "not")]
    holds = all(one in ("all", "screen") for one in kinds) and all(
        _feature_holds(found[1], (found[2] or "").strip()) for found in _FEATURE.finditer(query)
    )
    return holds != ("not" in words[:1])


def _feature_holds(name: str, value: str) -> bool:
    size, number = _SIZE.fullmatch(name), re.match(r"\d{1,9}", value)
    if size is None or number is None:
        return (name, value) in _HOLDS
    factor = 16 if "em" in value else 1
    ours, theirs = SCREEN_PX[size[2] == "height"], int(number[0]) * factor
    return {"min-": ours >= theirs, "max-": ours <= theirs}.get(size[1] or "", ours == theirs)


def _split(text: str) -> list[str]:
    """A list at its commas, but for those within brackets and strings."""
    parts, start, depth = [], 0, 0
    for found in _PART.finditer(text):
        depth += {"(": 1, "[": 1, ")": -1, "]": -1}.get(found[0], 0)
        if found[0] == "," and depth <= 0:
            parts.append(text[start : found.start()])
            start = found.end()
    return [*parts, text[start:]]


def _inside(text: str, start: int) -> str | None:
    """What stands in the brackets that open at a place, or None where they do not close."""
    depth = 0
    for found in _PART.finditer(text, start):
        depth += {"(": 1, ")": -1}.get(found[0], 0)
        if not depth:
            return text[start + 1 : found.start()]
    return None


class _NotRead(Exception):
    """The selector holds something that is not read, or matches nothing that somebody only reads."""


def _selectors(text: str) -> list[tuple[tuple[Compound, ...], tuple[int, int, int]]]:
    """A selector without its `:is`, written out as several; none where it is not read."""
    try:
        chains = list(_chains(text))
    except _NotRead:
        return []
    return [(tuple(chain), _weight(chain)) for chain in chains]


def _chains(text: str) -> Iterator[list[Compound]]:
    parts: list[list[Compound]] = []
    at, behind = 0, ""
    while at < len(text):
        alternatives, at = _compound(text, at, behind)
        parts.append(alternatives)
        joined = _COMBINATOR.match(text, at)
        if at < len(text) and joined is None:
            raise _NotRead
        if joined:
            at, behind = joined.end(), joined[1] or " "
    if not parts:
        raise _NotRead
    yield from map(list, islice(product(*parts), MAX_ALTERNATIVES))


def _compound(text: str, at: int, behind: str, nested: int = 0) -> tuple[list[Compound], int]:
    """The compound that begins at a place, as many as its `:is` makes of it, and where it ends."""
    found = [Compound(behind=behind)]
    begins = at
    while simple := _SIMPLE.match(text, at):
        if simple["element"] is not None and at != begins:
            break
        at = simple.end()
        if not simple["pseudo"]:
            found = [_and(one, (_condition(simple),)) for one in found]
            continue
        given = _inside(text, at) if text[at : at + 1] == "(" else ""
        if given is None:
            raise _NotRead
        at += len(given) + 2 if text[at : at + 1] == "(" else 0
        meant = _pseudo(simple["pseudo"].lower(), given, nested + 1)
        found = [_and(one, *each) for one in found for each in meant][:MAX_ALTERNATIVES]
    if at == begins:
        raise _NotRead
    return found, at


def _and(one: Compound, wanted: Sequence[Condition], unwanted: Sequence[Condition] = ()) -> Compound:
    both = (*one.wanted, *wanted)
    if len(both) > MAX_SLOTS:
        raise _NotRead
    return Compound(both, (*one.unwanted, *unwanted), one.behind)


def _condition(simple: re.Match[str]) -> Condition:
    if simple["element"] is not None:
        return ("element", simple["element"].lower())
    if simple["class"] is not None:
        return ("class", unescaped(simple["class"]).lower())
    if simple["id"] is not None:
        return ("id", unescaped(simple["id"]).lower())
    name, value = simple["name"].lower(), simple["value"]
    if value is None:
        return ("attribute", name)
    value = value[1:-1] if value[0] in "\"'" else value
    return ("attribute", name, simple["is"], unescaped(value).lower())


def _pseudo(name: str, given: str, nested: int) -> list[tuple[Sequence[Condition], Sequence[Condition]]]:
    """What a pseudo-class wants and does not want, in all ways in which it may hold."""
    if name in _LINKS:
        return [((("attribute", "href"),), ())]
    if name in ("first-child", "last-child", "only-child", "empty", "root", "first-of-type"):
        return [((("place", name),), ())]
    if name in ("nth-child", "nth-of-type") and (step := _step(given)):
        return [((("place", name, *step),), ())]
    if (name in _ANY_OF or name == "not") and nested <= MAX_NESTED:
        listed = _split(given)[:MAX_ALTERNATIVES]
        alternatives = [one for text in listed for one in _one_compound(text.strip(), nested)]
        if name != "not":
            return [(one.wanted, one.unwanted) for one in alternatives] or _raise()
        # `:not(.a.b)` holds where either is missing, and is taken to hold
        return [((), [one.wanted[0] for one in alternatives if len(one.wanted) == 1 and not one.unwanted])]
    raise _NotRead


def _raise() -> list[tuple[Sequence[Condition], Sequence[Condition]]]:
    raise _NotRead


def _one_compound(text: str, nested: int) -> list[Compound]:
    """The compounds of a selector that has no combinators; none of others."""
    try:
        found, end = _compound(text, 0, "", nested)
    except _NotRead:
        return []
    return found if end == len(text) else []


def _step(given: str) -> tuple[str, str] | None:
    """`an+b` as its two numbers."""
    given = {"odd": "2n+1", "even": "2n"}.get(given.strip().lower(), given.lower())
    found = _NTH.fullmatch(given)
    if found is None:
        return None
    if found[4]:
        return "0", str(int(found[4]))
    factor = {"": "1", "+": "1", "-": "-1"}.get(found[1], found[1])
    return str(int(factor)), str(int((found[2] or "") + (found[3] or "0")))


def _weight(chain: Iterable[Compound]) -> tuple[int, int, int]:
    """Specificity: ids, then classes, attributes and pseudo-classes, then elements."""
    kinds = [one for compound in chain for one in (*compound.wanted, *compound.unwanted)]
    elements = sum(one[0] == "element" and one[1] != "*" for one in kinds)
    ids = sum(one[0] == "id" for one in kinds)
    return ids, sum(one[0] not in ("element", "id") for one in kinds), elements


# What holds for the elements of a document, met in its order.


@dataclass(slots=True)
class _Level:
    """An open element: which bits it and those above it match, and what its children so far did."""

    exact: int
    above: int
    newest: int = 0
    elder: int = 0
    children: int = 0
    of_type: dict[str, int] = field(default_factory=dict)


@dataclass(slots=True)
class _Index:
    """Conditions to the compounds that want each as their first, second, … condition, and that want it not to hold."""

    slots: list[dict[Condition, int]] = field(default_factory=lambda: [{} for _ in range(MAX_SLOTS)])
    free: list[int] = field(default_factory=lambda: [0] * MAX_SLOTS)
    unwanted: dict[Condition, int] = field(default_factory=dict)
    names: set[str] = field(default_factory=set)  # of attributes that any selector looks at
    parts: dict[str, list[Condition]] = field(default_factory=dict)  # tests of a part of a value, by attribute
    places: list[Condition] = field(default_factory=list)
    tests: int = 0

    def has_room(self, compounds: Sequence[Compound]) -> bool:
        """Whether these want no more to be tried on each element than may be."""
        wanted = {one for compound in compounds for one in (*compound.wanted, *compound.unwanted)}
        places = sum(one[0] == "place" and one not in self.places for one in wanted)
        tests = sum(len(one) > 2 and one[0] == "attribute" and one[2] != "=" for one in wanted)
        return len(self.places) + places <= MAX_PLACES and (not tests or self.tests + tests <= MAX_TESTS)

    def add(self, one: Compound, bit: int) -> None:
        """Note a compound."""
        for number in range(MAX_SLOTS):
            wanted = one.wanted[number] if number < len(one.wanted) else ("element", "*")
            if wanted == ("element", "*"):
                self.free[number] |= bit
            else:
                self.slots[number][wanted] = self.slots[number].get(wanted, 0) | bit
        for unwanted in one.unwanted:
            self.unwanted[unwanted] = self.unwanted.get(unwanted, 0) | bit
        for condition in (*one.wanted, *one.unwanted):
            self._note(condition)

    def _note(self, condition: Condition) -> None:
        if condition[0] == "place" and condition not in self.places:
            self.places.append(condition)
        elif condition[0] == "attribute":
            self.names.add(condition[1])
            tests = self.parts.setdefault(condition[1], [])
            if len(condition) > 2 and condition[2] != "=" and condition not in tests:
                tests.append(condition)
                self.tests += 1


class Styles:
    """The declarations of a document's sheets for its elements, which are entered and left in document order."""

    def __init__(self, root: HtmlElement) -> None:
        sheet = "\n".join(element.text or "" for element in root.iter("style"))
        self._index = _Index()
        self._first = self._below = self._within = self._next_to = self._behind = 0
        self._declared: tuple[dict[str, tuple[int, dict[int, str]]], ...] = ({}, {})
        self._lay_out(sorted(self._taken(rules_of(sheet)), key=lambda rule: rule.weight))
        self._levels = [_Level(0, 0)]
        self._matched: dict[tuple[Condition, ...], int] = {}
        self._known: dict[int, tuple[Declarations, Declarations]] = {0: ({}, {})}
        self.any = bool(self._first)

    def _taken(self, rules: Iterable[Rule]) -> Iterator[Rule]:
        """The first rules, as far as there is room."""
        room = MAX_COMPOUNDS
        for rule in rules:
            room -= len(rule.compounds)
            if room < 0:
                return
            yield rule

    def _lay_out(self, rules: Iterable[Rule]) -> None:
        """A bit for each compound, one behind the other; the last one of what counts most is the highest."""
        at = 0
        for rule in rules:
            if not self._index.has_room(rule.compounds):
                continue
            for compound in rule.compounds:
                bit = 1 << at
                self._index.add(compound, bit)
                self._first |= bit if not compound.behind else 0
                self._below |= bit if compound.behind == " " else 0
                self._within |= bit if compound.behind == ">" else 0
                self._next_to |= bit if compound.behind == "+" else 0
                self._behind |= bit if compound.behind == "~" else 0
                at += 1
            for level, said in zip(self._declared, (rule.plain, rule.important), strict=True):
                for name, value in said.items():
                    mask, values = level.get(name, (0, {}))
                    values[at - 1] = value
                    level[name] = (mask | 1 << (at - 1), values)

    def enter(self, element: HtmlElement) -> tuple[Declarations, Declarations]:
        """What the sheets declare of an element that opens: the plain ones, the important ones."""
        level = self._levels[-1]
        level.children += 1
        tag = str(element.tag)
        level.of_type[tag] = level.of_type.get(tag, 0) + 1
        conditions = tuple(self._conditions(element, tag, level))
        bits = self._matched.get(conditions)
        if bits is None:
            bits = self._matched[conditions] = self._matching(conditions)
        led = self._first | level.above << 1 & self._below | level.exact << 1 & self._within
        led |= level.newest << 1 & self._next_to | level.elder << 1 & self._behind
        exact = bits & led
        level.newest, level.elder = exact, level.elder | exact
        self._levels.append(_Level(exact, level.above | exact))
        if exact not in self._known:
            self._known[exact] = (_winning(self._declared[0], exact), _winning(self._declared[1], exact))
        return self._known[exact]

    def leave(self) -> None:
        """The element that was entered last ends."""
        self._levels.pop()

    def _matching(self, conditions: Sequence[Condition]) -> int:
        """The compounds all of whose conditions are among these."""
        bits = -1
        for free, slot in zip(self._index.free, self._index.slots, strict=True):
            for one in conditions if slot else ():
                free |= slot.get(one, 0)
            bits &= free
        for one in conditions:
            bits &= ~self._index.unwanted.get(one, 0)
        return bits

    def _conditions(self, element: HtmlElement, tag: str, level: _Level) -> Iterator[Condition]:
        """The conditions that hold for an element, of those that any selector names."""
        yield ("element", tag)
        for name in (element.get("class") or "").lower().split():
            yield ("class", name)
        if id := element.get("id"):
            yield ("id", id.strip().lower())
        for name in self._index.names:
            value = element.get(name)
            if value is not None:
                value = value.lower()
                yield ("attribute", name)
                yield ("attribute", name, "=", value)
                yield from (one for one in self._index.parts[name] if _part_holds(one[2], value, one[3]))
        for place in self._index.places:
            if _place_holds(place, element, level, tag):
                yield place


def _winning(declared: Mapping[str, tuple[int, dict[int, str]]], bits: int) -> Declarations:
    """Of each property what the highest of these bits declares."""
    return {name: values[(mask & bits).bit_length() - 1] for name, (mask, values) in declared.items() if mask & bits}


def _part_holds(kind: str, value: str, wanted: str) -> bool:
    if not wanted:
        return False
    if kind == "~=":
        return wanted in value.split()
    if kind == "|=":
        return value == wanted or value.startswith(f"{wanted}-")
    if kind == "^=":
        return value.startswith(wanted)
    return value.endswith(wanted) if kind == "$=" else wanted in value


def _place_holds(place: Condition, element: HtmlElement, level: _Level, tag: str) -> bool:
    """Whether an element stands where a pseudo-class wants it among its siblings."""
    kind = place[1]
    if kind in ("nth-child", "nth-of-type"):
        number = level.children if kind == "nth-child" else level.of_type[tag]
        factor, offset = int(place[2]), int(place[3])
        ahead = number - offset
        return ahead == 0 if not factor else ahead % factor == 0 and ahead // factor >= 0
    if kind == "root":
        return element.getparent() is None
    if kind == "empty":
        return len(element) == 0 and not element.text
    is_first, is_last = level.children == 1, element.getnext() is None
    if kind == "first-of-type":
        return level.of_type[tag] == 1
    return {"first-child": is_first, "last-child": is_last, "only-child": is_first and is_last}[kind]
