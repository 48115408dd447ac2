"""The tools as data: which route of the API each one calls, and what its caller reads about it. Pure.

What a tool takes is read from the API's OpenAPI document, so that the two cannot differ.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

Document = Mapping[str, Any]

SCHEMAS = "#/components/schemas/"
NOT_FOR_PROGRAMS = frozenset({"by", "files"})  # `by` is the token's name; files come from people


class ArgumentsRefused(ValueError):
    """A tool was called with what it does not take."""


@dataclass(frozen=True, slots=True)
class ApiTool:
    """A tool and the route that it calls. `sends` says that mail may leave because of it."""

    name: str
    method: str
    path: str
    about: str
    sends: bool = False

    @property
    def reads(self) -> bool:
        """Whether it changes nothing."""
        return self.method == "GET"

    def scope(self, document: Document) -> str:
        """The scope that a token needs for it."""
        return f"{self._operation(document)['tags'][0]}:{'read' if self.reads else 'write'}"

    def schema(self, document: Document) -> dict[str, Any]:
        """JSON Schema of its arguments: the route's parameters and the fields of its body."""
        operation = self._operation(document)
        properties, required = dict(_parameters(operation)), _required(operation)
        body = _body(document, operation)
        properties |= body.get("properties", {})
        required += body.get("required", [])
        kept = {name: one for name, one in properties.items() if name not in NOT_FOR_PROGRAMS}
        return {
            "type": "object",
            "properties": _local(kept),
            "required": required,
            "additionalProperties": False,
            "$defs": _local(_referred(document, kept)),
        }

    def request(self, document: Document, given: Mapping[str, Any]) -> dict[str, Any]:
        """What to ask of the API: `url`, `params` and `json`. Raises `ArgumentsRefused`."""
        schema = self.schema(document)
        if unknown := sorted(set(given) - set(schema["properties"])):
            raise ArgumentsRefused(f"{self.name} does not take {', '.join(unknown)}")
        if missing := [name for name in schema["required"] if name not in given]:
            raise ArgumentsRefused(f"{self.name} needs {', '.join(missing)}")
        operation = self._operation(document)
        places = {one["name"]: one["in"] for one in operation.get("parameters", ())}
        path = {name: _segment(name, given[name]) for name, place in places.items() if place == "path"}
        query = {name: given[name] for name, place in places.items() if place == "query" and name in given}
        body = {name: value for name, value in given.items() if name not in places}
        return {"url": self.path.format(**path), "params": query, "json": body if "requestBody" in operation else None}

    def _operation(self, document: Document) -> Mapping[str, Any]:
        operation: Mapping[str, Any] = document["paths"][self.path][self.method.lower()]
        return operation


def _segment(name: str, value: Any) -> str:
    """A value as one part of a path. Dots alone would lead to another route than the tool's."""
    if not str(value).strip("."):
        raise ArgumentsRefused(f"{name} names nobody and nothing: {value!r}")
    return quote(str(value), safe="")


def _parameters(operation: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for one in operation.get("parameters", ()):
        about = {"description": one["description"]} if "description" in one else {}
        yield one["name"], {**one["schema"], **about}


def _required(operation: Mapping[str, Any]) -> list[str]:
    return [one["name"] for one in operation.get("parameters", ()) if one["required"]]


def _body(document: Document, operation: Mapping[str, Any]) -> Mapping[str, Any]:
    if "requestBody" not in operation:
        return {}
    named = operation["requestBody"]["content"]["application/json"]["schema"]["$ref"]
    found: Mapping[str, Any] = document["components"]["schemas"][named.removeprefix(SCHEMAS)]
    return found


def _referred(document: Document, node: Any) -> dict[str, Any]:
    """Every named schema that `node` leads to, by name."""
    found: dict[str, Any] = {}
    open_nodes = [node]
    while open_nodes:
        for reference in _references(open_nodes.pop()):
            if reference not in found:
                found[reference] = document["components"]["schemas"][reference]
                open_nodes.append(found[reference])
    return found


def _references(node: Any) -> Iterator[str]:
    if isinstance(node, Mapping):
        if isinstance(reference := node.get("$ref"), str):
            yield reference.removeprefix(SCHEMAS)
        for value in node.values():
            yield from _references(value)
    elif isinstance(node, list):
        for value in node:
            yield from _references(value)


def _local(node: Any) -> Any:
    """The same with references into the tool's own `$defs`."""
    if isinstance(node, Mapping):
        return {
            key: value.replace(SCHEMAS, "#/$defs/") if key == "$ref" and isinstance(value, str) else _local(value)
            for key, value in node.items()
        }
    return [_local(value) for value in node] if isinstance(node, list) else node


PERSON = "/api/participants/{who}"
THREAD = "/api/threads/{thread_id}"
DRAFT = "/api/drafts/{reply_id}"

TOOLS = (
    ApiTool("list_people", "GET", "/api/participants", "People who have written to support, the latest first."),
    ApiTool("show_person", "GET", PERSON, "One person, by e-mail address or id."),
    ApiTool(
        "search_memory",
        "GET",
        f"{PERSON}/facts/search",
        "Facts about one person that answer a question, with a verdict: sure, rings_a_bell or nothing.",
    ),
    ApiTool(
        "list_facts",
        "GET",
        f"{PERSON}/facts",
        "All that is believed about one person now; each fact with the mail and the quote it was learned from.",
    ),
    ApiTool("read_brief", "GET", f"{PERSON}/brief", "What the agent is told about one person before it writes."),
    ApiTool(
        "search_conversations",
        "GET",
        f"{PERSON}/said/search",
        "Passages of one person's earlier mails, our replies to them and thread summaries that answer a question.",
    ),
    ApiTool("search_everybody", "GET", "/api/facts/search", "Facts about anybody that answer a question."),
    ApiTool("list_threads", "GET", "/api/threads", "Support threads, the latest change first; filter by state or tag."),
    ApiTool("show_thread", "GET", THREAD, "One thread: conversation, summary, goals, deadlines, notes and history."),
    ApiTool("list_deadlines", "GET", "/api/deadlines", "Replies and resolutions that are due, the overdue ones first."),
    ApiTool("search_knowledge", "GET", "/api/documents/search", "Passages of the knowledge base for a question."),
    ApiTool("list_drafts", "GET", "/api/drafts", "Replies that wait for a person's approval, the oldest first."),
    ApiTool("show_draft", "GET", DRAFT, "One reply that waits: its text, and what an approval has to repeat."),
    ApiTool("add_note", "POST", f"{THREAD}/notes", "Leave a note for colleagues on a thread. It is never sent."),
    ApiTool(
        "approve_draft",
        "POST",
        f"{DRAFT}/approve",
        "Send a waiting reply to the customer, in your own words where `text` is given. Repeat `text_sha256` and "
        "`thread_version` of show_draft; a draft or thread that changed since is refused.",
        sends=True,
    ),
    ApiTool("reject_draft", "POST", f"{DRAFT}/reject", "Discard a waiting reply; nothing is sent."),
)
