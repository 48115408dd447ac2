"""The settings as people see them: what said each, and no secret."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

import pytest

from services.core.settings import Settings
from services.operations.settings_shown import IS_NOT_SET, IS_SET, SettingLine, inboxes_shown, settings_shown

SECRET = "correct-horse-battery-staple"
EVERY_SECRET: dict[str, Any] = {
    "database_url": f"postgresql://user:{SECRET}@db.example/x",
    "redis_url": f"redis://:{SECRET}@cache.example/0",
    "secret": SECRET,
    "former_secrets": [SECRET],
    "smtp": {"password": SECRET, "username": "us"},
    "model": {"api_key": SECRET},
    "spam": {"rspamd_url": f"http://user:{SECRET}@spam.example/{SECRET}?key={SECRET}"},
    "web": {
        "api_token": SECRET,
        "tokens": [{"name": "desk", "token": SECRET, "scopes": ["all"]}],
    },
    "inboxes": [
        {
            "name": "support",
            "address": "support@shop.example",
            "imap": {"host": "imap.shop.example", "username": "u", "password": SECRET},
            "smtp": {"host": "smtp.shop.example", "username": "u", "password": SECRET},
            "reply": {"approval": "review"},
        }
    ],
}


def by_name(settings: Settings, **environment: str) -> dict[str, SettingLine]:
    return {one.name: one for one in settings_shown(settings, environment)}


def test_no_secret_is_shown() -> None:
    """Neither one that is a secret, nor one in an address; and whether it is set is said."""
    settings = Settings(**EVERY_SECRET)
    lines = by_name(settings)
    shown = json.dumps([asdict(one) for one in lines.values()] + [asdict(one) for one in inboxes_shown(settings)])
    assert SECRET not in shown
    for name in (
        "secret",
        "smtp.password",
        "model.api_key",
        "web.tokens[desk].token",
        "inboxes[support].imap.password",
    ):
        assert lines[name].value == IS_SET, name
    assert lines["master_keys"].value == IS_NOT_SET
    assert lines["spam.rspamd_url"].value == "http://spam.example/…"


def test_each_setting_says_where_it_is_from() -> None:
    """A default, the environment, or set."""
    settings = Settings(secret=SECRET, threads={"quiet_s": 7}, pool_size=20)
    lines = by_name(settings, CORRESPONDENT_THREADS__QUIET_S="7")
    assert lines["threads.quiet_s"].source == "environment CORRESPONDENT_THREADS__QUIET_S"
    assert (lines["pool_size"].value, lines["pool_size"].source) == ("20", "set")
    assert lines["log_level"].source == "default"
    assert lines["database_url"].source == "default"


def test_what_is_effective_for_an_inbox_is_said_with_its_source() -> None:
    """The cascade's own answer: the mailbox before the workspace before the default."""
    settings = Settings(**EVERY_SECRET | {"threads": {"quiet_s": 7}})
    (box,) = inboxes_shown(settings)
    shaped = {one.name: (one.value, one.source) for one in box.shaped}
    assert shaped["approval"] == ("review", "inbox support")
    assert shaped["quiet_s"] == ("7.0", "workspace")
    assert shaped["tool_rounds"][1] == "default"
    assert (box.receives, box.sends) == ("IMAP, imap.shop.example", "SMTP, smtp.shop.example")


@pytest.mark.parametrize("address", ["http://[broken", "x://h/", "https://a.example:99999/x"])
def test_an_address_that_cannot_be_read_is_not_shown_whole(address: str) -> None:
    """Whatever stands in it, nothing of its path is shown, and nothing fails."""
    settings = Settings(secret=SECRET, embeddings={"url": address + SECRET, "model": "m", "dimensions": 8})
    assert SECRET not in json.dumps([asdict(one) for one in settings_shown(settings, {})])
