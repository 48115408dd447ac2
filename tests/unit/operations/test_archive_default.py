"""Events leave the table by default wherever their files last as long as the mails' own bytes."""

from __future__ import annotations

import pytest

from services.core.settings import Settings
from services.operations.retention.steps import archives_daily


@pytest.mark.parametrize(
    ("archive", "blobs", "daily"),
    [
        ({}, "", True),
        ({}, "s3://mails", False),
        ({"url": "s3://mails/events"}, "s3://mails", True),
        ({"url": "/srv/events"}, "", True),
        ({"daily": False}, "", False),
        ({"daily": True}, "s3://mails", True),
    ],
)
def test_events_were_kept_in_the_table_for_ever(archive: dict[str, object], blobs: str, daily: bool) -> None:
    """Not where home may go with its container: blobs lie in a bucket, and no place is named for events."""
    said = {"archive": archive, "blobs": {"url": blobs}}
    assert archives_daily(Settings(**said)) is daily
