"""A signed POST: what counts as taken, and in which words all else is said."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from services.alert_people.attempts import NotTaken, WebhookGone, post
from services.alert_people.channels import channels
from services.core.errors import CorrespondentError
from services.core.settings import Settings
from tests.support.alert_receiver import SECRET, Receiver, receiving

NOW = datetime(2026, 3, 2, 9, 15, tzinfo=UTC)


def settings_for(url: str, **alerts: Any) -> Settings:
    return Settings(alerts={"to": [{"webhook": url, "secret": SECRET}], "timeout_s": 20, **alerts})


async def posted(receiver: Receiver, **alerts: Any) -> str:
    settings = settings_for(receiver.url, **{"private_hosts": True, **alerts})
    (channel,) = channels(settings)
    return await post(settings, channel, "one-id", NOW, b'{"a":1}')


async def test_what_is_taken_is_signed_with_the_secret() -> None:
    """Id, time and body stand under the signature, and any 2xx is a yes."""
    async with receiving() as receiver:
        assert await posted(receiver) == "204 No Content"
    (one,) = receiver.posts
    assert one.is_signed
    assert (one.headers["webhook-id"], one.headers["webhook-timestamp"]) == ("one-id", str(int(NOW.timestamp())))
    assert one.headers["content-type"] == "application/json"


@pytest.mark.parametrize(
    ("answer", "error", "said"),
    [
        ("500 Internal Server Error", NotTaken, "answers 500 Internal Server Error"),
        ("401 Unauthorized", NotTaken, "answers 401 Unauthorized"),
        ("302 Found\r\nlocation: http://127.0.0.1:1/x", NotTaken, "a redirect is not followed"),
        ("410 Gone", WebhookGone, "answers 410 Gone"),
    ],
)
async def test_what_is_not_taken_is_said_in_words(answer: str, error: type[CorrespondentError], said: str) -> None:
    """A fault and a redirect are tried again; a receiver that is gone is not."""
    async with receiving() as receiver:
        receiver.answer = answer
        with pytest.raises(error) as caught:
            await posted(receiver)
    assert said in str(caught.value)
    assert len(receiver.posts) == 1


async def test_silence_is_not_waited_for_without_end() -> None:
    """A receiver that never answers is left after the time that the settings give it, and tried again."""
    async with receiving() as receiver:
        receiver.answer = None
        with pytest.raises(NotTaken, match=r"no answer in 0\.2 s \(alerts\.timeout_s\)"):
            await posted(receiver, timeout_s=0.2)


async def test_nobody_listens() -> None:
    """A port without a server is tried again."""
    async with receiving() as receiver:
        pass
    with pytest.raises(NotTaken, match="cannot be reached"):
        await posted(receiver)


async def test_a_private_address_is_not_posted_to() -> None:
    """Unless the settings allow it nothing goes to loopback, and the words name the setting."""
    async with receiving() as receiver:
        with pytest.raises(NotTaken, match=r"127\.0\.0\.1, which is not public; alerts\.private_hosts allows it"):
            await posted(receiver, private_hosts=False)
    assert receiver.posts == []
