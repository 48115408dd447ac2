"""What a template shows that is not looked up in a catalogue: words between tags, in read attributes, in expressions."""

from __future__ import annotations

import re
from collections.abc import Iterator

from jinja2 import Environment, nodes

READ = frozenset({"title", "aria-label", "placeholder", "alt", "data-name"})  # attributes that people read, or hear
OF_CODE = frozenset({"code", "kbd", "pre"})  # elements whose text is typed or pressed, not read
LOOKED_UP = frozenset({"_", "gettext", "ngettext"})
IN_A_TAG = frozenset({"watch"})  # blocks that stand among a tag's attributes
NAMES = frozenset({"Correspondent"})  # the product's
WORDS = re.compile(r"&#?\w+;|[^\W\d_]+")
TAG = re.compile(r"</?([a-zA-Z][\w-]*)")
ATTRIBUTE = re.compile(r"([\w-]+)\s*=\s*$")

COMES_TO: dict[type[nodes.Node], tuple[str, ...]] = {  # in which fields of an expression stands what it may come to
    nodes.CondExpr: ("expr1", "expr2"),
    nodes.Or: ("left", "right"),
    nodes.And: ("left", "right"),
    nodes.Add: ("left", "right"),
    nodes.Concat: ("nodes",),
    nodes.Filter: ("node",),
    nodes.Getitem: ("node",),
    nodes.Tuple: ("items",),
    nodes.List: ("items",),
    nodes.Dict: ("items",),
    nodes.Pair: ("value",),
}


class _Place:
    """Where in a page's markup the template stands: between tags, in one, or in an attribute's value."""

    def __init__(self, tag: str | None = None) -> None:
        self.attribute: str | None = None  # whose value it is in
        self._quote = ""
        self._tag = tag  # what of the tag was read
        self._in_code = 0

    @property
    def is_read(self) -> bool:
        """Whether people read what stands here."""
        if self._tag is None:
            return not self._in_code
        return self.attribute in READ

    def read(self, text: str) -> Iterator[str]:
        """Go on over literal text; gives what of it people read."""
        seen = ""
        for letter in text:
            if self._tag is None:
                if letter == "<":
                    yield seen
                    seen, self._tag = "", "<"
                elif not self._in_code:
                    seen += letter
            elif self.attribute is not None:
                if letter == self._quote:
                    yield seen
                    seen, self.attribute = "", None
                elif self.attribute in READ:
                    seen += letter
            elif letter == ">":
                self._close()
            else:
                self._tag += letter
                named = ATTRIBUTE.search(self._tag[:-1]) if letter in "\"'" else None
                if named:
                    self.attribute, self._quote = named[1], letter
        yield seen

    def _close(self) -> None:
        named = TAG.match(self._tag or "")
        if named and named[1] in OF_CODE:
            self._in_code += -1 if (self._tag or "").startswith("</") else 1
        self._tag = None


def untranslated(environment: Environment, source: str) -> list[tuple[int, str]]:
    """What a template shows in English whatever the language, with its lines."""
    place = _Place()
    return [(line, said) for line, said in _shown(environment.parse(source).body, place) if _is_words(said)]


def _is_words(said: str) -> bool:
    return any(not word.startswith("&") and word not in NAMES for word in WORDS.findall(said))


def _shown(body: list[nodes.Node], place: _Place) -> Iterator[tuple[int, str]]:
    """Over the nodes of a template as they stand."""
    for node in body:
        if isinstance(node, nodes.Output):
            for part in node.nodes:
                yield from ((part.lineno, said) for said in _put_out(part, place))
        elif isinstance(node, nodes.Block) and node.name in IN_A_TAG:
            yield from _shown(node.body, _Place("<"))
        elif isinstance(node, nodes.AssignBlock | nodes.Macro):
            yield from _shown(node.body, _Place())
        else:
            yield from ((node.lineno, said) for said in _kept(node))
            for field in ("body", "elif_", "else_"):
                yield from _shown(getattr(node, field, []), place)


def _put_out(part: nodes.Node, place: _Place) -> Iterator[str]:
    if isinstance(part, nodes.TemplateData):
        return place.read(part.data)
    return _said_by(part) if place.is_read else _given_on(part)


def _said_by(node: nodes.Node) -> Iterator[str]:
    """The literals that an expression may come to."""
    if isinstance(node, nodes.Const):
        yield from [node.value] if isinstance(node.value, str) else []
    elif isinstance(node, nodes.Call):
        yield from _given_on(node)
    for field in COMES_TO.get(type(node), ()):
        value = getattr(node, field)
        for one in value if isinstance(value, list) else [value] if value is not None else []:
            yield from _said_by(one)


def _given_on(node: nodes.Node) -> Iterator[str]:
    """Literals in words among what a macro is called with: it may show them."""
    for call in [node] if isinstance(node, nodes.Call) else node.find_all(nodes.Call):
        if not (isinstance(call.node, nodes.Name) and call.node.name in LOOKED_UP):
            for argument in [*call.args, *(one.value for one in call.kwargs)]:
                yield from filter(_in_words, _said_by(argument))


def _kept(node: nodes.Node) -> Iterator[str]:
    """Literals in words that a template keeps, to show them later: in a variable, or in what it loops over."""
    kept = node.node if isinstance(node, nodes.Assign) else node.iter if isinstance(node, nodes.For) else None
    return filter(_in_words, _said_by(kept)) if kept is not None else iter(())


def _in_words(said: str) -> bool:
    return " " in said or said[:1].isupper()
