"""What is tried by hand and costs: answers of the model, tests of inboxes, replays.

One `Trials` serves the pages and the API of a process: what somebody asks by one counts for the other.
"""

from __future__ import annotations

from services.core.app import App
from services.core.request_limits import Pace
from services.operations.inbox_test import InboxTests
from services.operations.knowledge.trial import TRIALS_PER_MINUTE
from services.operations.replay.requests import Replays
from services.operations.what_if import WhatIf


class Trials:
    """Each kind with its bound. `questions` counts those of one user, by name."""

    def __init__(self, app: App) -> None:
        self.what_if = WhatIf(app)
        self.questions = Pace(TRIALS_PER_MINUTE)
        self.inbox_tests = InboxTests(app)
        self.replays = Replays(app)
