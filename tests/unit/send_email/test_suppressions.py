"""When a report counts: about a mail of ours that has left, and is final."""

from __future__ import annotations

from contextlib import asynccontextmanager
from types import SimpleNamespace
from typing import Any
from uuid import UUID

import pytest

from services.send_email.suppressions import StillLeaving, on_email

IDS = {name: UUID(int=number) for number, name in enumerate(("reply_id", "thread_id", "turn_id"))}


async def reported(state: str | None, kind: str = "hard", named: tuple[str, ...] = ("ada@example.org",)) -> list[Any]:
    """What is recorded of a report of this kind about a reply in this state (None: no reply of ours)."""
    recorded: list[Any] = []
    row = SimpleNamespace(ids=IDS, state=state, recipient="Ada@example.org", cc=[]) if state else None

    class Unit:
        async def lock(self, *_: Any) -> None:
            """Nobody else is there."""

        async def row_as(self, *_: Any, **__: Any) -> Any:
            return row

        async def record(self, event: Any) -> None:
            recorded.append(event)

    @asynccontextmanager
    async def unit() -> Any:
        yield Unit()

    told = {"kind": kind, "status": "5.1.1", "diagnostic": "550 no such user", "recipients": named}
    report = SimpleNamespace(reply_id=IDS["reply_id"], **told)
    await on_email(SimpleNamespace(event=SimpleNamespace(report=report, mail_id=UUID(int=9)), unit=unit))  # type: ignore[arg-type]
    return recorded


@pytest.mark.parametrize("state", ["sent", "unknown", "bounced"])
@pytest.mark.parametrize("kind", ["hard", "complaint"])
async def test_a_final_report_suppresses_the_address_that_the_mail_went_to(state: str, kind: str) -> None:
    """Hard bounces and complaints count, also about a reply of which nobody knew whether it was sent."""
    (event,) = await reported(state, kind)
    assert (event.recipient, event.kind, event.suppressed) == ("ada@example.org", kind, True)


@pytest.mark.parametrize(
    ("kind", "named", "suppressed"),
    [
        ("hard", ("ADA@example.org",), True),
        ("hard", ("elsewhere@example.net", "ada@example.org"), True),
        ("hard", ("elsewhere@example.net",), False),
        ("hard", (), False),
        ("complaint", (), True),
        ("complaint", ("elsewhere@example.net",), False),
    ],
)
async def test_only_an_address_that_we_wrote_to_and_that_is_named_is_suppressed(
    kind: str, named: tuple[str, ...], suppressed: bool
) -> None:
    """The failure of a forward is no news of whom we wrote to; a complaint may leave out who complained."""
    (event,) = await reported("sent", kind, named)
    assert (event.recipient, event.suppressed) == ("ada@example.org", suppressed)


@pytest.mark.parametrize("kind", ["soft", "delayed", "other"])
async def test_a_soft_report_suppresses_nobody(kind: str) -> None:
    """A full mailbox or a slow server is no reason."""
    assert await reported("sent", kind) == []


@pytest.mark.parametrize("state", ["draft", "approved", "failed", "discarded", None])
async def test_a_report_about_what_never_left_is_nothing(state: str | None) -> None:
    """Nothing bounces that was not sent."""
    assert await reported(state) == []


async def test_a_report_faster_than_the_servers_answer_was_lost() -> None:
    """While the mail is being handed over the report waits, and is tried again."""
    with pytest.raises(StillLeaving):
        await reported("sending")
