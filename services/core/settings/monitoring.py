"""Where a process answers probes and shows its metrics."""

from __future__ import annotations

from pydantic import Field

from services.core.settings.group import Group


class MonitoringSettings(Group):
    """Probes (`/livez`, `/readyz`) and `/metrics` of each process, on a port of its own."""

    enabled: bool = True
    host: str = Field("127.0.0.1", description="0.0.0.0 in a container; nothing secret or personal is shown there")
    port: int = Field(
        8026, ge=0, le=65535, description="unless it is set, a further process on the same machine takes a free one"
    )
