"""One web page fetched for the knowledge base, within limits.

Invariants: http and https alone; the address that is connected to is the one that was checked, on every redirect again,
so neither a redirect nor a name that changes its address leads into a private network; no proxy and no cookie; what is
too large, too slow, of another kind or encoded is refused in words.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

import httpx

from services.core.errors import Permanent
from services.core.public_hosts import HostRefused, Resolve, pinned, plain_client, resolve
from services.core.settings import KnowledgeSettings
from services.core.units import MB

KINDS = (
    "text/html",
    "application/xhtml+xml",
    "text/plain",
    "text/markdown",
    "text/x-markdown",
    "application/pdf",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    "application/octet-stream",
)  # what a server may call a document; what it is, its content says
HEADERS = {"accept": ", ".join(KINDS), "accept-encoding": "identity", "user-agent": "correspondent (knowledge add)"}
PRIVATE = "knowledge.private_hosts (or --allow-private)"


class FetchRefused(Permanent):
    """The page cannot be had, and trying again will not help before something is changed."""


@dataclass(frozen=True, slots=True)
class Fetched:
    """A page: its bytes, what its server called it, and the address it came from after redirects."""

    content: bytes
    media_type: str
    address: str


async def fetch(address: str, settings: KnowledgeSettings, resolver: Resolve = resolve) -> Fetched:
    """Fetch a page. Raises `FetchRefused` with the reason in words."""
    try:
        async with asyncio.timeout(settings.fetch_s):
            return await _fetch(address, settings, resolver)
    except HostRefused as error:
        raise FetchRefused(str(error)) from None
    except TimeoutError:
        raise FetchRefused(f"takes longer than {settings.fetch_s:g} s (knowledge.fetch_s)") from None
    except httpx.HTTPError as error:
        raise FetchRefused(f"cannot be fetched: {str(error) or type(error).__name__}") from None
    except (httpx.InvalidURL, UnicodeError, ValueError) as error:
        raise FetchRefused(f"is no address that can be fetched: {error}") from None


async def _fetch(address: str, settings: KnowledgeSettings, resolver: Resolve) -> Fetched:
    url = httpx.URL(address)
    allowed = settings.private_hosts
    async with plain_client(settings.fetch_s) as client:
        for _ in range(settings.redirects + 1):
            request = await pinned(
                client, "GET", url, headers=HEADERS, private=PRIVATE, allowed=allowed, resolver=resolver
            )
            answer = await client.send(request, stream=True)
            try:
                if answer.has_redirect_location:
                    url = url.join(answer.headers["location"])
                    continue
                return await _taken(answer, url, settings)
            finally:
                await answer.aclose()
    raise FetchRefused(f"redirects more than {settings.redirects} times (knowledge.redirects)")


async def _taken(answer: httpx.Response, url: httpx.URL, settings: KnowledgeSettings) -> Fetched:
    if answer.status_code != 200:
        raise FetchRefused(f"answers {answer.status_code} {answer.reason_phrase}".strip())
    kind = answer.headers.get("content-type", "application/octet-stream").partition(";")[0].strip().lower()
    if kind not in KINDS:
        raise FetchRefused(f"is {kind or 'of no kind'}, which is not read")
    if answer.headers.get("content-encoding", "identity").strip().lower() not in ("", "identity"):
        raise FetchRefused(f"comes encoded as {answer.headers['content-encoding']}, though it was asked not to be")
    content = bytearray()
    async for part in answer.aiter_raw():
        content += part
        if len(content) > settings.max_document_mb * MB:
            raise FetchRefused(f"is larger than {settings.max_document_mb:g} MB (knowledge.max_document_mb)")
    return Fetched(bytes(content), kind, str(url))
