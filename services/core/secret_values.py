"""Secrets in the settings: a name of the environment, or a file, in place of the secret; one way for all of them.

A secret is a setting of the type `SecretStr`, alone or in a list, or an address in which a password may stand (marked
with `HOLDS_SECRET`). `${NAME}` anywhere in it is what the environment variable NAME holds; `$${` is `${` itself. For
a secret `x` there is `x_file`, a file that holds it: `password_file` for `password`. Files are read once, at the start;
the end of their last line does not count. No secret is in an error message.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, get_args

from pydantic import BaseModel, SecretStr, model_validator
from pydantic.fields import FieldInfo
from pydantic_core import PydanticCustomError

LONGEST_FILE = 100_000  # bytes
_NAMED = re.compile(r"\$(\$\{|\{([A-Za-z_][A-Za-z0-9_]{0,200})\})")


ERROR = "secret"  # the type of the error: its words begin with the name of the setting
HOLDS_SECRET = "may hold a secret"  # marks a text in which a password may stand: the address of a database, say


class HoldsSecrets(BaseModel):
    """A group of settings whose secrets may be said by name or by file."""

    @model_validator(mode="before")
    @classmethod
    def _take_secrets(cls, said: Any) -> Any:
        try:
            return resolved(cls, said)
        except ValueError as error:
            raise PydanticCustomError(ERROR, "{said}", {"said": str(error)}) from None


def is_secret(field: FieldInfo) -> bool:
    """Whether the setting is a secret, or may hold one."""
    return HOLDS_SECRET in field.metadata or _has_secret(field.annotation)


def file_of(model: type[BaseModel], name: str) -> str:
    """The setting that names a secret's file, "" where it has none: a list of secrets, or a file that we write."""
    field, file = model.model_fields[name], f"{name}_file"
    alone = HOLDS_SECRET in field.metadata or not _is_list(field.annotation)
    return file if is_secret(field) and alone and file not in model.model_fields else ""


def escaped(secret: str) -> str:
    """How a secret is written where it is meant as it stands."""
    return secret.replace("${", "$${")


def resolved(model: type[BaseModel], said: Any, environment: Mapping[str, str] = os.environ) -> Any:
    """What was said of a group, its secrets taken from where it says. Raises `ValueError`, which names the setting."""
    if not isinstance(said, Mapping):
        return said
    found = dict(said)
    for name, file in _secrets(model):
        path = found.pop(file, None) if file else None
        if path is not None:
            if _is_given(found.get(name)):
                raise ValueError(f"{name} and {file} are both set: say one of them")
            text = _read(file, path)
            found[name] = text if _is_text(model, name) else SecretStr(text)
        elif name in found:
            found[name] = _expanded(name, found[name], environment)
    return found


@cache
def _secrets(model: type[BaseModel]) -> tuple[tuple[str, str], ...]:
    return tuple((name, file_of(model, name)) for name, field in model.model_fields.items() if is_secret(field))


def _expanded(name: str, value: Any, environment: Mapping[str, str]) -> Any:
    if isinstance(value, list | tuple):
        return [_expanded(name, one, environment) for one in value]
    if not isinstance(value, str):
        return value

    def one(found: re.Match[str]) -> str:
        variable = found[2]
        if variable is None:
            return "${"
        if variable not in environment:
            raise ValueError(
                f"{name} is in the environment variable {variable}, which is not set: set it, or write $${{ where "
                "${ itself is meant"
            )
        return environment[variable]

    return _NAMED.sub(one, value)


def _read(file: str, path: Any) -> str:
    try:
        with Path(str(path)).open("rb") as opened:
            content = opened.read(LONGEST_FILE + 1)
    except OSError as error:
        raise ValueError(f"{file}: {path} cannot be read: {error.strerror}") from None
    if len(content) > LONGEST_FILE:
        raise ValueError(f"{file}: {path} is larger than {LONGEST_FILE} bytes: it holds no secret alone")
    try:
        text = content.decode().rstrip("\r\n")
    except UnicodeDecodeError:
        raise ValueError(f"{file}: {path} is no text in UTF-8") from None
    if not text:
        raise ValueError(f"{file}: {path} is empty")
    return text


def _is_given(value: Any) -> bool:
    return bool(value.get_secret_value() if isinstance(value, SecretStr) else value)


def _is_text(model: type[BaseModel], name: str) -> bool:
    return HOLDS_SECRET in model.model_fields[name].metadata


def _has_secret(annotation: Any) -> bool:
    return annotation is SecretStr or any(_has_secret(one) for one in get_args(annotation))


def _is_list(annotation: Any) -> bool:
    return any(one is Ellipsis for one in get_args(annotation))
