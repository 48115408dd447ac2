"""What if over HTTP: the draft that other rules would give, which is kept nowhere."""

from __future__ import annotations

from uuid import UUID

from fastapi import APIRouter
from pydantic import BaseModel

from services.core.app import App
from services.core.archive.file import ArchiveDamaged
from services.core.archive.places import ArchiveMissing
from services.core.web import RequestRefused
from services.operations.threads.explanations import NothingToExplain
from services.operations.trials import Trials
from services.operations.what_if import Trial, TrialFailed, TrialRefused, TriedTooOften, turn_of
from services.web.bodies import NewTrial
from services.web.caller import name_of_caller


class TrialOutcome(BaseModel):
    """What would be decided, and what was decided then; `layers` are those that can be changed, as they were."""

    would: Trial
    decision: str
    text: str
    layers: dict[str, str]


def add_what_if(router: APIRouter, app: App, trials: Trials) -> None:
    """The one request."""

    @router.post("/replies/{reply_id}/what-if")
    async def what_if(reply_id: UUID, body: NewTrial) -> TrialOutcome:
        """Ask the model what it would write to the same mail with other rules. Nothing is stored or sent."""
        try:
            turn = await turn_of(app, reply_id)
            would = await trials.what_if.ask(turn, body.changed, name_of_caller())
        except NothingToExplain as error:
            raise RequestRefused(404, "context_unknown", str(error)) from None
        except TrialRefused as error:
            raise RequestRefused(422, "trial_refused", str(error)) from None
        except TriedTooOften as error:
            raise RequestRefused(429, "too_many", str(error)) from None
        except TrialFailed as error:
            raise RequestRefused(503, "not_decided", str(error)) from None
        except (ArchiveMissing, ArchiveDamaged) as error:
            raise RequestRefused(503, "archive_unreadable", str(error)) from None
        return TrialOutcome(would=would, decision=turn.drafted.decision, text=turn.drafted.text, layers=turn.layers)
