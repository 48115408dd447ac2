"""Ports that are chosen before a server binds them."""

from __future__ import annotations

import subprocess
import sys

from deploy.local.ports import free_port
from tests.support.workers import ROOT

CLAIM = "from deploy.local.ports import _claim; print(_claim({port}))"


def test_a_port_that_was_chosen_free_was_chosen_again_before_its_server_bound_it() -> None:
    """Two choices never give the same port, in this process or in another, although nobody listens there yet."""
    port = free_port()
    assert port not in {free_port() for _ in range(50)}
    other = subprocess.run([sys.executable, "-c", CLAIM.format(port=port)], cwd=ROOT, capture_output=True, check=True)
    assert other.stdout.strip() == b"False"


def test_a_port_that_we_claimed_may_be_preferred_again() -> None:
    """A stack that restarts in one process keeps its ports."""
    port = free_port()
    assert free_port(port) == port
