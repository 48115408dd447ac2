"""The nouns of a webhook: the call as it came, the mail that was in it, the format that knows how to open it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

import httpx

from schemas.events.mail import Peer
from services.core.blobs import BlobMissing
from services.core.errors import Temporary
from services.core.object_blobs import open_bucket, read_object
from services.core.settings import S3Access, WebSettings
from services.core.web import RequestRefused


class Outside(Protocol):
    """What a format may ask the network for. Raises `Temporary` where it does not answer."""

    async def get(self, url: str) -> bytes:
        """The body behind a URL, asked for now."""

    async def kept(self, url: str) -> bytes:
        """The body behind a URL whose content never changes."""

    async def stored(self, bucket: str, key: str, access: S3Access, most: int) -> bytes | None:
        """An object of an S3 bucket; None where it is larger than `most` bytes."""


@dataclass(frozen=True, slots=True)
class Call:
    """One POST, read whole and within the limit; header names are in lower case, `now` is when it came.

    `path` is what followed the format's name in the URL.
    """

    headers: Mapping[str, str]
    body: bytes = field(repr=False)
    now: datetime
    web: WebSettings
    outside: Outside
    path: str = field(default="", repr=False)

    def header(self, name: str) -> str:
        """A header's value, or ""."""
        return self.headers.get(name, "")


@dataclass(frozen=True, slots=True)
class Inbound:
    """A verified mail: its raw bytes, what names it at its provider, and the id of the request that brought it."""

    raw: bytes = field(repr=False)
    key: str
    request_id: str
    peer: Peer = field(default_factory=Peer)


@dataclass(frozen=True, slots=True)
class Format:
    """One provider's way of posting mail.

    `open` verifies before it parses, and raises `RequestRefused`; None: the call was good and brought no mail.
    `admit` looks at the head of a call whose body is not read yet, and raises `RequestRefused` where it cannot be good.
    `overhead` is how much larger than the mail a body may be, for formats that escape or encode it. `dated`: its calls
    carry a time that is checked, so that old ids may be forgotten. `has_path`: a secret may follow its name in the URL.
    """

    name: str
    open: Callable[[Call], Awaitable[Inbound | None]]
    admit: Callable[[Call], None]
    overhead: float = 1.0
    dated: bool = True
    has_path: bool = False


def unsigned(what: str) -> RequestRefused:
    """The refusal of a call that is not from whom it says."""
    return RequestRefused(401, "signature_wrong", what)


def stale(what: str) -> RequestRefused:
    """The refusal of a call that was signed too long ago, or too far ahead."""
    return RequestRefused(401, "timestamp_stale", what)


def malformed(what: str) -> RequestRefused:
    """The refusal of a verified call whose content cannot be used."""
    return RequestRefused(422, "content_unusable", what)


def not_configured(setting: str) -> RequestRefused:
    """The refusal of a format that has no secret."""
    return RequestRefused(403, "not_configured", f"this webhook is closed until the setting {setting} is made")


# The network as formats see it: HTTPS, short, without redirects, small answers only; and objects of S3 buckets.
TIMEOUT_S = 5.0
MOST_BYTES = 64 * 1024
MOST_KEPT = 16


class OutsideAway(Temporary):
    """A provider's server did not give what we asked it for."""


class HttpsOutside:
    """`Outside` over httpx. What is `kept` is asked for once while the process lives."""

    def __init__(self, transport: httpx.AsyncBaseTransport | None = None) -> None:
        self._transport = transport
        self._kept: dict[str, bytes] = {}

    async def get(self, url: str) -> bytes:
        """The body behind a URL. Raises `OutsideAway`."""
        try:
            async with httpx.AsyncClient(timeout=TIMEOUT_S, transport=self._transport) as client:
                answer = await client.get(url)
        except httpx.HTTPError as error:
            raise OutsideAway(f"no answer from {httpx.URL(url).host}: {error!r}") from error
        if answer.status_code != httpx.codes.OK or len(answer.content) > MOST_BYTES:
            raise OutsideAway(f"{httpx.URL(url).host} answered {answer.status_code}, {len(answer.content)} bytes")
        return answer.content

    async def kept(self, url: str) -> bytes:
        """The body behind a URL whose content never changes; the oldest makes room."""
        if url not in self._kept:
            content = await self.get(url)
            if len(self._kept) >= MOST_KEPT:
                self._kept.pop(next(iter(self._kept)))
            self._kept[url] = content
        return self._kept[url]

    async def stored(self, bucket: str, key: str, access: S3Access, most: int) -> bytes | None:
        """An object of a bucket, or None where it is larger than `most` bytes. Raises `OutsideAway`."""
        try:
            return await read_object(open_bucket(bucket, access), key, most=most)
        except BlobMissing as error:
            raise OutsideAway(f"{error} in the bucket {bucket}") from None
