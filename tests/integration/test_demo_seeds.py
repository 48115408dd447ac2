"""Other people, plans and wordings of the demo's story: each seed ends as it should, as `make demo SEED=7` promises."""

from __future__ import annotations

import subprocess

import pytest

from tests.integration.test_cli import COMMAND, environment
from tests.support.stack import temporary_home, uses_apache_kafka

SEEDS = (0, 2, 11)  # between them they word an upgrade and a request for prices in each way that the story has


@pytest.mark.slow
@pytest.mark.timeout(400)
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.skipif(uses_apache_kafka(), reason="the demo has an embedded stack of its own")
def test_a_story_drawn_from_another_seed_did_not_end_as_expected(seed: int) -> None:
    """All mails of the story end as its author says: what is answered, learned, parked and asked back."""
    with temporary_home(in_memory=True) as folder:
        played = subprocess.run(
            [*COMMAND, "demo", "--once", "--seed", str(seed)],
            cwd=folder,
            env=environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=300,
            check=False,
        )
    assert "mails ended as expected" in played.stdout, played.stdout[-3000:]
    assert played.returncode == 0
