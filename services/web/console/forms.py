"""What a form of the console sent: read within limits, and checked by the same bodies as the API's.

Files are read into memory: what a person attaches is stored sealed, and in no temporary file before that.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Any, TypeVar
from urllib.parse import parse_qsl

from fastapi import Request
from pydantic import BaseModel, ValidationError
from starlette.datastructures import Headers, UploadFile
from starlette.formparsers import MultiPartException, MultiPartParser

from services.core.guarded_route import BODY_DEADLINE_S
from services.core.storable import is_storable
from services.core.web import RequestRefused, body_within
from services.operations.drafts.decisions import NewFile
from services.operations.threads.answers import MOST_FILES
from services.web.console.language import translated
from services.web.console.shown import saved_as

FORM_BYTES = 512 * 1024  # a text of 10,000 characters twice, each of up to 12 bytes
MOST_FIELDS = 120  # a page of the inbox has 50 rows, each with a box, and a team 50 members

Form = dict[str, str]
Files = tuple[NewFile, ...]
Body = TypeVar("Body", bound=BaseModel)


class _InMemory(MultiPartParser):
    spool_max_size = 2**40  # never a file


async def read_form(request: Request) -> Form:
    """The fields of a form, each once. Raises `RequestRefused` for what no form of ours sends."""
    return (await read_form_and_files(request, 0))[0]


async def read_form_and_files(request: Request, most_bytes: int) -> tuple[Form, Files]:
    """The fields of a form, each once, and its files, together at most so many bytes. Raises `RequestRefused`."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind == "multipart/form-data" and most_bytes:
        return await _parts(request.headers, await body_within(request, FORM_BYTES + most_bytes, BODY_DEADLINE_S))
    if kind != "application/x-www-form-urlencoded":
        raise RequestRefused(415, "no_form", translated("this address takes what a form of the console sends"))
    raw = await body_within(request, FORM_BYTES, BODY_DEADLINE_S)
    try:
        pairs = parse_qsl(raw.decode("ascii"), keep_blank_values=True, max_num_fields=MOST_FIELDS, errors="strict")
    except ValueError:
        raise RequestRefused(422, "invalid", translated("the form cannot be read")) from None
    return _stored(pairs), ()


async def _parts(headers: Headers, raw: bytes) -> tuple[Form, Files]:
    async def whole() -> AsyncGenerator[bytes, None]:
        yield raw

    limits: dict[str, Any] = {"max_files": MOST_FILES + 1, "max_fields": MOST_FIELDS, "max_part_size": FORM_BYTES}
    try:
        parsed = await _InMemory(headers, whole(), **limits).parse()
    except (MultiPartException, UnicodeDecodeError, KeyError, ValueError):
        raise RequestRefused(422, "invalid", translated("the form cannot be read")) from None
    fields = [(name, one) for name, one in parsed.multi_items() if isinstance(one, str)]
    sent = [one for _, one in parsed.multi_items() if isinstance(one, UploadFile) and one.filename]
    return _stored(fields), tuple([NewFile(saved_as(one.filename or ""), await one.read()) for one in sent])


def _stored(pairs: list[tuple[str, str]]) -> Form:
    form = {name: value.replace("\r\n", "\n") for name, value in pairs}
    if not all(is_storable(f"{name}{value}") for name, value in form.items()):
        raise RequestRefused(422, "invalid", translated("a NUL character cannot be stored"))
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
