"""Signed POSTs to receivers that an operator named: Standard Webhooks 1.0, to public addresses, within limits.

Invariants: nothing is followed, nothing is kept between two calls, and of what a receiver answers no more than
`LONGEST_ANSWER` bytes are read, within the time of the whole call.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from http import HTTPStatus

import httpx
from standardwebhooks import Webhook

from services.core.errors import Temporary
from services.core.printable import printable
from services.core.public_hosts import HostRefused, pinned, plain_client
from services.core.standard_webhooks import secret_bytes

LONGEST_ANSWER = 1000  # bytes of a body
ANSWER_S = 2.0  # for the body, once the status is known


class NotPosted(Temporary):
    """No answer came: the receiver may not be asked, cannot be reached, or is too slow."""


@dataclass(frozen=True, slots=True)
class Limits:
    """How long a call may take, and whether addresses that are not public may be called, by which settings."""

    timeout_s: float
    timeout_setting: str
    private: bool
    private_setting: str


@dataclass(frozen=True, slots=True)
class Answer:
    """What a receiver answered; `excerpt` is the beginning of its body, and anybody's words."""

    status: int
    is_redirect: bool
    excerpt: str

    @property
    def is_success(self) -> bool:
        """Whether the receiver took it."""
        return 200 <= self.status < 300

    @property
    def is_gone(self) -> bool:
        """Whether the receiver wants nothing more, ever (410)."""
        return self.status == HTTPStatus.GONE

    @property
    def words(self) -> str:
        """The status with its name: ours, since the receiver's own phrase may be anything."""
        try:
            return f"{self.status} {HTTPStatus(self.status).phrase}"
        except ValueError:
            return str(self.status)


async def post_signed(
    url: str, secrets: Sequence[str], webhook_id: str, now: datetime, body: bytes, *, agent: str, limits: Limits
) -> Answer:
    """POST JSON, signed with each of the secrets. Raises `NotPosted`."""
    headers = {
        "content-type": "application/json",
        "accept-encoding": "identity",
        "user-agent": agent,
        **signature_headers(secrets, webhook_id, now, body),
    }
    try:
        async with asyncio.timeout(limits.timeout_s), plain_client(limits.timeout_s) as client:
            request = await pinned(
                client,
                "POST",
                httpx.URL(url),
                headers=headers,
                private=limits.private_setting,
                allowed=limits.private,
                content=body,
            )
            answer = await client.send(request, stream=True)
            try:
                return Answer(answer.status_code, answer.has_redirect_location, await _beginning(answer))
            finally:
                await answer.aclose()
    except HostRefused as error:
        raise NotPosted(str(error)) from error
    except TimeoutError as error:
        raise NotPosted(f"no answer in {limits.timeout_s:g} s ({limits.timeout_setting})") from error
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        raise NotPosted(f"cannot be reached: {str(error) or type(error).__name__}") from error


def signature_headers(secrets: Sequence[str], webhook_id: str, now: datetime, body: bytes) -> dict[str, str]:
    """The three headers of Standard Webhooks; a receiver needs one of the secrets to verify them."""
    at, said = now.astimezone(UTC), body.decode()
    signed = [Webhook(secret_bytes(one)).sign(webhook_id, at, said) for one in secrets]
    return {
        "webhook-id": webhook_id,
        "webhook-timestamp": str(int(at.timestamp())),
        "webhook-signature": " ".join(signed),
    }


async def _beginning(answer: httpx.Response) -> str:
    """The beginning of a body as one line. The status has been said: a body that breaks off or drips ends there."""
    read = bytearray()
    with suppress(httpx.HTTPError, TimeoutError):
        async with asyncio.timeout(ANSWER_S):
            async for chunk in answer.aiter_raw():
                read += chunk
                if len(read) >= LONGEST_ANSWER:
                    break
    return " ".join(printable(read[:LONGEST_ANSWER].decode("utf-8", "replace"), keep="\n\r\t").split())
