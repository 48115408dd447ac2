"""What if: persona and rules of one answered mail, changed on a page to see the draft that would come of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse

from services.core.archive.file import ArchiveDamaged
from services.core.archive.places import ArchiveMissing
from services.core.web import RequestRefused
from services.operations.threads.explanations import NothingToExplain
from services.operations.what_if import LONGEST, Trial, TrialFailed, TrialRefused, TriedTooOften, Turn, turn_of
from services.web.console.diffs import words_between
from services.web.console.language import Message, translated
from services.web.console.site import Site, form_of, viewer

NAMES: Mapping[str, str] = {
    "persona": Message("Persona"),
    "behaviours": Message("Rules for every mail"),
    "guidance": Message("Rules for this mail"),
}


def what_if_page(site: Site) -> APIRouter:
    """The form, and the draft that comes of it."""
    router, trials = site.router(reads="agent"), site.trials.what_if

    @router.get("/replies/{reply_id}/what-if")
    async def form(request: Request, reply_id: UUID) -> HTMLResponse:
        turn = await _turn(site, reply_id)
        return shown(request, turn, turn.layers)

    @router.post("/replies/{reply_id}/what-if")
    async def ask(request: Request, reply_id: UUID) -> HTMLResponse:
        turn, sent = await _turn(site, reply_id), form_of(request)
        typed = {name: sent.get(f"layer {name}", text) for name, text in turn.layers.items()}
        try:
            trial = await trials.ask(turn, typed, viewer(request))
        except TrialRefused as error:
            return shown(request, turn, typed, 422, wrong=_not_asked(error))
        except TriedTooOften as error:
            return shown(request, turn, typed, 429, wrong=_not_asked(error))
        except TrialFailed as error:
            return shown(request, turn, typed, 503, wrong=_not_asked(error))
        return shown(request, turn, typed, trial=trial)

    def shown(
        request: Request,
        turn: Turn,
        typed: Mapping[str, str],
        status: int = 200,
        *,
        trial: Trial | None = None,
        wrong: str = "",
    ) -> HTMLResponse:
        about: dict[str, Any] = {"turn": turn, "typed": typed, "names": NAMES, "longest": LONGEST, "wrong": wrong}
        about |= {"trial": trial, "before": turn.drafted.text or turn.drafted.reason}
        about["after"] = (trial.text or trial.reason) if trial else ""
        about["runs"] = words_between(about["before"], about["after"]) if trial else []
        about["changed"] = [name for name, text in typed.items() if text != turn.layers[name]]
        return site.page(request, "what_if.html", status, **about)

    return router


async def _turn(site: Site, reply_id: UUID) -> Turn:
    try:
        return await turn_of(site.app, reply_id)
    except NothingToExplain:
        said = translated("What this reply was made from is not kept any more, or there is no such reply.")
        raise RequestRefused(404, "context_unknown", said) from None
    except TrialRefused:
        raise RequestRefused(
            409, "trial_refused", translated("No model wrote this reply, so there is nothing to try.")
        ) from None
    except (ArchiveMissing, ArchiveDamaged) as error:
        raise RequestRefused(503, "archive_unreadable", str(error)) from None


def _not_asked(error: Exception) -> str:
    return translated("Not tried: %(reason)s.", reason=error)
