"""bench-model-cost: what the model costs for a mail, on the demo's conversations.

The whole flow on the embedded stack, with the offline model; each request is put into the form in which a provider is
sent it, and accounted as a provider with a prompt cache would (no mark that is read later than the cache lives is
allowed for: the demo's days are played at once). Calls are counted apart from further rounds of tools. `--quick` plays
one world, else three.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections import defaultdict
from dataclasses import dataclass, field

from deploy.local import EmbeddedStack
from services.cli.knowledge.documents import Marks, add_all
from services.core.app import open_app
from services.demo.clock import SteppingClock
from services.demo.director import demo_settings, play, shelf_of
from services.demo.world import SentReply, World, ZoneResolver, make_world
from services.model.anthropic_wire import to_wire
from services.model.offline import OfflineModel
from services.model.port import Answer, Request, Usage
from services.model.settings import ModelSettings
from services.operations.idle import until_idle
from services.operations.knowledge.sources import expand
from services.operations.preparation import prepare
from services.pipeline import NAMES
from services.process import working
from tests.benchmarks.measured import Measured, at_most
from tests.benchmarks.recall_support import Options, run
from tests.support.prompts import prefix_sha256
from tests.support.scripted_rules import PromptCache
from tests.support.stack import temporary_home

SEEDS, QUICK_SEEDS = (0, 1, 2), (0,)
CACHED_FROM = 1024  # tokens: shorter prefixes are not cached by the provider
MOST_CALLS = 2.0  # a mail, on average


@dataclass(frozen=True, slots=True)
class Asked:
    """One request: for which purpose, the inbox it is for, whether a further round, its prefix, its tokens."""

    purpose: str
    inbox: str
    further: bool
    prefix: str
    usage: Usage


@dataclass
class Metered:
    """The offline model, with a meter."""

    name: str = OfflineModel.name
    asked: list[Asked] = field(default_factory=list)
    _model: OfflineModel = field(default_factory=OfflineModel)
    _cache: PromptCache = field(default_factory=lambda: PromptCache(CACHED_FROM))

    async def ask(self, request: Request) -> Answer:
        """The answer, accounted for."""
        answer = await self._model.ask(request)
        said = json.dumps([call.input for call in answer.calls], default=str)
        told = self._cache.account(to_wire(request, ModelSettings()), said)
        usage = Usage(
            input=told["input_tokens"],
            output=told["output_tokens"],
            cache_read=told["cache_read_input_tokens"],
            cache_write=told["cache_creation_input_tokens"],
        )
        inbox = next((layer.text for layer in request.layers if layer.name == "persona"), "")
        self.asked.append(Asked(request.purpose, inbox, bool(request.history), prefix_sha256(request), usage))
        return answer

    async def close(self) -> None:
        """Nothing is open."""


async def metered(world: World) -> Metered:
    """Every mail of a world through the flow."""
    meter, clock = Metered(), SteppingClock(world.mails[0].received_at)
    with temporary_home() as home, EmbeddedStack(home) as endpoints:
        settings = demo_settings(world, endpoints, home / "demo")
        await prepare(settings)
        async with (
            open_app(settings, model=meter, resolver=ZoneResolver(world.dns_zone), now=clock) as app,
            working(app, NAMES),
        ):
            await add_all(app, expand([shelf_of(world, home)]), Marks("", "bench"), settings.knowledge)
            await until_idle(app)
            replies: dict[str, SentReply] = {}
            for mail in world.mails:
                await play(app, clock, mail, replies)
    return meter


def lines(asked: list[Asked], mails: int) -> list[Measured]:
    """Calls, tokens, cached share, and how many prefixes each inbox's replies had; of mails that the model was shown."""
    shown = sum(one.purpose == "reply" and not one.further for one in asked)
    first, further = sum(not one.further for one in asked), sum(one.further for one in asked)
    prompt = sum(one.usage.input + one.usage.cache_read + one.usage.cache_write for one in asked)
    read, out = sum(one.usage.cache_read for one in asked), sum(one.usage.output for one in asked)
    prefixes: dict[str, set[str]] = defaultdict(set)
    for one in asked:
        if one.purpose == "reply":
            prefixes[one.inbox].add(one.prefix)
    most = max(len(found) for found in prefixes.values())
    return [
        at_most("calls a mail that the model was shown", first / shown, "", MOST_CALLS, shown),
        Measured("calls a mail that came in", first / mails, "", n=mails),
        Measured("further rounds of tools a mail", further / shown, "", n=shown),
        Measured("prompt tokens a mail", prompt / shown, "tokens", n=shown),
        Measured("tokens out a mail", out / shown, "tokens", n=shown),
        Measured("share of the prompt read from the cache", 100 * read / prompt, "%", n=len(asked)),
        at_most("different prefixes of one inbox's replies", most, "", 1, shown + further),
    ]


async def measure(seeds: tuple[int, ...]) -> list[Measured]:
    """The worlds one after the other, each with a cache of its own, counted together."""
    worlds = [make_world(seed) for seed in seeds]
    asked = [one for world in worlds for one in (await metered(world)).asked]
    return lines(asked, sum(len(world.mails) for world in worlds))


def benchmark(options: Options) -> list[Measured]:
    """The benchmark as it is run from the command line; needs no data that is not ours."""
    return asyncio.run(measure(QUICK_SEEDS if options.quick else SEEDS))


if __name__ == "__main__":
    sys.exit(run("model_cost", benchmark))
