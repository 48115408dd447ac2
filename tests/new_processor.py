"""`make new-processor NAME=... EVENT=...`: a processor that lint and the contract tests take, and that does nothing yet.

Every place where a processor is named gets its line (docs/how-to/extend.md says which they are, and what comes next).
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable
from pathlib import Path

from schemas.events import EVENTS
from services.pipeline import NAMES, PROCESSORS

ROOT = Path(__file__).parents[1]
LAST = PROCESSORS[-1].name  # after whose lines the new ones stand

INIT = '''"""TODO: what it does, in one line.

In: {topic}. Out: nothing yet.
"""

from services.core.bus.processor import Processor
from services.{name}.handler import HANDLERS

PROCESSOR = Processor(name="{name}", handlers=HANDLERS)
'''
HANDLER = '''"""Which event is whose."""

from __future__ import annotations

from {module} import {event}
from services.core.bus.processor import Handlers
from services.core.bus.work import Work


async def on_{handler}(work: Work[{event}]) -> None:
    """Note that the event is done, and nothing else yet."""
    async with work.unit():
        pass


HANDLERS: Handlers = {{{event}: on_{handler}}}
'''


class NotMade(Exception):
    """The processor cannot be made; the words say why."""


def make(root: Path, name: str, kind: str) -> list[Path]:
    """Write the folder and name the processor everywhere; the files that changed. Raises `NotMade`."""
    if not re.fullmatch(r"[a-z][a-z0-9]*(_[a-z0-9]+)*", name):
        raise NotMade(f"{name!r} is no name of a folder: small letters, digits and single _")
    if name in NAMES or (root / "services" / name).exists():
        raise NotMade(f"there is services/{name} already")
    if kind not in EVENTS:
        raise NotMade(f"there is no event {kind!r}; there are: {', '.join(sorted(EVENTS))}")
    event = EVENTS[kind]
    words = {
        "name": name, "topic": event.TOPIC, "module": event.__module__, "event": event.__name__,
        "handler": kind.rpartition(".v")[0].replace(".", "_"),
    }  # fmt: skip
    folder = root / "services" / name
    folder.mkdir()
    (folder / "__init__.py").write_text(INIT.format(**words), encoding="utf-8")
    (folder / "handler.py").write_text(HANDLER.format(**words), encoding="utf-8")
    edits: dict[str, Callable[[str], str]] = {
        "services/pipeline.py": lambda text: _in_pipeline(text, name),
        "schemas/topics.yaml": lambda text: _in_topics(text, name, event.TOPIC, kind),
        "docker-compose.yml": lambda text: _after(
            text, rf"  {LAST}: .*", f"  {name}: {{ <<: *app, command: [run, {name}] }}"
        ),
        "deploy/helm/correspondent/values.yaml": lambda text: _after(
            text, rf"  - name: {LAST}\n    topics: .*", f"  - name: {name}\n    topics: [{event.TOPIC}]"
        ),
        "pyproject.toml": lambda text: text.replace(f"| {LAST} |", f"| {LAST} | {name} |"),
        "tests/contract/test_extension_points.py": lambda text: _after(text, r"NOT_REPLAYED = \{", f'    "{name}",'),
        "services/README.md": lambda text: _after(text, rf"\| `{LAST}` \|.*", f"| `{name}` | TODO |"),
        "ARCHITECTURE.md": lambda text: _after(
            text, rf"\| `{LAST}` \|.*", f"| `{name}` | `{event.TOPIC}` | TODO | nothing yet |"
        ),
    }
    for path, edit in edits.items():
        before = (root / path).read_text(encoding="utf-8")
        after = edit(before)
        if after == before:
            raise NotMade(f"{path} is not as it was when this was written: name {name} there by hand")
        (root / path).write_text(after, encoding="utf-8")
    return [folder / "__init__.py", folder / "handler.py", *(root / path for path in edits)]


def _after(text: str, line: str, added: str) -> str:
    """The text with `added` below the first match of `line`, a regular expression."""
    return re.sub(f"(?m)^{line}$", lambda found: f"{found[0]}\n{added}", text, count=1)


def _in_pipeline(text: str, name: str) -> str:
    imported = re.search(r"from services import \(\n((?:    \w+,\n)+)\)", text)
    if imported is None:
        return text
    names = sorted([*re.findall(r"\w+", imported[1]), name])
    text = text.replace(imported[1], "".join(f"    {one},\n" for one in names))
    return _after(text, rf"    {LAST}\.PROCESSOR,", f"    {name}.PROCESSOR,")


def _in_topics(text: str, name: str, topic: str, kind: str) -> str:
    """A consumer more of the topic."""
    block = re.search(rf"(?m)^  {re.escape(topic)}:\n(?:    .*\n)+", text)
    if block is None:
        return text
    return text.replace(block[0], f"{block[0]}      {name}: [{kind}]\n")


def main() -> int:
    """Make what the arguments name; the exit code."""
    parser = argparse.ArgumentParser(prog="make new-processor", description=__doc__)
    parser.add_argument("name", help="its folder, consumer group and process: count_words")
    parser.add_argument("event", help="the first type that it handles: turn.closed.v1")
    given = parser.parse_args()
    try:
        changed = make(ROOT, given.name, given.event)
    except NotMade as error:
        sys.stderr.write(f"{error}\n")
        return 2
    sys.stdout.writelines(f"  {path.relative_to(ROOT)}\n" for path in changed)
    sys.stdout.write("Now: make schemas, fill in each TODO, and docs/how-to/extend.md.\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
