"""What is away, as one process tells the others: a row for each service, which `status`, metrics and alerts read."""

from __future__ import annotations

from services.core.db import queries

SQL = queries(__file__, "outages.sql")
LONGEST_ERROR = 500  # characters of what the service, or the network, said
