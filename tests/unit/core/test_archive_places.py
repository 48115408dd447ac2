"""Where archived events lie: a file that another one stands in for is taken away, once or twice."""

from __future__ import annotations

from pathlib import Path

import pytest

from services.core.archive.bucket import Bucket
from services.core.archive.places import ArchiveMissing, Folder, Place
from services.core.object_blobs import ObjectStoreAway
from tests.support.s3_server import running_s3


def gone(place: Place, tmp_path: Path) -> bool:
    """Whether a file that is kept and removed twice is not there any more."""
    content = tmp_path / "content"
    content.write_bytes(b"rows")
    place.keep("events", content)
    with place.open("events") as kept:
        assert kept.read() == b"rows"
    place.remove("events")
    place.remove("events")
    with pytest.raises(ArchiveMissing):
        place.open("events")
    return True


def test_a_folder_lets_go_of_a_file(tmp_path: Path) -> None:
    """What is not there is removed already."""
    assert gone(Folder(tmp_path / "archive"), tmp_path)


def test_a_bucket_lets_go_of_an_object(tmp_path: Path) -> None:
    """Likewise; a store that is away says so, and nothing is taken for removed."""
    with running_s3() as server:
        bucket = Bucket("s3://mail/archive", server.access())
        assert gone(bucket, tmp_path)
        server.failing = True
        with pytest.raises(ObjectStoreAway):
            bucket.remove("events")
