"""Units in which settings and messages give sizes."""

from __future__ import annotations

MB = 1024 * 1024  # bytes
