"""What a colleague thinks of a reply of the agent, said below it on its thread's page."""

from __future__ import annotations

from uuid import UUID

from fastapi import APIRouter, Request, Response

from services.core.web import RequestRefused
from services.operations.thumbs import ThumbRefused, ThumbUnknown, give_thumb, take_thumb_back
from services.web.bodies import NewThumb
from services.web.console.forms import checked
from services.web.console.language import translated
from services.web.console.site import Site, done, form_of, viewer


def thumb_acts(site: Site) -> APIRouter:
    """What the form sends."""
    router, app = site.router(), site.app

    @router.post("/replies/{reply_id}/thumb")
    async def thumb(request: Request, reply_id: UUID) -> Response:
        form, by = form_of(request), viewer(request)
        try:
            if form.get("thumb") == "none":
                thread_id = await take_thumb_back(app, reply_id, by)
            else:
                good = form.get("thumb") == "good"
                said = checked(NewThumb, good=good, reason="" if good else form.get("reason", ""), by=by)
                thread_id = await give_thumb(app, reply_id, by, said.good, said.reason)
        except ThumbUnknown:
            raise RequestRefused(404, "reply_unknown", translated("The agent wrote no such reply that left.")) from None
        except ThumbRefused:
            raise RequestRefused(422, "thumb_refused", translated("Say why the reply is not good.")) from None
        return done(f"/threads/{thread_id}", "thumb", f"reply-{reply_id}")

    return router
