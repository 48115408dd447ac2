"""The way to a first answered mail: how far a deployment is, by what is in its settings and tables."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from services.core.app import App
from services.core.db import fetch_one, queries
from services.core.outages.mail_servers import noted_outages

SQL = queries(__file__, "first_steps.sql")
StepName = Literal["model", "inbox", "knowledge", "mail", "approval", "reply"]


@dataclass(frozen=True, slots=True)
class Step:
    """A step, and whether it is done; `trouble` says what stands in its way, where something is known to."""

    name: StepName
    done: bool
    trouble: str = ""


@dataclass(frozen=True, slots=True)
class FirstSteps:
    """Every step in its order. `over`: a mail was answered, so that what is not done besides is a choice.

    `addresses` are those of the inboxes. `approval` says whether replies wait for a person, and `waiting` whether one
    does now.
    """

    steps: tuple[Step, ...]
    over: bool
    addresses: tuple[str, ...]
    approval: str
    waiting: bool

    @property
    def next(self) -> StepName | None:
        """The first step that is not done; None where every one is."""
        return next((one.name for one in self.steps if not one.done), None)


async def first_steps(app: App) -> FirstSteps:
    """How far it is now."""
    settings = app.settings
    async with app.database.reading() as conn:
        found = await fetch_one(conn, SQL.found, {"workspace": settings.workspace})
        outages = await noted_outages(conn, settings)
    assert found is not None
    steps = (
        Step("model", settings.model.chosen != "offline"),
        Step("inbox", bool(settings.inboxes) and not outages, outages[0].words if outages else ""),
        Step("knowledge", found["knowledge"]),
        Step("mail", found["mail"]),
        Step("approval", found["released"]),
        Step("reply", found["sent"]),
    )
    addresses = tuple(one.address for one in settings.inboxes)
    approval = next((one.reply.approval for one in settings.inboxes if one.reply.approval), settings.send.approval)
    return FirstSteps(steps, found["sent"], addresses, approval, found["waiting"])
