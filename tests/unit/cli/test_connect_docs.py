"""docs/how-to/connect-an-inbox.md: what it tells people to write is what the settings take."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from services.core.settings import InboxSettings, Settings, WebhookSettings

DOCS = Path(__file__).parents[3] / "docs" / "how-to" / "connect-an-inbox.md"
TEXT = DOCS.read_text(encoding="utf-8")
NAMED = {"name": "support", "address": "support@shop.example"}


def indented_blocks() -> list[str]:
    """The indented passages of the page, each whole, blank lines within included."""
    return [re.sub(r"^ {4}", "", one, flags=re.M) for one in re.findall(r"(?:^ {4}.*\n|^\n(?= {4}))+", TEXT, re.M)]


TABLES = [one.strip() for one in indented_blocks() if re.match(r"\s*\[", one)]


@pytest.mark.parametrize("block", TABLES, ids=[one.splitlines()[0] for one in TABLES])
def test_each_piece_of_a_settings_file_is_valid(block: str) -> None:
    """Every table and every name in it exists, with a value of the right kind."""
    if not block.startswith("[["):
        block = re.sub(r"^\[inboxes\.", "[", block, flags=re.M) if block.startswith("[inboxes.") else block
    block = block.replace("[[inboxes.", "[[")
    given = tomllib.loads(block)
    if {"imap", "smtp", "dkim", "forwarders"} & given.keys():
        if "oauth" in given.get("imap", {}) and "host" not in given["imap"]:
            given["imap"] |= {"host": "imap.shop.example", "username": "support"}
        InboxSettings.model_validate(NAMED | given)
    else:
        assert given.keys() <= Settings.model_fields.keys()
        for name, value in given.items():
            field = Settings.model_fields[name].annotation
            if name == "inboxes":
                [InboxSettings.model_validate(one) for one in value]
            else:
                field.model_validate(value)  # type: ignore[union-attr]


def test_every_setting_of_the_webhooks_is_on_the_page() -> None:
    """A provider's setting that nobody is told of does not exist for them."""
    assert [name for name in WebhookSettings.model_fields if name not in TEXT] == []


def test_the_page_has_settings() -> None:
    """The pieces are found: were the page written in another way, nothing would be checked."""
    assert len(TABLES) >= 8
