"""Blobs in an object store: the same promises as in a folder, over a real S3 protocol with signed requests."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

import pytest
from pydantic import ValidationError

from services.core.blobs import BlobDamaged, BlobMissing
from services.core.object_blobs import ObjectBlobs, ObjectStoreAway, open_bucket, read_object
from services.core.settings import BlobSettings
from tests.support.s3_server import S3Server, running_s3


@pytest.fixture(scope="module")
def server() -> Iterator[S3Server]:
    with running_s3() as running:
        yield running


def blobs(server: S3Server, url: str = "s3://mail/blobs", **changes: str) -> ObjectBlobs:
    return ObjectBlobs(BlobSettings(url=url, **server.access(**changes).model_dump()))


@pytest.mark.parametrize("content", [b"", b"mail", bytes(range(256)) * 4096])
async def test_what_is_put_can_be_got(server: S3Server, content: bytes) -> None:
    """A blob's name is the sha256 of its bytes, which come back unchanged; its key begins with the prefix."""
    store = blobs(server)
    name = await store.put(content)
    assert name == hashlib.sha256(content).hexdigest() == await store.put(content)
    assert await store.get(name) == content
    assert server.objects[f"/mail/blobs/{name[:2]}/{name[2:4]}/{name}"] == content


async def test_every_object_is_listed_page_after_page_and_a_deleted_one_is_gone(server: S3Server) -> None:
    """A listing gives each object below the prefix with its bytes, whatever its key, and nothing beside the prefix."""
    store = blobs(server, "s3://mail/listed")
    names = {await store.put(b"mail %d" % number): b"mail %d" % number for number in range(7)}
    server.objects["/mail/listed/by hand"] = b"left here"
    server.objects["/mail/other/by hand"] = b"not ours"
    found = {key: content async for key, content in store.lying()}
    assert found == {f"{one[:2]}/{one[2:4]}/{one}": content for one, content in names.items()} | {
        "by hand": b"left here"
    }
    for one in names:
        await store.delete(one)
    assert [key async for key, _ in store.lying()] == ["by hand"]
    server.failing = True
    try:
        with pytest.raises(ObjectStoreAway, match="were not listed"):
            _ = [one async for one in store.lying()]
    finally:
        server.failing = False


async def test_a_missing_and_a_damaged_blob_are_said(server: S3Server) -> None:
    """What is not there, and what is no longer what it was, is permanent and never handed out."""
    store = blobs(server)
    with pytest.raises(BlobMissing, match="is not at s3://mail/blobs"):
        await store.get("0" * 64)
    name = await store.put(b"mail")
    server.objects[f"/mail/blobs/{name[:2]}/{name[2:4]}/{name}"] = b"Mail"
    with pytest.raises(BlobDamaged):
        await store.get(name)


async def test_what_is_deleted_is_gone_and_may_be_deleted_again(server: S3Server) -> None:
    """Retention and erase remove blobs, and go over what a crash cut short once more."""
    store = blobs(server)
    name = await store.put(b"to be removed")
    await store.delete(name)
    await store.delete(name)
    with pytest.raises(BlobMissing):
        await store.get(name)


async def test_a_store_that_refuses_or_fails_is_a_temporary_error(server: S3Server) -> None:
    """A wrong key, or a server in trouble, loses nothing: whoever let the mail in is told to try again."""
    stranger = blobs(server, secret_access_key="somebody else's secret")
    with pytest.raises(ObjectStoreAway, match="was not stored at s3://mail/blobs"):
        await stranger.put(b"mail")
    server.failing = True
    try:
        with pytest.raises(ObjectStoreAway):
            await blobs(server).get("0" * 64)
    finally:
        server.failing = False


async def test_an_object_over_the_limit_is_not_read(server: S3Server) -> None:
    """Its size is known before its content is asked for."""
    server.objects["/inbound/large"] = b"x" * 1001
    bucket = open_bucket("inbound", server.access())
    assert await read_object(bucket, "large", most=1000) is None
    assert await read_object(bucket, "large", most=1001) == b"x" * 1001


@pytest.mark.parametrize("url", ["mail", "http://mail", "s3://", "s3:///mail", "s3://a b"])
def test_an_address_that_is_no_bucket_is_refused(url: str) -> None:
    """At the start, with the form that is wanted."""
    with pytest.raises(ValidationError, match="s3://BUCKET"):
        BlobSettings(url=url)
