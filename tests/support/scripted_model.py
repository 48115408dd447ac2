"""A model's server for tests: real HTTP on a loopback port, the Messages API, and answers that a script chooses.

    async with ScriptedModel() as server:
        server.script(lambda request: reply_tool("reply", {"text": "Hello", "state": "resolved"}))
        ...                                     # point the settings' base URL at server.base_url
        server.requests[0].tools, server.requests[0].text

A script is a function of the request (plain or async) that returns a behaviour, a text, or None for the default.
`server.queue(...)` is asked before the script, one behaviour a request. The server is as strict as the real one
where that has bitten people (`scripted_rules.refusal_of`), and it counts cached tokens from the cache marks of
the requests alone: what an earlier request wrote under a mark is read, nothing else.
"""

from __future__ import annotations

import asyncio
import inspect
import json
import re
from collections import deque
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Self

from aiohttp import web

from tests.support.scripted_replies import (
    Behaviour,
    cut_connection,
    failing,
    hang,
    malformed_json,
    malformed_tool_input,
    overloaded,
    rate_limited,
    refusal,
    reply_text,
    reply_tool,
    reply_tools,
    truncated,
    truncated_tool,
)
from tests.support.scripted_rules import PromptCache, refusal_of, signature_after


@dataclass(frozen=True)
class Seen:
    """One request as it came in."""

    body: dict[str, Any]
    headers: Mapping[str, str]

    @property
    def key(self) -> str:
        """The key it came with, as a bearer token or in the older header."""
        bearer = self.headers.get("authorization", "").removeprefix("Bearer ")
        return bearer or self.headers.get("x-api-key", "")

    @property
    def tools(self) -> list[str]:
        """The names of the tools on offer."""
        return [tool["name"] for tool in self.body.get("tools", [])]

    @property
    def system(self) -> str:
        """The system prompt."""
        return _text_of(self.body.get("system", ""))

    @property
    def opening(self) -> str:
        """The first turn of the user: the participant's layers, the mail, the task."""
        return _text_of(self.body["messages"][0]["content"])

    @property
    def text(self) -> str:
        """All that the model can read, tools aside."""
        return "\n".join([self.system, *(_text_of(message["content"]) for message in self.body["messages"])])

    def fenced(self, name: str) -> list[str]:
        """What stands inside the fences of this name, e.g. `fenced("mail")`: the untrusted texts, in order."""
        fence = re.compile(rf"<<<(\w+):{re.escape(name)}>>>\n(.*?)\n<<<end \1:{re.escape(name)}>>>", re.DOTALL)
        return [text for _, text in fence.findall(self.text)]

    @property
    def results(self) -> list[dict[str, Any]]:
        """The tool results of the newest turn, as blocks."""
        content = self.body["messages"][-1]["content"]
        return [block for block in content if block["type"] == "tool_result"] if isinstance(content, list) else []

    @property
    def round(self) -> int:
        """How many times the model has spoken in this conversation already."""
        return sum(message["role"] == "assistant" for message in self.body["messages"])

    @property
    def must_call(self) -> str:
        """The tool that has to be called, whether it is forced or asked for in words; "" for none."""
        forced = self.body.get("tool_choice", {}).get("name")
        asked = re.search(r"Answer by calling the tool `([^`]+)`", self.opening)
        return forced or (asked[1] if asked else "")


__all__ = [
    "Behaviour",
    "Script",
    "ScriptedModel",
    "Seen",
    "cut_connection",
    "failing",
    "hang",
    "malformed_json",
    "malformed_tool_input",
    "obey_mail",
    "overloaded",
    "rate_limited",
    "refusal",
    "reply_text",
    "reply_tool",
    "reply_tools",
    "truncated",
    "truncated_tool",
]

Script = Callable[[Seen], "Behaviour | str | Awaitable[Behaviour | str | None] | None"]


_ORDER = re.compile(r"^[>\s]*CALL (\w+) (\{.*\})\s*$", re.MULTILINE)


def obey_mail(otherwise: Script) -> Script:
    """A model that obeys the attacker: every line `CALL tool {json}` that it can read anywhere is called.

    It obeys once in a conversation; then, and where nobody gives orders, it does as `otherwise` says.
    """

    def script(request: Seen) -> Behaviour | str | Awaitable[Behaviour | str | None] | None:
        orders = [(name, json.loads(given)) for name, given in _ORDER.findall(request.text)]
        return reply_tools(*orders) if orders and request.round == 0 else otherwise(request)

    return script


class ScriptedModel:
    """The server. `requests` are all that came, `usages` what each answer reported, in order.

    `models` limits the names that exist (404 for others), `keys` the keys that are valid (401 for others). Both hold
    from the start; `keys` may be changed meanwhile, and so may `away`, which answers each request while it is set.
    `turned_away` counts the requests that were answered so, or had no valid key.
    """

    def __init__(
        self, *, models: set[str] | None = None, keys: set[str] | None = None, cache_minimum: int = 512
    ) -> None:
        self.requests: list[Seen] = []
        self.usages: list[dict[str, int]] = []
        self.delay_s = 0.0
        self.base_url = ""
        self._models = models
        self.keys = keys
        self.away: Behaviour | None = None
        self.turned_away = 0
        self._queue: deque[Behaviour] = deque()
        self._script: Script = lambda request: None
        self._cache = PromptCache(cache_minimum)
        self._runner: web.AppRunner | None = None
        self._going = asyncio.Event()
        self._count = 0

    def script(self, script: Script) -> Self:
        """From now on answer as `script` says."""
        self._script = script
        return self

    def queue(self, *behaviours: Behaviour) -> Self:
        """Answer the next requests with these, one each, before the script is asked again."""
        self._queue.extend(behaviours)
        return self

    @property
    def waiting(self) -> int:
        """How many queued answers nobody has asked for yet."""
        return len(self._queue)

    async def __aenter__(self) -> Self:
        app = web.Application(client_max_size=64 * 2**20)
        app.router.add_post("/v1/messages", self._handle)
        self._runner = web.AppRunner(app, shutdown_timeout=0.1)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", 0, backlog=1024)
        await site.start()
        self.base_url = f"http://127.0.0.1:{self._runner.addresses[0][1]}"
        return self

    async def __aexit__(self, *failure: object) -> None:
        self._going.set()
        assert self._runner is not None
        await self._runner.cleanup()

    async def _handle(self, request: web.Request) -> web.StreamResponse:
        seen = Seen(await request.json(), request.headers.copy())
        self.requests.append(seen)
        behaviour = self._outage(seen) or self._refusal(seen) or await self._choose(seen)
        await self._wait(behaviour.delay_s + self.delay_s)
        body = (behaviour.body if behaviour.body is not None else self._message(seen, behaviour)).encode()
        headers = {"content-type": "application/json", **behaviour.headers}
        if behaviour.cut_after is None:
            return web.Response(body=body, status=behaviour.status, headers=headers)
        return await _cut(request, body, behaviour.cut_after, headers)

    def _outage(self, seen: Seen) -> Behaviour | None:
        denied = self.keys is not None and seen.key not in self.keys
        self.turned_away += bool(denied or self.away)
        return failing(401, "authentication_error", "invalid x-api-key") if denied else self.away

    def _refusal(self, seen: Seen) -> Behaviour | None:
        if self._models is not None and seen.body.get("model") not in self._models:
            return failing(404, "not_found_error", f"model: {seen.body.get('model')}")
        complaint = refusal_of(seen.body)
        return failing(400, "invalid_request_error", complaint) if complaint else None

    async def _choose(self, seen: Seen) -> Behaviour:
        if self._queue:
            return self._queue.popleft()
        chosen = self._script(seen)
        if inspect.isawaitable(chosen):
            chosen = await chosen
        if isinstance(chosen, str):
            return reply_text(chosen)
        assert isinstance(chosen, Behaviour | None)
        return chosen or reply_text("Hello.")

    async def _wait(self, seconds: float) -> None:
        if seconds:
            try:
                await asyncio.wait_for(self._going.wait(), seconds)
            except TimeoutError:
                return

    def _stamped(self, block: dict[str, Any], at: int, seen: Seen) -> dict[str, Any]:
        if block["type"] == "tool_use":
            return {"id": f"toolu_{self._count}_{at}", **block}
        if block["type"] == "thinking":
            return {**block, "signature": signature_after(seen.body, len(seen.body["messages"]))}
        return block

    def _message(self, seen: Seen, behaviour: Behaviour) -> str:
        self._count += 1
        content = [self._stamped(block, at, seen) for at, block in enumerate(behaviour.content)]
        usage = self._cache.account(seen.body, json.dumps(content))
        self.usages.append(usage)
        message = {"id": f"msg_{self._count}", "type": "message", "role": "assistant", "model": seen.body["model"]}
        return json.dumps(message | {"content": content, "stop_reason": behaviour.stop, "usage": usage})


async def _cut(request: web.Request, body: bytes, after: int, headers: Mapping[str, str]) -> web.StreamResponse:
    response = web.StreamResponse(headers={**headers, "content-length": str(len(body))})
    await response.prepare(request)
    await response.write(body[:after])
    assert request.transport is not None
    request.transport.abort()
    return response


def _text_of(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(str(block.get("text") or _text_of(block.get("content", ""))) for block in content)
