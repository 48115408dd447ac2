"""The network as webhook formats see it."""

from __future__ import annotations

import httpx
import pytest

from services.receive_email.webhooks.request import MOST_BYTES, MOST_KEPT, HttpsOutside, OutsideAway

URL = "https://sns.eu-west-1.amazonaws.com/x.pem"


async def test_what_never_changes_is_asked_for_once() -> None:
    """A kept page is fetched once, and what is kept is bounded."""
    asked: list[str] = []

    def answer(request: httpx.Request) -> httpx.Response:
        asked.append(str(request.url))
        return httpx.Response(200, content=b"pem")

    outside = HttpsOutside(httpx.MockTransport(answer))
    assert [await outside.kept(URL), await outside.kept(URL)] == [b"pem", b"pem"]
    assert asked == [URL]
    for number in range(MOST_KEPT):
        await outside.kept(f"{URL}?{number}")
    await outside.kept(URL)
    assert asked.count(URL) == 2


@pytest.mark.parametrize(
    "response",
    [
        httpx.Response(404),
        httpx.Response(302, headers={"location": "https://evil.example/"}),
        httpx.Response(200, content=b"x" * (MOST_BYTES + 1)),
    ],
)
async def test_other_answers_are_temporary_errors_and_not_kept(response: httpx.Response) -> None:
    """No redirect is followed, no large answer believed, and a failure is asked for again."""
    asked: list[str] = []

    def answer(request: httpx.Request) -> httpx.Response:
        asked.append(str(request.url))
        return response

    outside = HttpsOutside(httpx.MockTransport(answer))
    for _ in range(2):
        with pytest.raises(OutsideAway):
            await outside.kept(URL)
    assert asked == [URL, URL]
