"""What the harness of typed commands tells apart."""

from __future__ import annotations

from tests.support.commands import Done

GOT_OVER = '{"event": "consumer stopped, starts again in 0.5 s", "exception": "Traceback (most recent call last): ..."}'


def test_what_a_process_got_over_and_logged_failed_the_command_that_ran_it() -> None:
    """A broker that was slow once leaves a traceback in a line of the log; one that ends a command stands for itself."""
    assert "Traceback" not in Done(0, f"ready\n{GOT_OVER}\n").told
    assert "Traceback" in Done(1, f"{GOT_OVER}\nTraceback (most recent call last):\n").told
