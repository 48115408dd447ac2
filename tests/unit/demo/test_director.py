"""The demo's deployment is the same when it is started again."""

from __future__ import annotations

from pathlib import Path

import pytest

from deploy.local import Endpoints
from services.core.settings import CONFIG_FILE, read_settings
from services.demo.director import demo_settings, settings_to_keep
from services.demo.world import make_world
from services.operations.config_file import write_settings


def test_the_demos_settings_are_kept_for_who_opens_its_deployment_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its inboxes and all that shapes a reply are read back from its file, so that a replay finds no difference."""
    stack = Endpoints("h:1", "postgresql://h:2/x", "redis://h:3", "h", 4, tmp_path)
    demo = demo_settings(make_world(0), stack, tmp_path)
    write_settings(tmp_path / CONFIG_FILE, settings_to_keep(demo))
    monkeypatch.setenv("CORRESPONDENT_CONFIG", str(tmp_path / CONFIG_FILE))
    again = read_settings()
    own_ways = {"database_url", "redis_url", "kafka", "smtp", "home", "web"}
    assert again.model_dump(exclude=own_ways) == demo.model_dump(exclude=own_ways)
