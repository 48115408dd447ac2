"""`correspondent settings`: every setting with its default, as a correspondent.toml in which all is commented out.

Made from the settings' own classes, so that it cannot say what they do not. `correspondent.example.toml` is its output.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import typer
from pydantic import BaseModel, SecretStr
from pydantic.fields import FieldInfo

from services.cli.settings_changes import changed, history, set_one, undo, unset
from services.cli.terminal import console, plain
from services.core.secret_values import file_of
from services.core.settings import Settings, read_settings, shaped

HEAD = """\
# Settings of Correspondent. Copy this file to correspondent.toml and take the # away from what you change;
# what stays commented out is the default. The environment goes before the file: CORRESPONDENT_KAFKA__BROKERS is
# `brokers` of [kafka]. A name that does not exist is an error. Made by `correspondent settings`.
# In a password or another secret ${NAME} is what the environment variable NAME holds, and $${ is ${ itself. A setting
# called x_file in place of a secret x names a file that holds it.
"""


typer_app = typer.Typer(invoke_without_command=True, help="Print every setting, or change some while it runs.")
typer_app.command("set")(set_one)
typer_app.command("unset")(unset)
typer_app.command("changed")(changed)
typer_app.command("history")(history)
typer_app.command("undo")(undo)


@typer_app.callback()
def settings(
    context: typer.Context,
    inbox: Annotated[str, typer.Option(help="Show what shapes the replies of this inbox, and where it was set.")] = "",
    participant: Annotated[str, typer.Option(help="With --inbox: for mails of this authenticated address.")] = "",
) -> None:
    """Print every setting, or change some while it runs."""
    if context.invoked_subcommand:
        return
    if participant and not inbox:
        raise typer.BadParameter("say --inbox, too: a participant's replies are shaped within an inbox")
    if not inbox:
        sys.stdout.write(example())
        return
    said = read_settings()
    for name, chosen in sorted(shaped(said, said.inbox(inbox), participant).items()):
        console.print(plain(f"{name} = {_toml(chosen.value)}"), plain(f"  # {chosen.source}", "dim"), sep="")


def example() -> str:
    """The text of correspondent.example.toml."""
    return "\n".join([HEAD, *_group(Settings, "", "")]) + "\n"


def _group(model: type[BaseModel], name: str, heading: str) -> Iterator[str]:
    """A group's settings, then the groups within it, each under its TOML heading."""
    inner: list[tuple[str, str, type[BaseModel]]] = []
    if heading:
        yield from ("", f"# {(model.__doc__ or '').splitlines()[0]}", f"#{heading}")
    for key, field in model.model_fields.items():
        found = _model_in(field.annotation)
        if found is None:
            yield from _setting(key, field, file_of(model, key))
        else:
            path = f"{name}.{key}" if name else key
            inner.append((path, f"[[{path}]]" if get_origin(field.annotation) is tuple else f"[{path}]", found))
    for path, heading_of, found in inner:
        yield from _group(found, path, heading_of)


def _setting(key: str, field: FieldInfo, file: str) -> Iterator[str]:
    choices = _choices(field.annotation)
    said = [field.description or "", f"one of {', '.join(choices)}" if choices else ""]
    said.append("required" if field.is_required() else "not set by default" if field.default is None else "")
    said.append(f"or {file}" if file else "")
    words = "; ".join(word.rstrip(".") for word in said if word)
    if words:
        yield f"# {words}"
    unset = field.is_required() or field.default is None
    yield f"#{key} = {_toml((choices or ['...'])[0] if unset else field.default)}"


def _model_in(annotation: Any) -> type[BaseModel] | None:
    """The group that a field holds, alone, optionally or as one of several."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next((found for one in get_args(annotation) if (found := _model_in(one))), None)


def _choices(annotation: Any) -> list[str]:
    """The words that a field may hold; none where it may hold any."""
    if get_origin(annotation) is Literal:
        return [str(one) for one in get_args(annotation)]
    if get_origin(annotation) in (Union, UnionType):
        return [word for one in get_args(annotation) for word in _choices(one)]
    return []


def _toml(value: Any) -> str:
    if isinstance(value, SecretStr):
        return _toml(value.get_secret_value())
    if isinstance(value, dict):
        return "{}" if not value else "{ " + ", ".join(f"{key} = {_toml(one)}" for key, one in value.items()) + " }"
    return json.dumps(str(value) if isinstance(value, Path) else value, ensure_ascii=False)
