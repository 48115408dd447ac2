"""The commands that only look at a running deployment, as typed at the demo, and what costs CPU only by being loaded."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass

from tests.integration.test_cli import environment
from tests.support.documented_demo import HOME, Demo
from tests.support.documented_steps import thread

HEAVY = frozenset(
    [
        "aiohttp",
        "anthropic",
        "attr",
        "dkim",
        "dns",
        "fastapi",
        "faust",
        "httpx",
        "lxml",
        "markdown_it",
        "numpy",
        "obstore",
        "onnxruntime",
        "pip",
        "psutil",
        "pygments",
        "redis",
        "rich.traceback",
        "services.pipeline",
        "setuptools",
        "tokenizers",
        "uvicorn",
        "yoyo",
    ]
)  # each takes between 0.02 s and a second of CPU
BROKER = frozenset(["aiokafka"])
VECTORS = frozenset(["numpy", "tokenizers", "yoyo"])
QUERIES = {
    "mails": frozenset(),
    "threads": frozenset(),
    "thread THREAD": frozenset(),
    "why THREAD": frozenset(),
    "due": frozenset(),
    "drafts": frozenset(),
    "patterns": frozenset(),
    "status": BROKER,
    "alerts": frozenset(),
    "deliveries": frozenset(),
    "suppressions list": frozenset(),
    "topics list": BROKER,
    "dlq list": BROKER,
    "dlq turns": BROKER,
    "outbox": frozenset(),
    "held": frozenset(),
    "inbox list": frozenset(),
    "knowledge list": frozenset(),
    "memory people": frozenset(),
    "memory show john@acme.example": frozenset(),
    "memory lifecycle john@acme.example": frozenset(),
    "memory history john@acme.example": frozenset(),
    "memory as-of john@acme.example 2026-06-01": frozenset(),
    "profile john@acme.example": frozenset(),
    "vectors": VECTORS,
    "retention": BROKER | VECTORS | {"redis"},
    "settings": frozenset(),
}  # each with what it needs of HEAVY and of the broker's client


# What a process runs that asks several things one after the other, and says of each how it ended and what it loaded.
ASKS = """
import json, sys
from services.cli.main import main
results, before = [], set(sys.modules)
for words in json.loads(sys.argv[1]):
    sys.argv = ["correspondent", *words]
    try:
        main()
        code = 0
    except SystemExit as ended:
        code = ended.code or 0
    results.append({"code": code, "psycopg": "psycopg" in sys.modules, "loaded": sorted(set(sys.modules) - before)})
    before = set(sys.modules)
print(json.dumps(results), file=sys.stderr)
"""


@dataclass(frozen=True, slots=True)
class Asked:
    """How a query ended, and the modules that were loaded for it and for none before it in its process."""

    code: int
    asks_postgres: bool
    loaded: frozenset[str]


def ask_all(demo: Demo) -> dict[str, Asked]:
    """Every query, asked by a fresh process for those that may load the same, in their order.

    What a query loads and may not load hides nothing from the next one: the first to load it fails.
    """
    found: dict[str, Asked] = {}
    for allowed in dict.fromkeys(QUERIES.values()):
        queries = [one for one in QUERIES if QUERIES[one] == allowed]
        found |= dict(zip(queries, _asked(demo, queries), strict=True))
    return found


def _asked(demo: Demo, queries: Sequence[str]) -> list[Asked]:
    words = json.dumps([words_of(one, demo) for one in queries])
    done = subprocess.run(
        [sys.executable, "-c", ASKS, words],
        cwd=demo.folder,
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    results = json.loads(done.stderr.splitlines()[-1])
    return [Asked(one["code"], one["psycopg"], frozenset(one["loaded"])) for one in results]


def words_of(query: str, demo: Demo) -> list[str]:
    """What is typed after `correspondent` to ask this of the demo."""
    found = thread("Following up")(demo) if "THREAD" in query else ""
    return ["--home", HOME, *shlex.split(query.replace("THREAD", found))]
