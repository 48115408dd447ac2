"""Where old events go, and when."""

from __future__ import annotations

from pydantic import Field

from services.core.settings.group import Group


class ArchiveSettings(Group):
    """Old events move to compressed files by `correspondent archive`, or daily; replay and rebuild read them there."""

    url: str = Field(
        "", description="a folder, or s3://BUCKET/PREFIX (access as in [blobs]); by default `archive` below home"
    )
    after_days: float = Field(400, gt=0, description="events stored longer ago may leave the table")
    daily: bool | None = Field(
        None, description="move them each day; by default unless only blobs have a bucket and `url` is empty"
    )
