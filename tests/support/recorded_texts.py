"""The texts that code records as reasons: found by going back from where an event gets one to where it is written.

A text is as the code says it, with `{}` where a value is filled in. What is followed: names to what they were given in the
same function or module, parameters to what callers pass, calls to what the function returns, mappings to their values.
What comes of a person, a model, a server or a row ends there, and gives nothing.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import schemas
import services

FIELDS = frozenset({"reason", "refused_because", "detail", "unread", "why", "error"})
ROOMS = 14  # how far back one text is followed
PASSES_ON = frozenset({"storable", "str", "replace", "strip", "rstrip", "format"})  # calls that give their text back
NOT_RECORDED = (  # what these say is printed, is an alert of the deployment itself, or is a model's
    *("services.web", "services.cli", "services.demo", "services.model", "services.core.bus", "services.core.outages"),
    *("services.operations.retention", "services.operations.scrub"),
    *("services.operations.health", "services.operations.learning"),
)
Function = ast.FunctionDef | ast.AsyncFunctionDef


def recorded_by_code() -> set[str]:
    """Of this program: what events, and what is decided before them, are given as a reason."""
    return Program.below(Path(services.__file__).parent, Path(schemas.__file__).parent).recorded()


def form_of(text: ast.JoinedStr) -> str:
    """An f-string with `{}` in the place of each value."""
    return "".join(str(one.value) if isinstance(one, ast.Constant) else "{}" for one in text.values)


@dataclass
class Program:
    """Every module below a folder, by its name."""

    modules: dict[str, ast.Module]
    _seen: set[int] = field(default_factory=set)

    @classmethod
    def below(cls, *folders: Path) -> Program:
        """The modules of packages."""
        return cls(
            {
                ".".join(path.relative_to(folder.parent).with_suffix("").parts).removesuffix(".__init__"): ast.parse(
                    path.read_text(encoding="utf-8")
                )
                for folder in folders
                for path in sorted(folder.rglob("*.py"))
            }
        )

    def recorded(self) -> set[str]:
        """The texts that are given as a reason."""
        found: set[str] = set()
        for name, module in self.modules.items():
            if name.startswith(NOT_RECORDED):
                continue
            for one in (one for node in ast.walk(module) for one in self._given(node)):
                self._seen = set()
                found |= set(self._texts(name, one))
        return found

    def _given(self, node: ast.AST) -> Iterator[ast.expr]:
        """What a part of the program gives as a reason: to a class that holds one, or in a mapping for such a class."""
        if isinstance(node, ast.Dict):
            yield from (
                value
                for key, value in zip(node.keys, node.values, strict=True)
                if isinstance(key, ast.Constant) and key.value in FIELDS
            )
        elif isinstance(node, ast.Call) and (_called(node) in self.holders or _called(node) == "replace"):
            yield from self._given_to(node)

    def _given_to(self, call: ast.Call) -> Iterator[ast.expr]:
        yield from (one.value for one in call.keywords if one.arg in FIELDS)
        places = self._fields.get(_called(call), [])
        yield from (one for one, name in zip(call.args, places, strict=False) if name in FIELDS)

    def _texts(self, module: str, node: ast.AST, depth: int = 0) -> Iterator[str]:
        if id(node) in self._seen or depth > ROOMS or module.startswith(NOT_RECORDED):
            return
        self._seen.add(id(node))
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value
        if isinstance(node, ast.JoinedStr):
            yield form_of(node)
        for at, one in self._behind(module, node):
            yield from self._texts(at, one, depth + 1)

    def _behind(self, module: str, node: ast.AST) -> Iterator[tuple[str, ast.expr]]:
        """What a part of the program may get its text from, each with its module."""
        match node:
            case ast.Name():
                yield from self._bound(module, node)
            case ast.Call():
                yield from self._returned(module, node)
            case ast.JoinedStr(values=some):
                yield from ((module, one.value) for one in some if isinstance(one, ast.FormattedValue))
            case ast.Attribute(attr=name):
                yield from self._properties[name]
            case ast.BoolOp(values=some) | ast.Dict(values=some):
                yield from ((module, one) for one in some)
            case ast.Tuple(elts=some) | ast.List(elts=some):
                yield from ((module, one) for one in some)
            case ast.IfExp(body=one, orelse=other):
                yield from ((module, one), (module, other))
            case ast.GeneratorExp(elt=one) | ast.ListComp(elt=one):
                yield module, one
            case ast.Await(value=one) | ast.Subscript(value=one):
                yield module, one

    def _bound(self, module: str, name: ast.Name) -> Iterator[tuple[str, ast.expr]]:
        """What a name was given, in the function around it, else in its module, else where it was imported from."""
        around = self._function_around(name)
        while around:
            found = list(_assigned(around, name.id))
            yield from ((module, one) for one in found)
            if name.id in _parameters(around):
                yield from self._passed(module, around, name.id)
                return
            if found:
                return
            around = self._function_around(around)
        yield from self._constant(module, name.id)

    def _constant(self, module: str, name: str) -> Iterator[tuple[str, ast.expr]]:
        at, known_as = self._imported[module].get(name, (module, name))
        for one in self.modules[at].body if at in self.modules else ():
            if isinstance(one, ast.Assign | ast.AnnAssign):
                yield from ((at, value) for value in _assigned(one, known_as))

    def _passed(self, module: str, function: Function, name: str) -> Iterator[tuple[str, ast.expr]]:
        places = [one for one in _parameters(function) if one not in ("self", "cls")]
        for at, call in self._calls[function.name]:
            method = "self" in _parameters(function) and isinstance(call.func, ast.Attribute)
            if not method and self._named(at, call) != (module, function.name):
                continue
            yield from ((at, one.value) for one in call.keywords if one.arg == name)
            yield from ((at, one) for one, place in zip(call.args, places, strict=False) if place == name)

    def _returned(self, module: str, call: ast.Call) -> Iterator[tuple[str, ast.expr]]:
        name, named = _called(call), self._named(module, call)
        if named in self._functions:
            returns = (one for one in ast.walk(self._functions[named]) if isinstance(one, ast.Return | ast.Yield))
            yield from ((named[0], one.value) for one in returns if one.value)
        elif name in PASSES_ON:
            of = call.func.value if isinstance(call.func, ast.Attribute) else call.args[0]
            yield module, of
        elif name in ("get", "MappingProxyType", "next"):
            yield from ((module, one) for one in call.args)
            if isinstance(call.func, ast.Attribute):
                yield module, call.func.value

    def _named(self, module: str, call: ast.Call) -> tuple[str, str]:
        """The module and the name of the function that a call in a module names, where that can be read there."""
        name, of = _called(call), getattr(call.func, "value", None)
        if isinstance(call.func, ast.Name):
            return self._imported[module].get(name, (module, name))
        if isinstance(of, ast.Name) and of.id in self._imported[module]:
            return ".".join(self._imported[module][of.id]), name
        return ("", name)

    def _function_around(self, node: ast.AST) -> Function | None:
        while node := self._parents.get(node):  # type: ignore[assignment]
            if isinstance(node, Function):
                return node
        return None

    @cached_property
    def _parents(self) -> dict[ast.AST, ast.AST]:
        return {
            child: node
            for module in self.modules.values()
            for node in ast.walk(module)
            for child in ast.iter_child_nodes(node)
        }

    @cached_property
    def _imported(self) -> dict[str, dict[str, tuple[str, str]]]:
        return {
            name: {
                one.asname or one.name: (node.module or "", one.name)
                for node in ast.walk(module)
                if isinstance(node, ast.ImportFrom)
                for one in node.names
            }
            for name, module in self.modules.items()
        }

    @cached_property
    def _functions(self) -> dict[tuple[str, str], Function]:
        return {
            (name, node.name): node
            for name, module in self.modules.items()
            for node in ast.walk(module)
            if isinstance(node, Function)
        }

    @cached_property
    def _calls(self) -> dict[str, list[tuple[str, ast.Call]]]:
        found = defaultdict(list)
        for name, module in self.modules.items():
            for node in ast.walk(module):
                if isinstance(node, ast.Call):
                    found[_called(node)].append((name, node))
        return found

    @cached_property
    def _properties(self) -> dict[str, list[tuple[str, ast.expr]]]:
        """What the properties of a name return, whatever class has them."""
        found: dict[str, list[tuple[str, ast.expr]]] = defaultdict(list)
        for (module, name), function in self._functions.items():
            if any(getattr(one, "id", "") == "property" for one in function.decorator_list):
                found[name] += [
                    (module, one.value) for one in ast.walk(function) if isinstance(one, ast.Return) and one.value
                ]
        return found

    @cached_property
    def _fields(self) -> dict[str, list[str]]:
        """The fields of each class, in their order; classes of one name have those of all."""
        found: dict[str, list[str]] = defaultdict(list)
        for module in self.modules.values():
            for node in ast.walk(module):
                if isinstance(node, ast.ClassDef):
                    own = (one.target for one in node.body if isinstance(one, ast.AnnAssign))
                    found[node.name] += [one.id for one in own if isinstance(one, ast.Name)]
        return found

    @cached_property
    def holders(self) -> frozenset[str]:
        """The classes with a field that holds a reason."""
        return frozenset(name for name, fields in self._fields.items() if FIELDS & set(fields))


def _called(call: ast.Call) -> str:
    return getattr(call.func, "id", "") or getattr(call.func, "attr", "")


def _parameters(function: Function) -> list[str]:
    given = function.args
    return [one.arg for one in (*given.posonlyargs, *given.args, *given.kwonlyargs)]


def _assigned(node: ast.AST, name: str) -> Iterator[ast.expr]:
    for one in ast.walk(node):
        match one:
            case ast.Assign(targets=[target], value=value):
                yield from _part(target, value, name)
            case ast.AnnAssign(target=ast.Name(id=id), value=ast.expr() as value) if id == name:
                yield value
            case ast.NamedExpr(target=ast.Name(id=id), value=value) if id == name:
                yield value
            case ast.For(target=target, iter=some) | ast.comprehension(target=target, iter=some):
                yield from _part(target, some, name)


def _part(target: ast.expr, value: ast.expr, name: str) -> Iterator[ast.expr]:
    """What a name of the target gets: its place of a tuple where the value is one, else all of it."""
    if isinstance(target, ast.Name) and target.id == name:
        yield value
    elif isinstance(target, ast.Tuple):
        names = [getattr(one, "id", "") for one in target.elts]
        if name in names:
            yield (
                value.elts[names.index(name)]
                if isinstance(value, ast.Tuple) and len(value.elts) == len(names)
                else value
            )
