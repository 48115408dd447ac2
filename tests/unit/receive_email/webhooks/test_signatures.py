"""Signatures, against vectors that others published and clocks that are wrong."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from services.core.standard_webhooks import sign_standard
from services.core.web import RequestRefused
from services.receive_email.webhooks.request import Call, HttpsOutside
from services.receive_email.webhooks.signatures import TOLERANCE_S, check_fresh, check_standard
from tests.support.webhook_senders import web_settings

SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
ID, STAMP, BODY = "msg_p5jXN8AQM9LWM0D4loKWxJek", "1614265330", b'{"test": 2432232314}'
SIGNATURE = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
NOW = datetime.fromtimestamp(int(STAMP), UTC)


def call(**headers: str) -> Call:
    given = {"webhook-id": ID, "webhook-timestamp": STAMP, "webhook-signature": SIGNATURE}
    given |= {name.replace("_", "-"): value for name, value in headers.items()}
    return Call(headers=given, body=BODY, now=NOW, web=web_settings(), outside=HttpsOutside())


def test_the_published_example_is_signed_alike() -> None:
    """The example of the Standard Webhooks libraries has this signature."""
    assert sign_standard(SECRET, ID, STAMP, BODY) == SIGNATURE
    assert check_standard(call(), SECRET, "x") == ID


def test_one_good_signature_among_several_is_enough() -> None:
    """While a secret is being replaced the sender signs with both; other versions are passed over."""
    both = call(webhook_signature=f"v1a,AAAA v1,BBBB {SIGNATURE}")
    assert check_standard(both, SECRET, "x") == ID


@pytest.mark.parametrize(
    "headers",
    [
        {"webhook_signature": ""},
        {"webhook_signature": SIGNATURE.removeprefix("v1,")},
        {"webhook_signature": SIGNATURE.replace("v1,", "v2,")},
        {"webhook_signature": SIGNATURE.replace("g0h", "G0h")},
        {"webhook_signature": "v1,AAAA " * 8 + SIGNATURE},
        {"webhook_signature": "v1,\u00e9"},
        {"webhook_id": ID + "x"},
        {"webhook_id": ""},
        {"webhook_id": "x" * 300},
        {"webhook_timestamp": str(int(STAMP) + 1)},
    ],
)
def test_what_was_not_signed_is_refused(headers: dict[str, str]) -> None:
    """Another id, time, version or signature than the one of this content is 401."""
    with pytest.raises(RequestRefused) as caught:
        check_standard(call(**headers), SECRET, "x")
    assert caught.value.status == 401


def test_another_body_is_refused() -> None:
    """One byte more in the body, and the signature is not its own."""
    with pytest.raises(RequestRefused, match="does not belong"):
        check_standard(replace(call(), body=BODY + b" "), SECRET, "x")


@pytest.mark.parametrize("stamp", ["", "-1", "1e9", "1614265330.5", "99999999999999", "١٦١٤٢٦٥٣٣٠", " 1614265330"])
def test_a_timestamp_that_is_no_number_is_stale(stamp: str) -> None:
    """Only ASCII digits are a time; everything else is refused, not computed with."""
    with pytest.raises(RequestRefused) as caught:
        check_fresh(stamp, NOW)
    assert caught.value.code == "timestamp_stale"


def test_five_minutes_are_the_bound() -> None:
    """Five minutes early or late is fresh, one second more is stale."""
    for sign in (1, -1):
        check_fresh(str(int(STAMP) + sign * TOLERANCE_S), NOW)
        with pytest.raises(RequestRefused):
            check_fresh(str(int(STAMP) + sign * (TOLERANCE_S + 1)), NOW)
