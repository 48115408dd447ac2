"""What is promised in a mailbox: the time for each deadline, and the hours in which it counts. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from schemas.events.marks import DeadlineKind, Priority
from services.core.settings import OfficeHours, ServiceLevels, Settings


@dataclass(frozen=True, slots=True)
class Terms:
    """What is promised in a mailbox, and the hours in which it counts."""

    levels: ServiceLevels
    hours: OfficeHours

    def allowed(self, kind: DeadlineKind, priority: Priority) -> timedelta | None:
        """The time that is promised; None where nothing is."""
        promised: float = getattr(getattr(self.levels, priority), f"{kind}_hours")
        return timedelta(hours=promised) if promised else None


def terms_of(settings: Settings, inbox: str) -> Terms:
    """The mailbox's own terms where it has some, else the workspace's."""
    own = next((one for one in settings.inboxes if one.name == inbox), None)
    levels = own.service_levels if own and own.service_levels else settings.service_levels
    hours = own.office_hours if own and own.office_hours else settings.office_hours
    return Terms(levels, hours)
