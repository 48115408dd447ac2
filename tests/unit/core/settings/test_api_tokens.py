"""Named tokens in the settings: where each may come from, and what is said of a wrong one."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from services.core.request_limits import Pace
from services.core.settings import WebSettings
from services.core.settings.web import ApiToken

SECRET = "a-token-that-is-long"


def token(**given: Any) -> ApiToken:
    return ApiToken.model_validate({"name": "desk", "scopes": ["all"], **given})


def test_a_token_comes_from_the_settings_the_environment_a_file_or_as_a_hash(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each way gives the same token, and no other string is it."""
    monkeypatch.setenv("DESK_TOKEN", SECRET)
    (tmp_path / "token").write_text(SECRET + "\n")
    for given in (
        {"token": SECRET},
        {"token": "${DESK_TOKEN}"},
        {"token_file": tmp_path / "token"},
        {"sha256": hashlib.sha256(SECRET.encode()).hexdigest()},
    ):
        one = token(**given)
        assert one.is_this(SECRET)
        assert not any(one.is_this(other) for other in ("", SECRET + "x", "${DESK_TOKEN}", one.sha256 or "x"))
        assert SECRET not in repr(one)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({}, "exactly one"),
        ({"token": SECRET, "sha256": "0" * 64}, "exactly one"),
        ({"token": "short"}, "at least 16 bytes"),
        ({"token": "${NO_SUCH_VARIABLE}"}, "which is not set"),
        ({"token_file": "/no/such/file"}, "/no/such/file"),
        ({"sha256": "abc"}, "64 hexadecimal"),
        ({"token": SECRET, "scopes": []}, "at least 1"),
        ({"token": SECRET, "scopes": ["everything"]}, "scopes"),
        ({"token": SECRET, "name": "The Desk"}, "name"),
    ],
)
def test_a_wrong_token_is_said_in_words(given: dict[str, Any], said: str) -> None:
    """What is wrong is named, and the secret is not."""
    with pytest.raises(ValidationError) as error:
        token(**given)
    assert said in str(error.value)


def test_two_tokens_of_one_name_are_refused() -> None:
    """`by` names one token; `api` is that of `api_token`."""
    api = {"name": "api", "token": SECRET, "scopes": ["all"]}
    with pytest.raises(ValidationError, match="twice"):
        WebSettings.model_validate({"tokens": [api], "api_token": "another"})
    assert [one.name for one in WebSettings.model_validate({"tokens": [api]}).all_tokens] == ["api"]


def test_a_pace_fills_evenly_and_forgets_nobody_who_is_over_it() -> None:
    """So many at once, then one for each share of a minute; each caller has a pace of their own."""
    at = 0.0
    pace = Pace(60, now=lambda: at)
    assert [bool(pace.takes("a")) for _ in range(61)] == [False] * 60 + [True]
    assert not pace.takes("b")
    at = 1.0
    assert [bool(pace.takes("a")) for _ in range(2)] == [False, True]
    assert not any(Pace(0).takes("a") for _ in range(10_000))
