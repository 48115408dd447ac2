"""Applies the events of a board to its tables. A rebuild calls these alone, in version order."""

from __future__ import annotations

from schemas.events import incidents as ev
from services.core.bus.appliers import runs
from services.core.bus.unit import Appliers
from services.core.db import queries

SQL = queries(__file__)


APPLIERS: Appliers = {
    ev.TroubleReported: runs(SQL.insert_report),
    ev.IncidentOpened: runs(SQL.insert_incident, SQL.put_into_incident),
    ev.IncidentClosed: runs(SQL.close_incident),
    ev.IncidentReopened: runs(SQL.reopen_incident),
}
