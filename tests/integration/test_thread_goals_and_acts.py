"""Goals that people set, and what the agent did: on the thread over REST and command line, and in the next prompt."""

from __future__ import annotations
