"""All that is held of a person, for admins: counted, given away as a zip, and erased once their address is typed."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from fastapi import APIRouter, Request, Response
from fastapi.responses import HTMLResponse

from services.core.mailbox import MailboxKey
from services.core.units import MB
from services.core.web import RequestRefused
from services.operations.backup.keys import copies_left
from services.operations.erase.export import TooMuch, Zipped, export
from services.operations.erase.inventory import counts_of, found_of, theirs_of
from services.operations.erase.run import erase
from services.operations.erase.survey import Survey
from services.web.console.forms import Form
from services.web.console.language import translated
from services.web.console.site import Site, done, form_of, viewer
from services.web.named import person

MOST_EXPORTED_MB = 200  # unpacked: a download is made in memory
NAMED = 12  # names and addresses that a page shows


def personal_data_pages(site: Site) -> APIRouter:
    """The preview, the export, the erase."""
    router, app = site.router(reads="admin", acts="admin"), site.app

    @router.get("/people/{who}/data")
    async def preview(request: Request, who: UUID) -> HTMLResponse:
        return await _previewed(site, request, who)

    @router.post("/people/{who}/export")
    async def download(who: UUID) -> Response:
        zipped, found = Zipped(int(MOST_EXPORTED_MB * MB)), await _held(site, who)
        try:
            await export(app, found, zipped.add)
        except TooMuch as error:
            raise RequestRefused(409, "too_much", translated("Not exported: %(reason)s.", reason=error)) from None
        headers = {"Content-Disposition": f'attachment; filename="person-{str(who)[:8]}.zip"'}
        return Response(zipped.content(), media_type="application/zip", headers=headers)

    @router.post("/people/{who}/erase")
    async def erased(request: Request, who: UUID) -> Response:
        one, form = await person(app, str(who)), form_of(request)
        if MailboxKey(form.get("address", "")) != MailboxKey(one.addr):
            wrong = translated("Nothing was erased: what you typed is not the address of this person.")
            return await _previewed(site, request, who, 422, wrong=wrong, kept=form)
        await erase(app, await found_of(app, str(who)), by=viewer(request))
        return done("/people", "erased")

    return router


async def _previewed(
    site: Site, request: Request, who: UUID, status: int = 200, *, wrong: str = "", kept: Form | None = None
) -> HTMLResponse:
    one, found = await person(site.app, str(who)), await _held(site, who)
    async with site.app.database.reading() as conn:
        copies = await copies_left(conn)
    about: dict[str, Any] = {"person": one, "counts": await counts_of(site.app, found), "copies": copies}
    about["also"] = sorted({*found.names, *found.addresses} - {one.addr, one.name})[:NAMED]
    return site.page(request, "personal_data.html", status, wrong=wrong, kept=kept or {}, **about)


async def _held(site: Site, who: UUID) -> Survey:
    """What is held of somebody. Raises `RequestRefused` where nothing is."""
    found = await theirs_of(site.app, str(who))
    if not found.events:
        raise RequestRefused(404, "nothing_held", translated("Nothing is held about this person."))
    return found
