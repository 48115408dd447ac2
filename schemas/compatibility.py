"""The schema gate: within a major version a type may only grow, and a released example never changes.

`python -m schemas.compatibility [--against REVISION]` compares the schemas and examples of a commit (HEAD unless told
otherwise) with today's models. Refused: a removed event, a removed field, a new required field, a changed type, a
tightened limit, an edited or removed example. Allowed: a new optional field, another allowed value, a wider limit.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from schemas.events import EVENTS
from schemas.make import HERE, json_schema

Schema = Mapping[str, Any]
Faults = Iterator[str]

_AT_MOST = ("maximum", "exclusiveMaximum", "maxLength", "maxItems")
_AT_LEAST = ("minimum", "exclusiveMinimum", "minLength", "minItems")


class NoSuchRevision(Exception):
    """Git cannot show the schemas of that revision."""


def faults(old: Schema, new: Schema) -> list[str]:
    """What of `old`, an event type's JSON Schema, no longer holds in `new`: one line a fault, with the field."""
    return list(_compare(old, new, (old, new), str(old.get("title", ""))))


def gate(released: Mapping[str, str], today: Mapping[str, Schema], examples: Mapping[str, str]) -> list[str]:
    """Every fault of today's schemas and examples against the released files, by path below schemas/."""
    wrong: list[str] = []
    for path, content in sorted(released.items()):
        folder, _, file = path.partition("/")
        name = file.removesuffix(".json")
        if folder == "examples" and examples.get(name) != content:
            what = "was edited" if name in examples else "was removed"
            wrong.append(f"{path} {what}: a released example stays; a change of meaning is a new major version")
        elif folder == "json" and name not in today:
            wrong.append(f"{name} was removed: stored events of this type could no longer be read")
        elif folder == "json":
            wrong += [f"{name}: {fault}" for fault in faults(json.loads(content), today[name])]
    return wrong


def released_at(revision: str, folder: Path = HERE) -> dict[str, str]:
    """The schemas and examples as a commit has them, by path below schemas/. Raises `NoSuchRevision`."""
    listed = _git(folder, "ls-tree", "-r", "--name-only", revision, "json/", "examples/")
    return {path: _git(folder, "show", f"{revision}:./{path}") for path in listed.split()}


def examples_in(folder: Path = HERE) -> dict[str, str]:
    """Today's golden examples by event type."""
    return {path.stem: path.read_text(encoding="utf-8") for path in sorted((folder / "examples").glob("*.json"))}


def main(arguments: list[str] | None = None) -> int:
    """The command line; 1 where something is refused."""
    said = (__doc__ or "").splitlines()[0]
    parser = argparse.ArgumentParser(prog="python -m schemas.compatibility", description=said)
    parser.add_argument("--against", default="HEAD", metavar="REVISION", help="the commit to hold against (HEAD)")
    revision = parser.parse_args(arguments).against
    try:
        wrong = gate(released_at(revision), _today(), examples_in())
    except NoSuchRevision as error:
        wrong = [str(error)]
    if wrong:
        sys.stderr.write("\n".join([*wrong, "add a field with a default, or a new major version\n"]))
    return 1 if wrong else 0


def _today() -> dict[str, Schema]:
    return {name: json_schema(event) for name, event in EVENTS.items()}


def _git(folder: Path, *arguments: str) -> str:
    done = subprocess.run(["git", "-C", str(folder), *arguments], capture_output=True, text=True, check=False)
    if done.returncode:
        raise NoSuchRevision(f"git {' '.join(arguments[:2])} failed: {done.stderr.strip()}")
    return done.stdout


def _compare(old: Schema, new: Schema, roots: tuple[Schema, Schema], where: str) -> Faults:
    old, new = _resolved(old, roots[0]), _resolved(new, roots[1])
    offers = [_resolved(one, roots[1]) for one in new.get("anyOf", [new])]
    for one in old.get("anyOf", [old]):
        tried = [list(_compare_one(_resolved(one, roots[0]), offer, roots, where)) for offer in offers]
        yield from min(tried, key=lambda found: (any("type changed" in line for line in found), len(found)))


def _compare_one(old: Schema, new: Schema, roots: tuple[Schema, Schema], where: str) -> Faults:
    before, after = _kind(old), _kind(new)
    if before != after and after != "anything" and (before, after) != ("integer", "number"):
        yield f"{where}: type changed from {before} to {after}"
        return
    yield from _values(old, new, where)
    yield from _limits(old, new, where)
    if "properties" in old:
        yield from _fields(old, new, roots, where)
    for part in ("items", "additionalProperties"):
        if _part(new, part):
            yield from _compare(_part(old, part), _part(new, part), roots, f"{where}[]")


def _fields(old: Schema, new: Schema, roots: tuple[Schema, Schema], where: str) -> Faults:
    fields = new.get("properties", {})
    for name, schema in old["properties"].items():
        if name in fields:
            yield from _compare(schema, fields[name], roots, f"{where}.{name}")
        else:
            yield f"{where}.{name}: the field was removed"
    for name in sorted(set(new.get("required", ())) - set(old.get("required", ()))):
        what = "became required" if name in old["properties"] else "is new and required; give it a default"
        yield f"{where}.{name}: the field {what}"


def _values(old: Schema, new: Schema, where: str) -> Faults:
    before, after = _allowed(old), _allowed(new)
    if after is None:
        return
    if before is None:
        yield f"{where}: now only {', '.join(sorted(after))} may stand here"
    elif before - after:
        yield f"{where}: {', '.join(sorted(before - after))} may no longer stand here"


def _limits(old: Schema, new: Schema, where: str) -> Faults:
    for name in (*_AT_MOST, *_AT_LEAST):
        if name not in new:
            continue
        sign = 1 if name in _AT_MOST else -1
        if name not in old or sign * new[name] < sign * old[name]:
            yield f"{where}: {name} was tightened from {old.get(name, 'none')} to {new[name]}"
    if "pattern" in new and new["pattern"] != old.get("pattern"):
        yield f"{where}: pattern was tightened from {old.get('pattern', 'none')} to {new['pattern']}"


def _kind(schema: Schema) -> str:
    """The type with its format, "anything" for a schema that says nothing."""
    if "type" not in schema:
        return "string" if _allowed(schema) else "anything"
    return " ".join(str(schema[part]) for part in ("type", "format") if part in schema)


def _allowed(schema: Schema) -> set[str] | None:
    values = schema.get("enum", [schema["const"]] if "const" in schema else None)
    return None if values is None else {json.dumps(value) for value in values}


def _part(schema: Schema, name: str) -> Schema:
    found = schema.get(name, {})
    return found if isinstance(found, Mapping) else {}


def _resolved(schema: Schema, root: Schema) -> Schema:
    while "$ref" in schema:
        schema = root["$defs"][schema["$ref"].rpartition("/")[2]]
    return schema


if __name__ == "__main__":
    sys.exit(main())
