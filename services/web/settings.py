"""`/api/settings/...`: changing settings while the deployment runs, what was changed, and the test of an inbox."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Path, Request, Response
from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from services.core.app import App
from services.core.web import RequestRefused
from services.core.web_paging import After, Limit, linked
from services.mail.check.steps import Finding
from services.operations.inbox_test import AskedTooOften, InboxUnknown
from services.operations.settings_changes import Change, SettingConflict, SettingRefused, change, history, undo
from services.operations.settings_changes.changes import Wanted
from services.operations.trials import Trials
from services.web.bodies import By
from services.web.caller import name_of_caller

Name = Annotated[str, StringConstraints(max_length=320)]
Why = Annotated[str, StringConstraints(strip_whitespace=True, max_length=500)]
Version = Annotated[int, Path(ge=1, le=2**31 - 1)]


class _Body(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    reason: Why = ""
    by: By = Field(default_factory=name_of_caller)


class SettingsChange(_Body):
    """Values to store, and settings that are to be as the file has them again."""

    values: dict[Name, Any] = Field({}, max_length=200, description="by name, such as limits.thread_per_hour")
    unset: Annotated[tuple[Name, ...], Field(max_length=200)] = ()
    base: int | None = Field(
        None, ge=0, le=2**31 - 1, description="the version that you saw: what others changed since is kept, or refused"
    )


class Undone(_Body):
    """A change is to be taken back."""


class SettingsOutcome(BaseModel):
    """The version that holds now, and what was stored with it; nothing where everything was so already."""

    version: int
    values: dict[str, Any]
    unset: tuple[str, ...]


class InboxTest(BaseModel):
    """What the test of an inbox found, in the order in which each is used; `ok`: all of it went well."""

    ok: bool
    findings: list[Finding]


def add_inbox_test(router: APIRouter, app: App, trials: Trials) -> None:
    """The test that `correspondent inbox test` makes."""

    @router.post("/inboxes/{name}/test")
    async def test(name: Annotated[str, Path(max_length=200)]) -> InboxTest:
        """Test an inbox of the settings: names, connections, TLS, logins, DKIM. No mail is sent, nothing is changed."""
        try:
            found = await trials.inbox_tests.run(name)
        except InboxUnknown as error:
            raise RequestRefused(404, "inbox_unknown", str(error)) from None
        except AskedTooOften as error:
            raise RequestRefused(429, "too_many", str(error)) from None
        return InboxTest(ok=all(one.ok for one in found), findings=found)


def add_settings(router: APIRouter, app: App) -> None:
    """Changing, what was changed, and taking back."""

    @router.patch("/settings")
    async def patch(body: SettingsChange) -> SettingsOutcome:
        """Change settings: all of them, or none. 422 names what cannot be so, 409 what somebody else changed."""
        try:
            return _outcome(await change(app, body.values, body.unset, base=body.base, by=body.by, reason=body.reason))
        except (SettingRefused, SettingConflict) as error:
            raise _refusal(error) from None

    @router.get("/settings/history")
    async def changes(request: Request, response: Response, limit: Limit = 50, after: After = "") -> list[Change]:
        """What was changed, by whom and why, the newest first."""
        return linked(request, response, await history(app, limit=limit, after=after))

    @router.post("/settings/history/{version}/undo")
    async def take_back(version: Version, body: Undone) -> SettingsOutcome:
        """Take one change back, as a new change; 409 where one of its settings was changed again since."""
        try:
            return _outcome(await undo(app, version, by=body.by, reason=body.reason))
        except (SettingRefused, SettingConflict) as error:
            raise _refusal(error) from None


def _outcome(wanted: Wanted) -> SettingsOutcome:
    return SettingsOutcome(version=wanted.version, values=wanted.values, unset=wanted.unset)


def _refusal(error: SettingRefused | SettingConflict) -> RequestRefused:
    if isinstance(error, SettingRefused):
        return RequestRefused(422, "setting_refused", str(error), settings=error.faults)
    names = [one.name for one in error.conflicts]
    return RequestRefused(409, "setting_conflict", str(error), version=error.version, settings=names)
