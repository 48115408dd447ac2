"""Customers who read a mail of ours before they answer it: a clock goes on by that time, and no test waits for it."""

from __future__ import annotations

from datetime import timedelta

from services.demo.clock import SteppingClock
from services.mail.reports.automatic.judgement import UNREAD


def read_ours(clock: SteppingClock) -> None:
    """Make it late enough that whoever answers a mail which has left by now may be a person."""
    clock.forward(clock() + UNREAD + timedelta(seconds=1))
