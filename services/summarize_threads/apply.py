"""Applies `thread.summarized` to `thread_summaries`."""

from __future__ import annotations

from schemas.events.memory import ThreadSummarized
from services.core.bus.appliers import runs
from services.core.bus.unit import Appliers
from services.core.db import queries

SQL = queries(__file__)


APPLIERS: Appliers = {ThreadSummarized: runs(SQL.upsert)}
