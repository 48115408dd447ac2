"""The commands that only look at a running deployment, as typed at the demo, and what costs CPU only by being loaded."""

from __future__ import annotations

import shlex

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


def words_of(query: str, demo: Demo) -> list[str]:
    """What is typed after `correspondent` to ask this of the demo."""
    found = thread("Following up")(demo) if "THREAD" in query else ""
    return ["--home", HOME, *shlex.split(query.replace("THREAD", found))]
