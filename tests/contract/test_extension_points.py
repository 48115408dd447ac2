"""What is added by a file and a line stands in its list: nothing that was written is left out silently."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any, get_args

from pydantic import BaseModel

from schemas.events import MODULES
from schemas.events.threads import TIMERS, TimerPurpose
from schemas.topics import catalogue
from services.cli.command_table import COMMANDS
from services.core.settings import Settings
from services.core.settings.group import Group
from services.generate_reply.tools import LOOKUPS, TOOLS
from services.load_memory.layers import LAYERS
from services.operations.replay.selection import STARTS
from services.pipeline import EDGES, IN_ORDER, PROCESSORS
from services.receive_email.webhooks import FORMATS
from services.upkeep import UPKEEP

ROOT = Path(__file__).parents[2]
SUBJECTS = (
    "Event", "Migration", "Table", "Setting", "Command", "Context layer", "Model tool", "Mail filter",
    "Webhook format", "Processor",
)  # fmt: skip

# A replay of the mail begins at none of these: they send, or keep accounts of what people and the clock did since.
NOT_REPLAYED = {
    "alert_people", "condense_memory", "earn_approval", "investigate", "learn_documents", "reach_out", "send_email",
    "send_webhooks", "watch_incidents",
}  # fmt: skip


def text_of(path: str) -> str:
    return (ROOT / path).read_text(encoding="utf-8")


def modules_in(package: str) -> Iterator[tuple[str, ModuleType]]:
    """The modules of a folder, by their names."""
    for path in sorted((ROOT / package.replace(".", "/")).glob("*.py")):
        if path.stem != "__init__":
            yield path.stem, import_module(f"{package}.{path.stem}")


def test_extend_has_a_recipe_for_each_subject() -> None:
    """docs/how-to/extend.md has a chapter per kind of change."""
    assert set(SUBJECTS) <= set(re.findall(r"(?m)^## (.+)$", text_of("docs/how-to/extend.md")))


def test_a_processor_was_missing_in_a_map() -> None:
    """Each has its line in the map of the services and in the table of the flow; no line is of one that is gone."""
    folders = set(IN_ORDER)
    in_map = set(re.findall(r"(?m)^\| `(\w+)` \|", text_of("services/README.md").partition("Around them")[0]))
    flow = text_of("ARCHITECTURE.md").partition("## The flow")[2].partition("## ")[0]
    assert in_map == folders
    assert set(re.findall(r"(?m)^\| `(\w+)` \|", flow)) == folders


def test_the_table_of_the_flow_named_other_topics_than_the_code_uses() -> None:
    """What each folder consumes and emits there is what `topics.yaml` says; an edge consumes no topic."""
    flow = text_of("ARCHITECTURE.md").partition("## The flow")[2].partition("## ")[0]
    table = [row.strip("|").split("|") for row in re.findall(r"(?m)^\|.*\|$", flow)[2:]]
    topics = catalogue().topics
    for first, consumed, _, emitted in table:
        folder = first.strip(" `")
        assert _named(emitted) & topics.keys() == {name for name, one in topics.items() if folder in one.producers}
        if folder not in EDGES:
            assert _named(consumed) == {name for name, one in topics.items() if folder in one.consumers}


def test_a_round_of_the_process_that_keeps_time_was_in_no_list() -> None:
    """`services/upkeep.py` has every round: each `keep` of an operation, and each task of a day, by its own name."""
    operations = [(path, path.read_text(encoding="utf-8")) for path in (ROOT / "services/operations").rglob("*.py")]
    written = {path for path, code in operations if re.search(r"(?m)^ *async def keep\(|= DailyTask\(", code)}
    listed = text_of("services/upkeep.py")
    for path in written - {ROOT / "services/operations/daily.py"}:
        package, module = path.parent.relative_to(ROOT).as_posix().replace("/", "."), path.stem
        assert re.search(rf"from {package}(\.{module})? import [^\n]*(\b{module}\b|[A-Z]+\n)", listed), path
    assert len({one.name for one in UPKEEP}) == len(UPKEEP) == listed.count("    Round(")


def test_a_timers_purpose_was_handled_by_nobody() -> None:
    """Each has its processor in `TIMERS`, which consumes timers; "" stands for those that are only in old events."""
    assert set(get_args(TimerPurpose)) == set(TIMERS)
    assert {one for one in TIMERS.values() if one} == set(catalogue().topics["timers"].consumers)


def _named(cell: str) -> set[str]:
    return set(re.findall(r"`([\w.-]+)`", cell))


def test_a_processor_was_left_out_of_replays_silently() -> None:
    """Each can be replayed, or is named here as one that is not."""
    assert {one.name for one in PROCESSORS} - STARTS.keys() == NOT_REPLAYED


def test_a_module_of_events_was_not_loaded() -> None:
    """A file with an event type stands in `MODULES`; else nothing that is stored of it could be read."""
    with_types = {
        path.stem
        for path in (ROOT / "schemas/events").glob("*.py")
        if re.search(r"(?m)^    TYPE: ClassVar\[str\] = \"", path.read_text(encoding="utf-8"))
    }
    assert with_types == set(MODULES)


def test_a_context_layer_was_never_loaded() -> None:
    """Each module of the folder with the names of a layer stands in `LAYERS`."""
    written = {name for name, module in modules_in("services.load_memory.layers") if hasattr(module, "load")}
    assert written == {layer.__name__.rpartition(".")[2] for layer in LAYERS}


def test_a_webhook_format_was_never_offered() -> None:
    """Each module with a `FORMAT` stands in the list of formats."""
    written = {module.FORMAT.name for _, module in modules_in("services.receive_email.webhooks") if _has_format(module)}
    assert written == set(FORMATS)


def _has_format(module: Any) -> bool:
    return hasattr(module, "FORMAT")


def test_a_function_of_a_tool_was_never_offered() -> None:
    """Each public function of the tools' modules that takes a desk is a tool, and what is kept is one."""
    written = {
        function
        for _, module in modules_in("services.generate_reply.tools")
        for name, function in vars(module).items()
        if not name.startswith("_") and getattr(function, "__module__", "") == module.__name__
        if "desk" in getattr(function, "__annotations__", {})
    }
    assert written == set(TOOLS.values())
    assert TOOLS.keys() >= LOOKUPS


def test_a_command_was_never_offered() -> None:
    """A module of the command line is a command's, or another module's help."""
    targets = {entry.target.partition(":")[0].partition(".")[0] for entry in COMMANDS.values()}
    code = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "services").rglob("*.py"))
    imported = set(re.findall(r"services\.cli\.(\w+)", code))
    names = {path.stem for path in (ROOT / "services/cli").iterdir() if path.suffix == ".py" or path.is_dir()}
    assert names - targets - imported - {"__init__", "__pycache__", "main"} == set()


def test_a_group_of_settings_was_read_by_nobody() -> None:
    """Each group that is defined is part of `Settings`."""
    for _ in modules_in("services.core.settings"):
        continue
    defined = {one for one in _all(Group) if one.__module__.startswith("services.core.settings")}
    reached = set(_groups(Settings, set()))
    assert {one.__name__ for one in defined - reached if not one.__subclasses__()} == set()


def _all(kind: type[Group]) -> Iterator[type[Group]]:
    for sub in kind.__subclasses__():
        yield sub
        yield from _all(sub)


def _groups(model: type[BaseModel], seen: set[type[BaseModel]]) -> set[type[BaseModel]]:
    """The models that a model's fields are made of."""
    if model not in seen:
        seen.add(model)
        for field in model.model_fields.values():
            for one in _models_in(field.annotation):
                _groups(one, seen)
    return seen


def _models_in(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for part in getattr(annotation, "__args__", ()):
        yield from _models_in(part)
