"""The last health reading as gauges: what `status` shows and alerts are made of, in the process that keeps time."""

from __future__ import annotations

from collections.abc import Iterator

from prometheus_client.core import GaugeMetricFamily

from services.core.metrics import gauge
from services.operations.health.state import Health


class HealthGauges:
    """Shows one reading until the next; before the first one it shows nothing."""

    def __init__(self) -> None:
        self.last: Health | None = None

    def families(self) -> Iterator[GaugeMetricFamily]:
        """The gauges."""
        found = self.last
        if found is None:
            return
        yield gauge("health_read_timestamp_seconds", "When this was read.", values=found.at.timestamp())
        yield gauge("broker_answers", "1 where the broker answered.", values=int(found.groups is not None))
        groups = {one.consumer: one for one in found.groups or ()}
        lag = {name: float(sum(place.records for place in one.behind)) for name, one in groups.items()}
        yield gauge("group_lag_records", "Records that a consumer group has not committed.", "consumer", lag)
        oldest = {name: one.oldest_s for name, one in groups.items()}
        yield gauge("group_oldest_seconds", "Age of a group's oldest unprocessed record.", "consumer", oldest)
        stalled = {name: float(len(one.stalled())) for name, one in groups.items()}
        yield gauge("group_stalled_partitions", "Partitions in which a group stands still.", "consumer", stalled)
        undone = {one.consumer: float(one.events) for one in found.undone}
        yield gauge("undone_events", "Events that a consumer has not done for over ten minutes.", "consumer", undone)
        unanswered = sum(one.mails for one in found.unanswered)
        yield gauge(
            "unanswered_mails",
            "Mails that wait although no turn is open, no timer runs and no person has them.",
            values=unanswered,
        )
        yield gauge("outbox_waiting", "Stored events that are due and not published.", values=found.outbox_waiting)
        yield gauge("outbox_refused", "Stored events that the broker refuses.", values=found.outbox_refused)
        yield gauge("held_records", "Records that wait for a newer version.", values=len(found.held))
        yield gauge("model_outage", "1 while the model is away and turns wait.", values=int(found.model is not None))
        yield gauge(
            "embedder_outage",
            "1 while the embedding service is away and turns wait.",
            values=int(found.embedder is not None),
        )
        unfetched = {row["inbox"]: float(row["mails"]) for row in found.unfetched}
        yield gauge("unfetched_mails", "Mails that an IMAP server does not hand over.", "inbox", unfetched)
        yield gauge(
            "problems", "What stands still, as `correspondent status` lists it.", values=len(list(found.problems()))
        )
