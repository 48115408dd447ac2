"""What is in force and who said it, with a way to the forms that change it; no secret is shown."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse

from services.core.settings_keeper import look
from services.operations.settings_shown import SettingLine, changed_by, inboxes_shown, settings_shown
from services.web.console.settings_change import sections
from services.web.console.site import Site


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
        about |= {"forms": sections(app), "ignored": said.ignored, "changed": len(changed)}
        return site.page(request, "settings.html", **about)

    return router


def _group(line: SettingLine) -> str:
    """The group of a setting; what stands at the top of the file is of the deployment."""
    head, dot, _ = line.name.partition(".")
    return head.partition("[")[0] if dot else "deployment"
