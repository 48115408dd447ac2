"""Two years of customers on the product's own path: what of them is found again, by which arm, and what it costs.

Mails are let in as an import is, in their own time; `reflect` asks a scripted model, and the other processors do what
follows; at the end of each month the daily round asks for periods. Then questions are put to the layers of memory, at
random moments and at the end, each arm with 700 tokens: rows only; rows and what was said; rows and told periods.
The scripted model puts the subjects and facts of several rows into one sentence, in their words and never wrong: as short as
a good model would, so the arm with periods measures what is shown in that room, not how well it is worded.
`--quick`: 20 customers; else 200, of whom each is asked less.
"""

from __future__ import annotations

import asyncio
import random
import re
import statistics
import sys
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from email.message import EmailMessage
from email.utils import format_datetime
from types import SimpleNamespace
from typing import Any

from deploy.local import EmbeddedStack
from schemas.events.replies import ContextLayer
from services.core.app import App, open_app
from services.core.clock import random_id
from services.core.settings import shaped
from services.demo.clock import SteppingClock
from services.load_memory.handler import load_layers
from services.load_memory.layers import LAYERS, earlier, grains, participant
from services.load_memory.turn import MailToAnswer, Turn
from services.memory.embeddings import meanings
from services.memory.questions import asked
from services.model.port import Answer, Request, ToolCall, Usage
from services.operations.erase.run import erase
from services.operations.periods import ask as ask_for_periods
from services.operations.preparation import prepare
from services.receive_email.accept import accept
from tests.benchmarks.measured import Measured, at_least, at_most, percent
from tests.benchmarks.recall_support import Options, run
from tests.benchmarks.stage import prompt_tokens
from tests.benchmarks.two_years_world import MONTHS, Customer, Letter, Question, customers, month_of, questions
from tests.support.app import settings_for
from tests.support.erasing import found
from tests.support.remembering import START, Quiet
from tests.support.stack import temporary_home
from tests.support.tending import Tended

SEED = 17
QUICK, WHOLE = 20, 200
PERIODS = {"enabled": True, "rows_from": 8, "calls_a_day": 100_000}
ARMS = {  # tokens of each layer, 700 together, and whether told periods are shown
    "rows": ({participant: 350, grains: 350}, False),
    "rows and what was said": ({participant: 300, grains: 150, earlier: 250}, False),
    "rows and told periods": ({participant: 350, grains: 350}, True),
}
LOOKED_AT = (6, 12, 18, 24)  # months
ERASED = 3
ROW = re.compile(r"- \[([0-9a-f-]{36})\] \S+: (.*)")
SUBJECT = re.compile(r"«(.*?)»: .*")
ROWS_A_SENTENCE = 4
INVENTED = "Support promised them 4711 euros."  # told of each period, on rows that say nothing like it
SIZES = """
SELECT coalesce(whole.relname, one.relname) AS name, sum(pg_total_relation_size(one.oid))::float8 AS bytes
FROM pg_class one LEFT JOIN pg_inherits i ON i.inhrelid = one.oid LEFT JOIN pg_class whole ON whole.oid = i.inhparent
WHERE one.relkind = 'r' AND one.relnamespace = current_schema()::regnamespace GROUP BY 1"""
REFERENCE = re.compile(r"Reference (\S+)\.")


class Scripted:
    """Says of each mail what the world has for it, and tells a period by its rows, several in a sentence."""

    name = "scripted"

    def __init__(self, letters: Sequence[Letter]) -> None:
        self.letters = {one.code: one for one in letters}
        self.calls, self.tokens = Counter[str](), Counter[str]()

    async def ask(self, request: Request) -> Answer:
        """One call of the tool that is wanted."""
        call = self._tell(request) if request.purpose == "condense" else self._reflect(request)
        size = prompt_tokens(request)
        self.calls[request.purpose] += 1
        self.tokens[request.purpose] += size
        return Answer("", (call,), "tool_use", self.name, Usage(input=size, output=100))

    def _reflect(self, request: Request) -> ToolCall:
        codes = REFERENCE.findall("\n".join(layer.text for layer in request.layers))
        return ToolCall("r", "reflect", self.letters[codes[-1]].reflection)

    def _tell(self, request: Request) -> ToolCall:
        rows = [
            (id, SUBJECT.sub(r"\1", text)) for id, text in ROW.findall(request.layers[0].text) if "became" not in text
        ]
        told = [
            {"text": "; ".join(dict.fromkeys(text.rstrip(".") for _, text in some)), "rows": [id for id, _ in some]}
            for some in (rows[n : n + ROWS_A_SENTENCE] for n in range(0, len(rows), ROWS_A_SENTENCE))
        ]
        return ToolCall(
            "t", "tell", {"sentences": [{"text": INVENTED, "rows": told[0]["rows"]}, *told] if told else []}
        )

    async def close(self) -> None:
        """Nothing is open."""


@dataclass
class Seen:
    """What an arm showed: shares of gold by sort of question, wrong values that memory was sure of, stale layers."""

    gold: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    sure: int = 0
    false_times: int = 0
    stale: int = 0
    left_of_erased: int = 0
    tokens: list[int] = field(default_factory=list)


@dataclass
class Years:
    """A deployment that lives through two years, and what was seen of it."""

    app: Tended
    model: Scripted
    people: Sequence[Customer]
    dice: random.Random
    seen: dict[str, Seen] = field(default_factory=lambda: {name: Seen() for name in ARMS})
    megabytes: dict[int, float] = field(default_factory=dict)
    by_table: dict[int, dict[str, float]] = field(default_factory=dict)
    prompts: dict[int, float] = field(default_factory=dict)
    told: int = 0
    invented: int = 0

    async def live(self, each: int) -> None:
        """Month by month; some are asked at the end of each, `each` is how many questions everybody has at the end."""
        for month in range(MONTHS):
            end = month_of(month + 1)
            for letter in sorted((one for who in self.people for one in who.letters), key=lambda one: one.at):
                if month_of(month) <= letter.at < end:
                    await self._receive(letter)
            self.app.clock.forward(end)
            await self.app.settle()
            await ask_for_periods(self.app.app, asyncio.Event())
            await self.app.settle()
            await self.app.pass_over_done()
            for who in self.dice.sample(self.people, max(1, len(self.people) // 10)):
                await self._question(who, end, 1 + month % 2)
            if month + 1 in LOOKED_AT:
                await self._look(month + 1, end)
            print(f"{end:%Y-%m}: {sum(self.model.calls.values())} calls", flush=True)
        for who in self.people:
            await self._question(who, end, each)

    async def _receive(self, letter: Letter) -> None:
        mail = EmailMessage()
        mail["From"], mail["To"] = letter.sender, self.app.app.settings.inboxes[0].address
        mail["Subject"], mail["Message-ID"] = letter.subject, f"<{letter.code}@{letter.sender.partition('@')[2]}>"
        mail["Date"] = format_datetime(letter.at)
        mail.set_content(letter.text)
        self.app.clock.forward(letter.at)
        inbox = self.app.app.settings.inboxes[0]
        await accept(self.app.app, inbox, mail.as_bytes(), source="file", source_key=letter.code, mode="history")

    async def turn(self, who: Customer, now: datetime, text: str, *, periods: bool) -> Turn:
        """A customer's question, as the layers see it."""
        app = self.app.app if periods else _without_periods(self.app.app)
        person = self.app.person(who.addr)
        empty: dict[str, Any] = dict.fromkeys(("message_id", "subject", "quoted", "signature", "author_name"), "")
        mail = MailToAnswer(
            mail_id=random_id(), participant_id=person, text=text, author_addr=who.addr, received_at=now,
            language="en", flags=[], attachments=[], **empty,
        )  # fmt: skip
        things = asked(text, now, app.settings.recall.questions)
        meaning, *others = await meanings(app.embedder, [text, *(one.words for one in things)])
        return Turn(
            app=app, workspace=self.app.workspace, now=now, thread_id=random_id(), participant_id=person,
            inbox=app.settings.inboxes[0], mails=(mail,), meaning=meaning, asked=tuple(zip(things, others, strict=True)),
            addresses={person: who.addr}, chosen=shaped(app.settings, app.settings.inboxes[0], who.addr, []),
        )  # fmt: skip

    async def layers(self, arm: str, who: Customer, now: datetime, text: str) -> list[ContextLayer]:
        """What an arm shows of memory for a question."""
        rooms, periods = ARMS[arm]
        turn = await self.turn(who, now, text, periods=periods)
        return await load_layers([_within(layer, room) for layer, room in rooms.items()], turn)  # type: ignore[misc]

    async def _question(self, who: Customer, now: datetime, count: int) -> None:
        for one in questions(self.dice, who, now, count):
            gold = await self._gold(who, one)
            for arm, seen in self.seen.items():
                shown = await self.layers(arm, who, now, one.text)
                seen.tokens.append(sum(layer.tokens for layer in shown))
                named = named_in(shown)
                seen.gold[one.sort].append(sum(bool(ids & named) for ids in gold) / len(gold))
                if one.sort == "state":
                    sure = {item["fact"] for layer in shown for item in layer.items if item.get("recall") == "sure"}
                    seen.sure += bool(sure)
                    seen.false_times += bool(sure - gold[0])

    async def _gold(self, who: Customer, one: Question) -> list[set[str]]:
        """What shows each piece of the answer: the ids of its rows, or its thread's subject."""
        person = self.app.person(who.addr)
        if one.sort == "state":
            query = (
                "SELECT fact_id, ending_of(fact_id) AS ending FROM facts"
                " WHERE participant_id = %(who)s AND value = %(value)s"
            )
            rows = await self.app.rows(query, who=person, value=one.value)
            return [{str(id) for row in rows for id in row.values()}]
        query = (
            "SELECT t.subject, t.thread_id, s.summary_id FROM threads t JOIN thread_summaries s USING (thread_id)"
            " WHERE s.participant_id = %(who)s"
        )
        threads = {row["subject"]: row for row in await self.app.rows(query, who=person)}
        return [{subject, *(str(id) for id in list(threads[subject].values())[1:])} for subject in one.subjects]

    async def _look(self, month: int, now: datetime) -> None:
        (row,) = await self.app.rows("SELECT pg_database_size(current_database()) AS bytes")
        self.megabytes[month] = row["bytes"] / 1e6
        self.by_table[month] = {row["name"]: row["bytes"] / 1e6 for row in await self.app.rows(SIZES)}
        some = self.people[:10]
        loaded = [
            await load_layers(LAYERS, await self.turn(who, now, "Which plan are we on?", periods=True)) for who in some
        ]
        self.prompts[month] = statistics.mean(sum(layer.tokens for layer in one) for one in loaded)

    async def count_told(self) -> None:
        """The sentences that were kept, and the invented ones among them."""
        query = "SELECT one ->> 'text' AS text FROM memory_periods, jsonb_array_elements(sentences) AS one"
        texts = [row["text"] for row in await self.app.rows(query)]
        self.told, self.invented = len(texts), sum(text == INVENTED for text in texts)

    async def correct_and_erase(self) -> None:
        """A person corrects everybody's plan; a few customers are erased. What still shows it is counted."""
        end, ask = month_of(MONTHS), "Which plan are we on?"
        for who in self.people:
            person = self.app.person(who.addr)
            (fact,) = await self.app.rows(
                "SELECT fact_id, value, ending_of(fact_id) AS ending FROM facts"
                " WHERE participant_id = %(who)s AND key = 'plan' AND superseded_at IS NULL",
                who=person,
            )
            days = (self.app.clock() - START) / timedelta(days=1)
            await self.app.ask(
                "correct", days, who.addr, fact_id=fact["fact_id"], value="Bespoke", reason="It was wrong."
            )
            await self.app.pass_over_done()
            for arm, seen in self.seen.items():
                shown = await self.layers(arm, who, self.app.clock() + timedelta(minutes=1), ask)
                seen.stale += bool({str(fact["fact_id"]), str(fact["ending"])} & standing_in(shown))
        for who in self.people[:ERASED]:
            await erase(self.app.app, await found(self.app.app, who.addr), by="benchmark")
            for arm, seen in self.seen.items():
                shown = await self.layers(arm, who, end, ask)
                seen.left_of_erased += bool(named_in(shown))


def _within(layer: Any, room: int) -> SimpleNamespace:
    names = ("NAME", "SHARED", "TRUSTED", "ABOUT", "load")
    return SimpleNamespace(**{name: getattr(layer, name) for name in names}, budget=lambda turn: room)


def _without_periods(app: App) -> App:
    off = app.settings.condense.model_copy(update={"enabled": False})
    return replace(app, settings=app.settings.model_copy(update={"condense": off}))


def named_in(layers: Sequence[ContextLayer]) -> set[str]:
    """The rows that layers show, by id, and the threads, by subject."""
    named: set[str] = set()
    for item in (item for layer in layers for item in layer.items):
        named |= {str(item[name]) for name in ("id", "subject") if item.get(name)}
        named |= {str(one["id"]) for one in item.get("entries", ())}
        named |= {str(id) for one in item.get("told", ()) for id in one["rows"]}
    return named


def standing_in(layers: Sequence[ContextLayer]) -> set[str]:
    """The rows that layers show as what holds, or that a told period rests on."""
    items = [item for layer in layers for item in layer.items]
    told = {str(id) for item in items for one in item.get("told", ()) for id in one["rows"]}
    return told | {str(item["id"]) for item in items if item.get("id") and not item.get("ended")}


async def measure(count: int, each: int) -> Sequence[Measured]:
    """The lines of so many customers, who are each asked so often at the end."""
    people = customers(SEED, count)
    model = Scripted([one for who in people for one in who.letters])
    with temporary_home() as home, EmbeddedStack(home) as endpoints:
        settings = settings_for(endpoints, endpoints.database, "years.", home / "deployment", condense=PERIODS)
        await prepare(settings)
        clock = SteppingClock(month_of(0))
        async with open_app(settings, model=model, now=clock) as app:
            years = Years(Tended(replace(app, publisher=Quiet(settings.kafka.brokers)), clock), model, people,
                          random.Random(SEED))  # fmt: skip
            await years.live(each)
            await years.count_told()
            await years.correct_and_erase()
    return lines(years)


def lines(years: Years) -> list[Measured]:
    """What was seen, as lines."""
    found = []
    for arm, seen in years.seen.items():
        for sort, target in (("state", 95.0), ("story", 85.0)):
            shares = seen.gold[sort]
            shown = round(100 * statistics.mean(shares), 1)
            name = f"{arm}: gold of questions of {sort} in {max(seen.tokens)} tokens"
            found.append(at_least(name, shown, "%", target, len(shares)))
        found.append(at_most(f"{arm}: sure of a value of another time", percent(seen.false_times, seen.sure or 1), "%",
                             2, seen.sure))  # fmt: skip
        found.append(at_most(f"{arm}: stale after a correction", seen.stale, "customers", 0, len(years.people)))
        found.append(
            at_most(
                f"{arm}: left of somebody erased", seen.left_of_erased, "customers", 0, min(ERASED, len(years.people))
            )
        )
    found.append(at_most("told sentences without support", years.invented, "sentences", 0, years.told))
    months = len(years.people) * MONTHS
    for purpose in years.model.calls:
        calls, tokens = years.model.calls[purpose] / months, years.model.tokens[purpose] / months
        found.append(Measured(f"calls to {purpose}, a customer and month", round(calls, 2), "", n=months))
        found.append(Measured(f"tokens read to {purpose}, a customer and month", round(tokens), "", n=months))
    sizes, prompts = years.megabytes, years.prompts
    grown = (sizes[24] - sizes[12]) / max(sizes[12] - sizes[6], 0.1) / 2
    shares = _growth(years.by_table)
    found.append(at_most("storage a month, second year / second half of the first", grown, "x", 1.5, months, shares))
    found.append(
        Measured("storage, a customer and month", 1000 * (sizes[24] - sizes[6]) / months * 24 / 18, "kB", n=months)
    )
    growth = prompts[24] / prompts[12]
    found.append(at_most("prompt, month 24 / month 12", growth, "x", 1.5, 10, {str(k): v for k, v in prompts.items()}))
    return found


def _growth(sizes: dict[int, dict[str, float]]) -> dict[str, float]:
    """The tables that grew most in the second year: kB a month then, and in the second half of the first."""
    grown = {name: size - sizes[12].get(name, 0) for name, size in sizes[24].items()}
    found: dict[str, float] = {}
    for name in sorted(grown, key=lambda one: grown[one], reverse=True)[:12]:
        found[f"kB of {name}"] = 1000 * grown[name] / 12
        found[f"{name} before"] = 1000 * (sizes[12].get(name, 0) - sizes[6].get(name, 0)) / 6
    return found


def benchmark(options: Options) -> Sequence[Measured]:
    """Both sizes have some two hundred questions at the end."""
    return asyncio.run(measure(QUICK, 10) if options.quick else measure(WHOLE, 2))


if __name__ == "__main__":
    sys.exit(run("two_years", benchmark))
