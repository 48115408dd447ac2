"""The operator's settings file is changed with care."""

from __future__ import annotations

from pathlib import Path

import pytest

from services.operations.config_file import ConfigUnusable, add_inbox, remove_inbox, set_inbox

HAND_WRITTEN = """# our shop
workspace = "shop"

[[inboxes]]  # the first
name = "support"
address = "support@shop.example"  # do not change

[inboxes.imap]
host = "imap.shop.example"
username = "support"
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    file = tmp_path / "correspondent.toml"
    file.write_text(HAND_WRITTEN)
    file.chmod(0o640)
    return file


def test_pausing_changes_one_line_and_no_comment(path: Path) -> None:
    """What a person wrote stays as it was written; only the key asked for is new."""
    set_inbox(path, "support", "paused", True)
    assert "paused = true\n" in path.read_text()
    assert path.read_text().replace("paused = true\n", "") == HAND_WRITTEN
    assert path.stat().st_mode & 0o777 == 0o600, "it may hold a password"


def test_an_inbox_added_and_removed_leaves_the_file_as_it_was(path: Path) -> None:
    """Adding appends an entry of its own; removing takes just that out."""
    add_inbox(path, {"name": "billing", "address": "billing@shop.example", "imap": {"host": "h", "username": "u"}})
    assert path.read_text().startswith(HAND_WRITTEN)
    assert 'name = "billing"' in path.read_text()
    remove_inbox(path, "billing")
    assert path.read_text().strip() == HAND_WRITTEN.strip()


def test_a_new_settings_file_is_private(tmp_path: Path) -> None:
    """A file that we make may hold a password, so only its owner reads it."""
    path = tmp_path / "new.toml"
    add_inbox(path, {"name": "support", "address": "support@shop.example"})
    assert path.stat().st_mode & 0o777 == 0o600
    remove_inbox(path, "support")
    assert path.read_text().strip() == ""


@pytest.mark.parametrize("text", ["inboxes = [", "inboxes = []\n", "\xff"])
def test_a_file_that_cannot_be_changed_safely_is_left_alone(path: Path, text: str) -> None:
    """What is no TOML, or writes inboxes in another way, is refused in words and not touched."""
    path.write_bytes(text.encode("latin-1"))
    with pytest.raises(ConfigUnusable, match=r"correspondent\.toml"):
        add_inbox(path, {"name": "a", "address": "a@b.example"})
    assert path.read_bytes() == text.encode("latin-1")


def test_a_name_twice_or_unknown_is_refused(path: Path) -> None:
    """An entry is found by its name, so a name stands once."""
    with pytest.raises(ConfigUnusable, match="has an inbox named 'support'"):
        add_inbox(path, {"name": "support", "address": "x@shop.example"})
    with pytest.raises(ConfigUnusable, match="there are: support"):
        set_inbox(path, "sales", "paused", True)
