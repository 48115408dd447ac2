"""The address that `correspondent console` prints."""

from __future__ import annotations

from typing import Any

import pytest

from services.cli.console import ConsoleOff, address
from services.core.settings import WebSettings


@pytest.mark.parametrize(
    ("web", "place"),
    [
        ({}, "http://127.0.0.1:8025"),
        ({"host": "0.0.0.0", "port": 80}, "http://127.0.0.1:80"),
        ({"host": "::1"}, "http://[::1]:8025"),
        ({"console_url": "https://desk.shop.example/"}, "https://desk.shop.example"),
    ],
)
def test_the_link_begins_with_where_people_reach_the_server(web: dict[str, Any], place: str) -> None:
    """The set address, else host and port; a server that listens on all addresses is reached on this machine."""
    assert address(WebSettings(**web)) == place


def test_a_deployment_without_a_console_has_no_link() -> None:
    """It says which setting is the reason."""
    with pytest.raises(ConsoleOff, match=r"web\.console"):
        address(WebSettings(console=False))
