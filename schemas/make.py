"""Makes what follows from the models and `topics.yaml`: JSON Schemas of events and webhooks, and the AsyncAPI document.

`python -m schemas.make` writes them, `python -m schemas.make --check` fails where a file is out of date. The same
models give the same bytes: keys are sorted, one file a type, nothing of the machine or the time is in them.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from schemas.asyncapi import document
from schemas.events import EVENTS, EventData
from schemas.webhook_payloads import DATA

HERE = Path(__file__).parent
JSON_SCHEMA = "https://json-schema.org/draft/2020-12/schema"
MADE = "# Made by `python -m schemas.make` from the models and topics.yaml; do not edit.\n"


def json_schema(event: type[EventData]) -> dict[str, Any]:
    """The JSON Schema (draft 2020-12) of the value of one event type."""
    return {"$schema": JSON_SCHEMA, "$id": f"urn:correspondent:{event.TYPE}", **event.model_json_schema()}


def made() -> dict[Path, str]:
    """Every made file, relative to this folder, and what it has to hold."""
    files = {Path("json") / f"{name}.json": _json(json_schema(event)) for name, event in sorted(EVENTS.items())}
    files[Path("webhooks.json")] = _json({kind: data.model_json_schema() for kind, data in DATA.items()})
    files[Path("asyncapi.yaml")] = MADE + yaml.safe_dump(document(), sort_keys=False, allow_unicode=True, width=120)
    return files


def stale(folder: Path, files: Mapping[Path, str]) -> list[str]:
    """What is out of date below `folder`, one line a file, in words."""
    wrong = []
    for path, content in files.items():
        if not (folder / path).exists():
            wrong.append(f"schemas/{path} is missing")
        elif (folder / path).read_text(encoding="utf-8") != content:
            wrong.append(f"schemas/{path} is out of date")
    known = {path.name for path in files}
    wrong += [f"schemas/json/{one.name} has no event" for one in _present(folder) if one.name not in known]
    return wrong


def write(folder: Path, files: Mapping[Path, str]) -> None:
    """Write every file. A schema whose event is gone is left for the compatibility gate to complain about."""
    for path, content in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(content, encoding="utf-8")


def main(arguments: list[str] | None = None) -> int:
    """The command line; 1 where `--check` found something out of date."""
    parser = argparse.ArgumentParser(prog="python -m schemas.make", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--check", action="store_true", help="change nothing; fail where a file is out of date")
    if not parser.parse_args(arguments).check:
        write(HERE, made())
        return 0
    wrong = stale(HERE, made())
    if wrong:
        sys.stderr.write("\n".join([*wrong, "run `python -m schemas.make` and commit what it wrote\n"]))
    return 1 if wrong else 0


def _present(folder: Path) -> list[Path]:
    return sorted((folder / "json").glob("*.json"))


def _json(value: object) -> str:
    return json.dumps(value, indent=2, sort_keys=True, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    sys.exit(main())
