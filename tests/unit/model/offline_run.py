"""Walking a world past the offline model: memory is folded from its reflections, as the processors would."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from schemas.model_output import Reflection, tool_schema
from services.demo.world import Mail, World
from services.learn_documents.chunks import chunk
from services.model.port import Exchange, Layer, Request, Tool, ToolCall, ToolResult
from tests.support.offline import MODEL

ACTS = ("reply", "no_reply_needed", "escalate", "search_knowledge")
ANSWERED = ("replied", "no_reply", "escalated")


@dataclass
class Remembered:
    """What one participant's memory holds."""

    facts: dict[tuple[str, str], dict[str, Any]] = field(default_factory=dict)
    state: str = "unknown"
    brief: str = ""
    issue_keys: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Turn:
    """One answered mail: the request, the act, and what was learned from it."""

    mail: Mail
    request: Request
    act: ToolCall
    learned: Reflection
    memory: Remembered

    @property
    def said(self) -> str:
        return str(self.act.input.get("text") or self.act.input.get("message_to_customer") or "")


def chunks(world: World) -> tuple[Mapping[str, Any], ...]:
    return tuple(
        {"id": f"{document.slug}#{number}", "title": document.title, "heading": part.heading, "text": part.text}
        for document in world.documents
        for number, part in enumerate(chunk(document.text))
    )


def mail_item(mail: Mail) -> dict[str, Any]:
    return {
        "message_id": mail.message.message_id,
        "from_name": mail.message.sender.split(" <")[0],
        "from_address": mail.envelope_from,
        "subject": mail.message.subject,
        "text": mail.message.text.strip(),
        "at": mail.received_at.isoformat(),
    }


async def act_of(request: Request) -> ToolCall:
    """The first act that is not a look-up; look-ups find nothing."""
    model = MODEL
    answer = await model.ask(request)
    if answer.calls[0].name == "search_knowledge":
        history = (Exchange(answer, (ToolResult(answer.calls[0].id, "nothing found"),)),)
        answer = await model.ask(
            Request(request.purpose, request.system, request.layers, request.task, request.tools, history=history)
        )
    return answer.calls[-1]


async def walk(world: World) -> list[Turn]:
    """Every mail of the world that a model sees, in order."""
    people: dict[str, Remembered] = {}
    threads: dict[str, dict[str, Any]] = {}
    turns = []
    for mail in (mail for mail in world.mails if mail.expected.outcome in ANSWERED):
        memory = people.setdefault(mail.envelope_from, Remembered())
        thread = threads.setdefault(_root(world, mail), {"recent": [], "summary": ""})
        request = Request("reply", "", tuple(_layers(world, mail, memory, thread)), "Answer.", _tools(*ACTS))
        act = await act_of(request)
        _converse(thread, mail, act)
        reflecting = Request(
            "reflect", "", tuple(_layers(world, mail, memory, thread)), "", _tools("reflect"), must_call="reflect"
        )
        answer = await MODEL.ask(reflecting)
        learned = Reflection.model_validate(answer.calls[0].input)
        _remember(memory, thread, learned, mail)
        turns.append(Turn(mail, request, act, learned, memory))
    return turns


def _root(world: World, mail: Mail) -> str:
    while mail.answers:
        mail = world.mail(mail.answers)
    return mail.key


def _tools(*names: str) -> tuple[Tool, ...]:
    return tuple(Tool(name, "", tool_schema(name)) for name in names)


def _layers(world: World, mail: Mail, memory: Remembered, thread: dict[str, Any]) -> Iterator[Layer]:
    found = chunks(world)
    yield Layer("persona", "", ({"agent": f"{world.product.name} support"},), shared=True)
    facts = tuple(memory.facts.values())
    yield Layer("participant", "", ({"address": mail.envelope_from, "state": memory.state}, *facts))
    yield Layer("brief", memory.brief)
    yield Layer("summary", thread["summary"])
    yield Layer("knowledge", "\n".join(str(one["text"]) for one in found), found)
    yield Layer("recent", "", tuple(thread["recent"]), trusted=False)
    yield Layer("mail", mail.message.text, (mail_item(mail),), trusted=False)


def _converse(thread: dict[str, Any], mail: Mail, act: ToolCall) -> None:
    thread["recent"].append({"role": "customer", "text": mail.message.text, "at": mail.received_at.isoformat()})
    if said := act.input.get("text") or act.input.get("message_to_customer"):
        later = mail.received_at + timedelta(minutes=1)
        thread["recent"].append({"role": "agent", "text": said, "at": later.isoformat()})


def _remember(memory: Remembered, thread: dict[str, Any], learned: Reflection, mail: Mail) -> None:
    for fact in learned.facts:
        memory.facts[(fact.kind, fact.key)] = {
            **fact.model_dump(mode="json"),
            "id": f"{fact.kind}/{fact.key}",
            "recorded_at": mail.received_at.isoformat(),
        }
    if learned.participant:
        memory.state = learned.participant.state
    memory.brief, thread["summary"] = learned.brief, learned.summary
    memory.issue_keys.append(learned.signals.issue_key)
