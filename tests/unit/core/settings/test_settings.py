"""Settings: read once, and every mistake is said with its name and how to mend it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

import pytest
from pydantic import ValidationError

from services.core.errors import Permanent
from services.core.settings import Settings, SettingsWrong, read_settings
from services.core.settings.group import Group


@pytest.fixture(autouse=True)
def _no_settings_of_this_machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    import os

    for name in [name for name in os.environ if name.startswith(("CORRESPONDENT_", "ANTHROPIC_"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("CORRESPONDENT_CONFIG", str(tmp_path / "correspondent.toml"))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "correspondent.toml"


def said() -> str:
    with pytest.raises(SettingsWrong) as raised:
        read_settings()
    return str(raised.value)


def test_without_anything_the_defaults_fit_the_embedded_stack() -> None:
    """Nothing has to be set for a trial."""
    settings = read_settings()
    assert (settings.workspace, settings.threads.quiet_s, settings.send.approval) == ("main", 20, "auto")
    assert settings.quiet.total_seconds() == 20


def test_the_environment_beats_the_file_and_arguments_beat_both(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Arguments, then the environment, then the file; what one does not say the next one does."""
    file.write_text('workspace = "file"\nlog_level = "DEBUG"\npool_size = 3\n')
    monkeypatch.setenv("CORRESPONDENT_WORKSPACE", "environment")
    monkeypatch.setenv("CORRESPONDENT_LOG_LEVEL", "ERROR")
    settings = read_settings(workspace="argument")
    assert (settings.workspace, settings.log_level, settings.pool_size) == ("argument", "ERROR", 3)


def test_a_group_is_set_in_part(monkeypatch: pytest.MonkeyPatch) -> None:
    """One value of a group leaves the others at their defaults."""
    monkeypatch.setenv("CORRESPONDENT_THREADS__QUIET_S", "0")
    threads = read_settings().threads
    assert (threads.quiet_s, threads.auto_close_days) == (0, 14)


def test_a_wrong_value_is_said_with_its_name_and_its_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    """The setting, what is wrong, and where to set it right."""
    monkeypatch.setenv("CORRESPONDENT_THREADS__QUIET_S", "soon")
    assert said() == (
        "threads.quiet_s: must be a number; "
        "set CORRESPONDENT_THREADS__QUIET_S or `threads.quiet_s` in correspondent.toml"
    )


def test_every_wrong_value_is_said_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """One line a fault, so that an operator mends them in one go."""
    monkeypatch.setenv("CORRESPONDENT_POOL_SIZE", "many")
    monkeypatch.setenv("CORRESPONDENT_SEND__APPROVAL", "perhaps")
    assert [line.partition(":")[0] for line in said().splitlines()] == ["pool_size", "send.approval"]


@pytest.mark.parametrize(
    ("text", "name"),
    [('werkspace = "x"\n', "werkspace"), ("[threads]\nquiet = 3\n", "threads.quiet")],
)
def test_a_misspelt_name_is_an_error(file: Path, text: str, name: str) -> None:
    """A setting that does not exist is a misspelling, not a wish that is ignored."""
    file.write_text(text)
    assert said() == (
        f"{name}: there is no such setting; look for a misspelling in correspondent.toml or the environment"
    )


def test_a_file_that_is_no_toml_is_said(file: Path) -> None:
    """A file that cannot be read is a fault in words."""
    file.write_text("workspace = = 1\n")
    assert said().startswith("correspondent.toml or the environment cannot be read: ")


def test_an_inbox_without_its_address_is_said(file: Path) -> None:
    """A missing value names the entry of the list in which it is missing."""
    file.write_text('[[inboxes]]\nname = "support"\n')
    assert said().startswith("inboxes.0.address: is missing; set ")


def test_an_unknown_inbox_is_said_with_those_that_are_known(file: Path) -> None:
    """Who asks for an inbox that is not there is told which are."""
    with pytest.raises(SettingsWrong, match=r"no inbox named 'sales' \(known: none\)"):
        read_settings().inbox("sales")
    file.write_text('[[inboxes]]\nname = "support"\naddress = "Help@Example.com"\n')
    settings = read_settings()
    assert settings.inbox("support").address == "Help@Example.com"
    assert settings.own_addresses == {"help@example.com"}
    with pytest.raises(SettingsWrong, match=r"known: support\); add an \[\[inboxes\]\] entry"):
        settings.inbox("sales")


def test_secrets_do_not_show(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither a printed setting nor a fault about it shows a password."""
    monkeypatch.setenv("CORRESPONDENT_SMTP__PASSWORD", "hunter2-hunter2")
    monkeypatch.setenv("CORRESPONDENT_SECRET", "hunter2-hunter2-hunter2")
    assert "hunter2" not in repr(read_settings())
    monkeypatch.setenv("CORRESPONDENT_SMTP__PORT", "none")
    assert "hunter2" not in said()


def test_the_providers_own_variable_is_the_key(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """ANTHROPIC_API_KEY is read as `model.api_key`: after our own variable, before the file, and nothing is copied."""
    import os

    file.write_text('[model]\napi_key = "of-the-file"\neffort = "low"\n')
    monkeypatch.setenv("ANTHROPIC_API_KEY", "of-the-provider")
    before = dict(os.environ)
    model = read_settings().model
    assert (model.key, model.effort, model.chosen) == ("of-the-provider", "low", "anthropic")
    assert dict(os.environ) == before
    monkeypatch.setenv("CORRESPONDENT_MODEL__API_KEY", "of-ours")
    assert read_settings().model.key == "of-ours"
    assert read_settings(model={"api_key": "of-the-call"}).model.key == "of-the-call"


def test_settings_do_not_change() -> None:
    """One frozen object, groups included."""
    settings = Settings()
    with pytest.raises(ValidationError):
        settings.workspace = "other"
    with pytest.raises(ValidationError):
        settings.threads.quiet_s = 1


def test_wrong_settings_are_permanent() -> None:
    """Trying again mends no setting."""
    assert issubclass(SettingsWrong, Permanent)


@pytest.mark.parametrize(("name", "value"), [("SECRET", "short"), ("FORMER_SECRETS", '["short"]')])
def test_a_secret_that_is_too_short_is_said_at_the_start(
    name: str, value: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not when the first mail needs it; and it is not shown."""
    monkeypatch.setenv(f"CORRESPONDENT_{name}", value)
    assert "at least 16" in said()
    assert "short" not in said()


def groups(one: type[Group]) -> Iterator[type[Group]]:
    """Every group of settings."""
    for each in one.__subclasses__():
        yield each
        yield from groups(each)


NUMBERS = [
    (group, name, kind)
    for group in sorted(set(groups(Group)), key=lambda one: f"{one.__module__}.{one.__name__}")
    for name, field in group.model_fields.items()
    for kind in (int, float)
    if kind in (field.annotation, *get_args(field.annotation))
]
TOO_MUCH = {int: (10**30, -(10**30)), float: (1e300, -1e300, math.inf, math.nan)}


@pytest.mark.parametrize(("group", "name", "kind"), NUMBERS)
def test_a_time_that_never_ends_kept_every_mail_from_an_answer(group: type[Group], name: str, kind: type) -> None:
    """No number is larger than a table holds, endless or none, and no time reaches behind the last day: all handlers failed."""
    assert len(NUMBERS) > 100
    for value in TOO_MUCH[kind]:
        with pytest.raises(ValidationError) as raised:
            group.model_validate({name: value})
        assert (name,) in {error["loc"][:1] for error in raised.value.errors()}, value
