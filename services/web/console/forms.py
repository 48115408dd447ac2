"""What a form of the console sent: read within limits, and checked by the same bodies as the API's."""

from __future__ import annotations

from typing import Any, TypeVar
from urllib.parse import parse_qsl

from fastapi import Request
from pydantic import BaseModel, ValidationError

from services.core.guarded_route import BODY_DEADLINE_S
from services.core.storable import is_storable
from services.core.web import RequestRefused, body_within

FORM_BYTES = 512 * 1024  # a text of 10,000 characters twice, each of up to 12 bytes
MOST_FIELDS = 50

Form = dict[str, str]
Body = TypeVar("Body", bound=BaseModel)


async def read_form(request: Request) -> Form:
    """The fields of a form, each once. Raises `RequestRefused` for what no form of ours sends."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/x-www-form-urlencoded":
        raise RequestRefused(415, "no_form", "this address takes what a form of the console sends")
    raw = await body_within(request, FORM_BYTES, BODY_DEADLINE_S)
    try:
        pairs = parse_qsl(raw.decode("ascii"), keep_blank_values=True, max_num_fields=MOST_FIELDS, errors="strict")
    except ValueError:
        raise RequestRefused(422, "invalid", "the form cannot be read") from None
    form = {name: value.replace("\r\n", "\n") for name, value in pairs}
    if not all(is_storable(f"{name}{value}") for name, value in form.items()):
        raise RequestRefused(422, "invalid", "a NUL character cannot be stored")
    return form


def checked(kind: type[Body], **given: Any) -> Body:
    """The API's body of these fields. Raises `RequestRefused` with what is wrong in words."""
    try:
        return kind(**given)
    except ValidationError as error:
        wrong = "; ".join(f"{_field(one['loc'])}{one['msg']}" for one in error.errors())
        raise RequestRefused(422, "invalid", wrong[:1000]) from None


def _field(place: tuple[int | str, ...]) -> str:
    return f"{place[0]}: " if place else ""
