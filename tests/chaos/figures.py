"""The figures of runs that passed, kept as lines of JSON, and shown as one Markdown table."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

from tests.chaos.run import Ran

FILE = "figures.jsonl"
COLUMNS = ("seed", "mails", "faults", "answered", "no_reply", "parked", "escalated", "unknown", "twice", "seconds")


def keep(folder: Path, ran: Ran, kafka: str) -> None:
    """Add a run to those kept below `folder`."""
    with (folder / FILE).open("a") as file:
        file.write(json.dumps({"kafka": kafka, **figures(ran)}) + "\n")


def figures(ran: Ran) -> dict[str, Any]:
    """The figures of one run. `escalated` are mails that ended with a person: handed over, failed, or left there."""
    outcomes = Counter(ran.judged.outcomes)
    with_a_person = outcomes["escalated"] + outcomes["failed"] + outcomes["waits for a person"] + outcomes["human"]
    return {
        "seed": ran.schedule.seed,
        "mails": ran.judged.mails,
        "faults": len(ran.schedule.faults),
        "answered": outcomes["sent"],
        "no_reply": outcomes["no_reply"],
        "parked": outcomes["park"] + outcomes["loop"] + outcomes["duplicate"],
        "escalated": with_a_person,
        "unknown": ran.judged.unknown,
        "twice": ran.judged.duplicates,
        "seconds": round(ran.seconds),
        "felt": dict(sorted(ran.felt.items())),
    }


def table(folder: Path) -> str:
    """All runs that were kept, the newest of each seed and size, as Markdown."""
    path = folder / FILE
    lines = path.read_text().splitlines() if path.exists() else []
    newest = {(one["kafka"], one["mails"], one["seed"]): one for one in map(json.loads, lines)}
    rows = [[one["kafka"], *(one[name] for name in COLUMNS)] for _, one in sorted(newest.items())]
    head = ["broker", *(name.replace("_", " ") for name in COLUMNS)]
    return "\n".join(_row(cells) for cells in (head, ["---"] * len(head), *rows))


def _row(cells: list[Any]) -> str:
    return "| " + " | ".join(str(cell) for cell in cells) + " |"
