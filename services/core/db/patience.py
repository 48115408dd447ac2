"""How long we wait for Postgres before we call it away."""

from __future__ import annotations

from typing import Any

# Seconds to connect, and milliseconds that what we sent may stay unacknowledged.
PATIENCE: dict[str, Any] = {"connect_timeout": 10, "tcp_user_timeout": 20_000}
