"""Form bodies."""

from __future__ import annotations

from datetime import UTC, datetime
from urllib.parse import urlencode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.core.web import RequestRefused
from services.receive_email.webhooks.forms import MOST_FIELDS, URLENCODED, form_fields
from services.receive_email.webhooks.request import Call, HttpsOutside
from tests.support.webhook_senders import multipart, web_settings

WEB = web_settings()


def call(kind: str, body: bytes) -> Call:
    return Call(
        headers={"content-type": kind}, body=body, now=datetime(2026, 1, 1, tzinfo=UTC), web=WEB, outside=HttpsOutside()
    )


@given(st.binary(max_size=300))
def test_values_come_through_byte_by_byte(value: bytes) -> None:
    """Both kinds of form give the bytes that went in, whatever they are."""
    assert form_fields(call(URLENCODED, urlencode({"mail": value}).encode()))["mail"] == value
    assert form_fields(call(*multipart({"mail": value})))["mail"] == value


def test_a_file_is_a_field() -> None:
    """A part with a file name counts like one without, large ones too."""
    big = b"x" * 2_000_000
    body = b'--b\r\nContent-Disposition: form-data; name="mail"; filename="m.eml"\r\n\r\n' + big + b"\r\n--b--\r\n"
    assert form_fields(call("multipart/form-data; boundary=b", body))["mail"] == big


def test_the_first_of_a_name_counts() -> None:
    """A second field of the name cannot replace the first one, which others have looked at."""
    assert form_fields(call(URLENCODED, b"a=1&a=2"))["a"] == b"1"


@pytest.mark.parametrize(
    "kind", [URLENCODED, "multipart/form-data; boundary=b", "multipart/form-data", "", "text/html"]
)
def test_what_is_no_form_or_has_too_many_fields_is_refused(kind: str) -> None:
    """The number of fields is bounded, repeated names included."""
    part = b'--b\r\nContent-Disposition: form-data; name="a"\r\n\r\n\r\n'
    body = b"a=&" * (MOST_FIELDS + 1) if kind == URLENCODED else part * (MOST_FIELDS + 1) + b"--b--\r\n"
    with pytest.raises(RequestRefused) as caught:
        form_fields(call(kind, body))
    assert caught.value.status == 422
