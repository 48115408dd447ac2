"""The example of the settings' file."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from services.cli.settings import example
from services.core.settings import InboxSettings, Settings

ADDRESS = "support@your-company.com"
FILE = Path(__file__).parents[3] / "correspondent.example.toml"


def uncommented(text: str) -> str:
    """The file as it is when every setting is taken in."""
    return re.sub(r"^#(?=\w+ = |\[)", "", text, flags=re.MULTILINE)


def test_the_example_is_what_the_settings_say() -> None:
    """correspondent.example.toml is the output of `correspondent settings`; make it anew when a setting changes."""
    assert FILE.read_text(encoding="utf-8") == example()


def test_the_example_as_it_is_sets_nothing() -> None:
    """Copied unchanged, it leaves every default in force."""
    assert tomllib.loads(example()) == {}


def test_taken_in_whole_the_example_gives_the_defaults(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With every comment mark gone it is a valid file, and what has a default has that default."""
    taken = tomllib.loads(uncommented(example()))
    taken["model"] |= {"provider": "offline"}
    del taken["smtp"]["oauth"]  # which stands in place of a password
    for name in ("ca_file", "cert_file", "key_file", "oauth"):  # which need a protocol that uses them
        del taken["kafka"][name]
    del taken["console"]["oidc"]  # which needs a provider
    del taken["archive"]["daily"]  # by default what the other settings make of it
    (inbox,) = taken.pop("inboxes")
    inbox["address"] = ADDRESS
    del taken["web"]["tokens"]
    del (
        taken["behaviours"],
        taken["participants"],
        taken["alerts"]["to"],
        taken["approval"]["intents"],
        taken["reach_out"]["rules"],
        taken["canned_answers"],
    )  # whose entries need what they are about
    path = tmp_path / "none.toml"
    path.touch()
    monkeypatch.setenv("CORRESPONDENT_CONFIG", str(path))
    given, plain = Settings(**taken).model_dump(), Settings().model_dump()
    for name in plain.keys() - {"model"}:
        assert given[name] == plain[name], name
    unset = {"dkim", "forwarders", "imap", "smtp", "service_levels", "office_hours", "incidents", "reply", "behaviours"}
    for group in unset:
        inbox.pop(group, None)
    defaults = InboxSettings(name="...", address=ADDRESS).model_dump(exclude=unset)
    assert InboxSettings(**inbox).model_dump(exclude=unset) == defaults


def test_every_setting_stands_in_the_example() -> None:
    """No field of any group is missing."""
    taken = tomllib.loads(uncommented(example()))
    assert set(taken) == set(Settings.model_fields)
    assert set(taken["inboxes"][0]) == set(InboxSettings.model_fields)
