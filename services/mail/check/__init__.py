"""Checks that an operator runs: steps that say in words what works, what does not, and what to do about it."""

from services.mail.check.smtp import smtp_steps
from services.mail.check.steps import TIMEOUT_S, Fault, Finding, Step, connect, resolve, walk

__all__ = ["TIMEOUT_S", "Fault", "Finding", "Step", "connect", "resolve", "smtp_steps", "walk"]
