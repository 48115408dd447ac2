"""Form bodies (`multipart/form-data`, `application/x-www-form-urlencoded`) as bytes by name, the first of each name."""

from __future__ import annotations

from io import BytesIO
from itertools import count
from typing import Any
from urllib.parse import parse_qsl

from python_multipart import parse_form
from python_multipart.exceptions import FormParserError

from services.receive_email.webhooks.request import Call, malformed

MOST_FIELDS = 200
URLENCODED = "application/x-www-form-urlencoded"


def form_fields(call: Call) -> dict[str, bytes]:
    """The fields and files of the call's body. Raises `Refused` where it is no form, or one of too many fields."""
    kind = call.header("content-type").partition(";")[0].strip().casefold()
    try:
        return _urlencoded(call.body) if kind == URLENCODED else _multipart(call)
    except (FormParserError, ValueError) as error:
        raise malformed("the body is no form that can be read") from error


def _urlencoded(body: bytes) -> dict[str, bytes]:
    text = body.decode("latin-1")  # one character a byte, so that every byte comes back
    pairs = parse_qsl(text, keep_blank_values=True, encoding="latin-1", max_num_fields=MOST_FIELDS)
    return {name: value.encode("latin-1") for name, value in reversed(pairs)}


def _multipart(call: Call) -> dict[str, bytes]:
    found: dict[str, bytes] = {}
    numbers = count(1)

    def keep(name: bytes | None, value: bytes | None) -> None:
        if next(numbers) > MOST_FIELDS:
            raise FormParserError("too many fields")
        found.setdefault((name or b"").decode("utf-8", "replace"), value or b"")

    def on_file(file: Any) -> None:
        file.file_object.seek(0)
        keep(file.field_name, file.file_object.read())

    headers = {"Content-Type": call.header("content-type").encode()}
    parse_form(headers, BytesIO(call.body), lambda field: keep(field.field_name, field.value), on_file)
    return found


def text_field(fields: dict[str, bytes], name: str) -> str:
    """A field as text; "" where there is none."""
    return fields.get(name, b"").decode("utf-8", "replace")
