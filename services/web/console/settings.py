"""Changing settings, for admins: a form for each group, what it would change, what was changed, taking back."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.responses import HTMLResponse

from services.core.app import App
from services.core.settings.changeable import Changeable, changeable, value_of
from services.core.settings_keeper import look
from services.core.stored_settings import StoredValue
from services.core.web import RequestRefused
from services.core.web_paging import After
from services.operations.settings_changes import (
    Conflict,
    SettingConflict,
    SettingRefused,
    change,
    history,
    preview,
    undo,
)
from services.operations.settings_changes.fields import read_value, typed_value
from services.operations.settings_shown import SettingLine, changed_by, inboxes_shown, settings_shown
from services.web.console.forms import Form
from services.web.console.language import Message, translated
from services.web.console.shown import words
from services.web.console.site import Site, done, form_of, viewer

LINES = 50  # changes of a page
BACK = "file "  # begins the name of the box that gives a setting back to the file
GROUPS: Mapping[str, str] = {
    "context": Message("Persona"),
    "send": Message("How replies leave"),
    "approval": Message("Earned approval"),
    "threads": Message("Threads"),
    "limits": Message("Limits"),
    "service_levels": Message("Service levels"),
    "office_hours": Message("Office hours"),
    "retention": Message("Retention"),
}
GROUPS_OF_INBOX: Mapping[str, str] = {
    "": Message("Name, persona, unproven senders"),
    "reply": Message("How its replies leave"),
    "layout": Message("Signature, footer, quoting"),
    "service_levels": Message("Service levels"),
    "office_hours": Message("Office hours"),
}
LABELS: Mapping[str, str] = {  # by the name of a setting within its group
    "persona": Message("Persona"),
    "approval": Message("Approval"),
    "disclose_ai": Message("Say that an AI answers"),
    "disclosure": Message("How it says so"),
    "earn": Message("Leave without a person once it is earned"),
    "bound": Message("Least share approved unchanged"),
    "over": Message("Decisions that are looked at"),
    "senders": Message("Least number of senders"),
    "score": Message("Least score of a draft"),
    "hold_floors": Message("Hold risky drafts under auto, too"),
    "quiet_s": Message("Wait for more mails (seconds)"),
    "auto_resolve_days": Message("Resolve when the customer is silent (days)"),
    "auto_close_days": Message("Close after it was resolved (days)"),
    "reopen_days": Message("Reopen on a mail within (days)"),
    "max_auto_replies": Message("Automatic replies in a row"),
    "suggest": Message("Note what the agent would answer"),
    "sender_per_hour": Message("Mails of a sender in an hour"),
    "thread_per_hour": Message("Mails of a thread in an hour"),
    "company_per_hour": Message("Mails of a company in an hour"),
    "all_per_hour": Message("Mails of everybody in an hour"),
    "same_words": Message("Mails of the same words"),
    "unproven_per_hour": Message("Mails of unproven senders in an hour"),
    "unproven_sender_per_hour": Message("Mails of one unproven sender in an hour"),
    "unproven_replies_per_day": Message("Replies to an unproven sender in a day"),
    "time_zone": Message("Time zone"),
    "hours": Message("Hours of the week"),
    "holidays": Message("Days off"),
    "bodies_days": Message("Texts of mails (days)"),
    "blobs_days": Message("Mails as they came, and files (days)"),
    "facts_days": Message("Facts (days)"),
    "checkpoints_days": Message("Answers of models and tools (days)"),
    "display_name": Message("Name of the sender"),
    "replies_per_hour": Message("Replies in an hour"),
    "unproven": Message("What an unproven sender gets"),
    "unproven_subject": Message("Subject of the fixed reply"),
    "unproven_reply": Message("Fixed reply"),
    "signature": Message("Signature"),
    "signature_html": Message("Signature as HTML"),
    "footer": Message("Footer"),
    "footer_html": Message("Footer as HTML"),
    "quote": Message("Quote the mail that is answered"),
    "quote_intro": Message("Line above the quote"),
    "reply_all": Message("Copies to the customer's colleagues"),
    "most_copies": Message("Most copies of a reply"),
}
PROMISES: Mapping[str, str] = {  # of a service level, by its clock
    "first_response_hours": Message("%(priority)s: first response within (hours)"),
    "next_response_hours": Message("%(priority)s: next response within (hours)"),
    "resolution_hours": Message("%(priority)s: resolved within (hours)"),
}


@dataclass(frozen=True, slots=True)
class Section:
    """A group of settings that has a form; `inbox` is "" for those of all inboxes."""

    name: str
    inbox: str
    title: str
    changed: int


@dataclass(frozen=True, slots=True)
class Field:
    """A setting in a form: what is in its input, what the file has, who stored what is in force, and what is wrong.

    `back`: the box that gives it back to the file is ticked. `conflict` is there where somebody else changed it, too.
    """

    setting: Changeable
    label: str
    typed: str
    of_file: str
    stored: StoredValue | None
    ignored: str
    fault: str = ""
    back: bool = False
    conflict: Conflict | None = None


@dataclass(frozen=True, slots=True)
class Difference:
    """A setting that the form changes, as it is typed: from what to what; `back`: the file's value."""

    label: str
    before: str
    after: str
    back: bool


def sections(app: App) -> list[Section]:
    """Every group that has a form, those of inboxes first."""
    known = changeable(app.in_force.given or app.settings)
    stored = app.in_force.stored.values
    names: dict[str, list[str]] = {}
    for one in known.values():
        names.setdefault(one.section, []).append(one.name)
    return [Section(name, *_titled(name), sum(one in stored for one in some)) for name, some in names.items()]


def settings_forms(site: Site) -> APIRouter:
    """The forms, and what was changed."""
    router, app = site.router(reads="admin", acts="admin"), site.app

    @router.get("/settings/history")
    async def changes(request: Request, after: After = "") -> HTMLResponse:
        page = await history(app, limit=LINES, after=after)
        return site.page(request, "settings_history.html", changes=page, after=after)

    @router.post("/settings/history/{version}/undo")
    async def take_back(request: Request, version: int) -> Response:
        try:
            if not 1 <= version < 2**31:
                raise SettingRefused({"": f"there is no change {version}"})
            wanted = await undo(app, version, by=viewer(request), reason=form_of(request).get("reason", ""))
        except SettingRefused as error:
            raise RequestRefused(
                422, "setting_refused", translated("It cannot be taken back: %(reason)s.", reason=error)
            ) from None
        except SettingConflict as error:
            raise RequestRefused(
                409, "setting_conflict", translated("It cannot be taken back: %(reason)s.", reason=error)
            ) from None
        return done("/settings/history", "settings_changed" if wanted.names else "same")

    @router.get("/settings/change/{section:path}")
    async def form(request: Request, section: str) -> HTMLResponse:
        await look(app)
        return _form(site, request, section, _fields(app, section))

    @router.post("/settings/change/{section:path}")
    async def send(request: Request, section: str) -> Response:
        return await _sent(site, request, section)

    return router


async def _sent(site: Site, request: Request, section: str) -> Response:
    app, form = site.app, form_of(request)
    fields = {one.setting.name: one for one in _fields(app, section)}
    values = {name: read_value(one.setting, form[name]) for name, one in fields.items() if _is_typed(form, name)}
    back = [name for name in fields if f"{BACK}{name}" in form]
    base, reason = _version(form), form.get("reason", "")
    try:
        if form.get("act") == "save":
            wanted = await change(app, values, back, base=base, by=viewer(request), reason=reason)
            return done("/settings", "settings_changed" if wanted.names else "same")
        wanted = await preview(app, values, back, base=base)
    except SettingRefused as error:
        return _form(site, request, section, _kept(fields, form, error.faults), 422, reason=reason, wrong=str(error))
    except SettingConflict as error:
        conflicts = {one.name: one for one in error.conflicts}
        kept = _kept(fields, form, {}, conflicts)
        return _form(site, request, section, kept, 409, reason=reason, conflicts=len(conflicts))
    shown = _kept(fields, form, {})
    would = [_difference(app, fields[name], wanted.values) for name in wanted.names]
    return _form(site, request, section, shown, base=base, reason=reason, would=would)


def _is_typed(form: Form, name: str) -> bool:
    return name in form and f"{BACK}{name}" not in form


def _version(form: Form) -> int:
    said = form.get("base", "")
    if not said.isascii() or not said.isdigit() or len(said) > 9:
        said = translated("The form does not say what it was made of: go back, reload, try again.")
        raise RequestRefused(422, "invalid", said)
    return int(said)


def _form(
    site: Site, request: Request, section: str, fields: Iterable[Field], status: int = 200, **about: Any
) -> HTMLResponse:
    inbox, title = _titled(section)
    given: dict[str, Any] = {"base": site.app.in_force.stored.version, "reason": "", "wrong": "", "conflicts": 0}
    given |= {"would": None, "section": section, "inbox": inbox, "title": title, "fields": list(fields), "back": BACK}
    return site.page(request, "settings_change.html", status, **given | about)


def _fields(app: App, section: str) -> list[Field]:
    """The settings of a group as they are. Raises `RequestRefused` where there is no such group."""
    said = app.in_force
    given = said.given or app.settings
    found = [
        Field(
            one,
            _label(one),
            typed_value(one, value_of(app.settings, one.name)),
            typed_value(one, value_of(given, one.name)),
            said.stored.values.get(one.name),
            said.ignored.get(one.name, ""),
        )
        for one in changeable(given).values()
        if one.section == section
    ]
    if not found:
        raise RequestRefused(404, "section_unknown", translated("There is no such group of settings."))
    return found


def _kept(
    fields: Mapping[str, Field], form: Form, faults: Mapping[str, str], conflicts: Mapping[str, Conflict] | None = None
) -> list[Field]:
    """The form as it was sent, with what is wrong at each field."""
    return [
        replace(
            one,
            typed=form.get(name, one.typed).replace("\r\n", "\n"),
            fault=faults.get(name, ""),
            back=f"{BACK}{name}" in form,
            conflict=(conflicts or {}).get(name),
        )
        for name, one in fields.items()
    ]


def _difference(app: App, field: Field, values: Mapping[str, Any]) -> Difference:
    name, back = field.setting.name, field.setting.name not in values
    before = typed_value(field.setting, value_of(app.settings, name))
    return Difference(field.label, before, field.of_file if back else typed_value(field.setting, values[name]), back)


def _titled(section: str) -> tuple[str, str]:
    """Of which inbox a group is ("" for all), and its title."""
    if not section.startswith("inboxes["):
        return "", GROUPS.get(section, section)
    inbox, _, group = section.removeprefix("inboxes[").partition("]")
    return inbox, GROUPS_OF_INBOX.get(group.removeprefix("."), group)


def _label(setting: Changeable) -> str:
    """What a setting is called in a form."""
    name = setting.name.removeprefix(f"{setting.section}.")
    level, _, clock = name.partition(".")
    if not clock:
        return str(LABELS[name])
    said = str(PROMISES[clock]) % {"priority": words(level)}
    return said[:1].upper() + said[1:]


# What is in force and who said it, with a way to the forms that change it; no secret is shown.


def settings_pages(site: Site) -> APIRouter:
    """One page."""
    router, app = site.router(), site.app

    @router.get("/settings")
    async def settings(request: Request) -> HTMLResponse:
        await look(app)
        said = app.in_force
        changed = changed_by(said)
        lines = [one for one in settings_shown(app.settings, changed=changed) if not one.name.startswith("inboxes[")]
        groups: dict[str, list[SettingLine]] = {}
        for one in lines:
            groups.setdefault(_group(one), []).append(one)
        own = {name: some for name, some in groups.items() if any(one.source != "default" for one in some)}
        rest = {name: some for name, some in groups.items() if name not in own}
        about: dict[str, Any] = {"own": own, "rest": rest, "inboxes": inboxes_shown(app.settings)}
        forms: dict[str, list[Section]] = {}
        for form in sections(app):
            forms.setdefault(form.inbox, []).append(form)
        about |= {"forms": forms, "ignored": said.ignored, "changed": len(changed)}
        return site.page(request, "settings.html", **about)

    return router


def _group(line: SettingLine) -> str:
    """The group of a setting; what stands at the top of the file is of the deployment."""
    head, dot, _ = line.name.partition(".")
    return head.partition("[")[0] if dot else "deployment"
