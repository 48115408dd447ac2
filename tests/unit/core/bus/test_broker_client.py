"""Every client of a broker is one that makes no topics."""

from __future__ import annotations

import re
from pathlib import Path

import services

CLIENT = re.compile(r"^(?:from|import) (?:aiokafka(?!\.errors|\.protocol|\.structs)|faust)\b", re.M)


def test_whoever_talks_to_a_broker_has_loaded_what_keeps_it_from_making_topics() -> None:
    """A module that imports a client of aiokafka's or Faust's imports `broker_client`, or one beside it that does."""
    modules = {path: path.read_text() for folder in services.__path__ for path in Path(folder).rglob("*.py")}
    clients = [path for path, text in modules.items() if CLIENT.search(text) and path.name != "broker_client.py"]
    assert len(clients) > 4
    without = {path.name for path in clients if "core.bus.broker_client" not in modules[path]}
    assert without == {"oauth_token.py"}  # which has a type of aiokafka's alone
