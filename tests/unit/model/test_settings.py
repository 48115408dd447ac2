"""What the settings decide before any question is asked."""

from __future__ import annotations

from typing import Any, get_args

import anthropic.types.model
import pytest
from pydantic import ValidationError

from services.memory.multilingual import Multilingual
from services.model.factory import make_model
from services.model.settings import DEFAULT_MODEL, ModelSettings


@pytest.mark.parametrize(
    ("given", "chosen"),
    [
        ({}, "offline"),
        ({"api_key": ""}, "offline"),
        ({"api_key": "  "}, "offline"),
        ({"api_key": "sk-1"}, "anthropic"),
        ({"base_url": "http://127.0.0.1:8000"}, "anthropic"),
        ({"api_key": "sk-1", "provider": "offline"}, "offline"),
    ],
)
def test_provider_follows_the_key(given: dict[str, Any], chosen: str) -> None:
    """A key or a server's URL chooses Anthropic, nothing chooses offline, and a named provider wins."""
    settings = ModelSettings(**given)
    assert settings.chosen == chosen
    assert make_model(settings, Multilingual()).name.startswith(chosen)


@pytest.mark.parametrize(
    "given",
    [
        {"provider": "anthropic"},
        {"api_key": "sk-1\n2"},
        {"api_key": "sk-ü"},
        {"base_url": "127.0.0.1:8000"},
        {"base_url": "file:///etc/passwd"},
        {"timeout_s": 0},
        {"max_retries": -1},
        {"model": ""},
        {"colour": "blue"},
    ],
)
def test_impossible_settings_are_refused_at_once(given: dict[str, Any]) -> None:
    """What could only fail later fails when the settings are read."""
    with pytest.raises(ValidationError):
        ModelSettings(**given)


def test_key_is_not_shown() -> None:
    """A key is in no representation of the settings, and in no complaint about itself."""
    settings = ModelSettings(api_key="sk-very-secret")
    assert "very-secret" not in f"{settings!r} {settings} {settings.model_dump()} {settings.model_dump_json()}"
    with pytest.raises(ValidationError) as caught:
        ModelSettings(api_key="sk very-secret")
    assert "very-secret" not in str(caught.value)


def test_default_is_the_newest_sonnet_of_the_sdk() -> None:
    """When the SDK learns of a newer Sonnet alias, this says so."""
    literal = next(part for part in get_args(anthropic.types.model.Model) if get_args(part))
    sonnets = [name for name in get_args(literal) if name.startswith("claude-sonnet-") and len(name) < 20]
    newest = max(sonnets, key=lambda name: [int(part) for part in name.removeprefix("claude-sonnet-").split("-")])
    assert newest == DEFAULT_MODEL
