"""What is kept where and for how long: blobs, archived events, and everything else that only grows."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import Annotated, Literal, Self, get_args

from pydantic import Field, SecretStr, field_validator, model_validator

from schemas.model_output import Grain
from schemas.topics import catalogue
from services.core.settings.group import LONGEST_DAYS, Group

_BUCKET = re.compile(r"(s3://[^/\s]+(/\S*)?)?")


class S3Access(Group):
    """How an object store that speaks S3 is reached. What is not set is looked for where AWS's own tools look."""

    endpoint: str = Field("", description="address of a compatible store, such as https://minio.example; else Amazon's")
    region: str = Field("", description="by default as AWS_REGION says")
    access_key_id: str = Field("", description="by default as AWS_ACCESS_KEY_ID or the machine's role says")
    secret_access_key: SecretStr = SecretStr("")


class BlobSettings(S3Access):
    """Where bodies and attachments are kept: in a folder, or in an object store that speaks S3."""

    url: str = Field("", description="s3://BUCKET or s3://BUCKET/PREFIX; by default the folder `blobs` below home")

    @field_validator("url")
    @classmethod
    def _is_a_bucket(cls, url: str) -> str:
        if not _BUCKET.fullmatch(url):
            raise ValueError("this has to be s3://BUCKET or s3://BUCKET/PREFIX, or nothing for a folder")
        return url


# Where old events go, and when.


class ArchiveSettings(Group):
    """Old events move to compressed files by `correspondent archive`, or daily; replay and rebuild read them there."""

    url: str = Field(
        "", description="a folder, or s3://BUCKET/PREFIX (access as in [blobs]); by default `archive` below home"
    )
    after_days: float = Field(400, gt=0, description="events stored longer ago may leave the table")
    daily: bool | None = Field(
        None, description="move them each day; by default unless only blobs have a bucket and `url` is empty"
    )


# How long what only grows is kept, and which of these times hold each other.
DEAD_LETTERS = timedelta(days=90)  # how long their topics keep them
SEGMENT_DAYS = 8  # a broker deletes whole segments: one may hold a record for seven days longer, and a day of looking

Days = Annotated[float, Field(ge=0, le=LONGEST_DAYS)]


Plan = Literal["", "free", "starter", "pro"]
COUNTS: tuple[Grain, ...] = get_args(Grain)
PLANS = MappingProxyType(  # days, weeks, months, quarters and years for which each is kept after its end
    {"": (0, 0, 0, 0, 0), "free": (30, 6, 6, 4, 2), "starter": (60, 12, 12, 8, 4), "pro": (120, 24, 24, 16, 8)}
)
PLANNED_HOURS = MappingProxyType({"": 0, "free": 48, "starter": 120, "pro": 240})  # of working memory
Count = Annotated[int, Field(ge=0, le=36_500)]


class PeriodRetention(Group):
    """How long a thread's messages stay in its prompt, and what was told of a period is kept after its end.

    Each in its own measure. The plan's numbers, and yours over them; 0 is the plan's, without a plan for good.
    """

    plan: Plan = Field(
        "",
        description="free: 48 hours, 30 days, 6 weeks, 6 months, 4 quarters, 2 years; starter twice, pro 4 times"
        " (of hours 120 and 240)",
    )
    hours: Count = Field(0, description="for so many hours a message stays in the prompt once a summary covers it")
    days: Count = Field(0, description="for so many days, what was told of a day")
    weeks: Count = Field(0, description="for so many weeks, what was told of a week; and so on")
    months: Count = 0
    quarters: Count = 0
    years: Count = 0

    def count(self, grain: Grain) -> int:
        """For how many of its own length a period of this grain is kept; 0: for good."""
        own = (self.days, self.weeks, self.months, self.quarters, self.years)
        return own[COUNTS.index(grain)] or PLANS[self.plan][COUNTS.index(grain)]

    def messages_since(self, now: datetime, days: float) -> datetime:
        """From when on a thread's messages stay in the prompt that a summary covers, where it is for `days` at most."""
        hours = self.hours or PLANNED_HOURS[self.plan]
        return now - min(timedelta(days=days), timedelta(hours=hours) if hours else timedelta.max)

    @property
    def shortest_days(self) -> float:
        """The least time for which something is kept; 0 where all is for good."""
        lasting = zip((1, 7, 28, 90, 365), COUNTS, strict=True)
        return min((days * self.count(grain) for days, grain in lasting if self.count(grain)), default=0)


class RetentionSettings(Group):
    """How long what only grows is kept, in days; 0 keeps it for good. `correspondent retention` shows what would go.

    Nothing leaves before the log has forgotten it, so that what is delivered once more meets what it was made of.
    """

    bodies_days: Days = Field(
        0, description="texts of mails and replies, in threads and in stored events; summaries and facts stay"
    )
    blobs_days: Days = Field(0, description="raw mails, their attachments, and replies as they were sent")
    facts_days: Days = Field(0, description="facts and relations that nothing renewed for so long, unless pinned")
    checkpoints_days: Days = Field(
        0, description="answers of models and tools, which a replay from recordings is made of"
    )
    journal_days: Days = Field(
        400, description="what each consumer has done; only of days whose events have all gone to the archive"
    )

    periods: PeriodRetention = PeriodRetention()

    @model_validator(mode="after")
    def _outlives_the_log(self) -> Self:
        for name in ("bodies_days", "blobs_days", "facts_days", "checkpoints_days"):
            self._refuse_below(name, log_days, "the log keeps an event for up to that long")
        self._refuse_below("journal_days", journal_days, "dead letters and the log may bring an event back for so long")
        return self

    @model_validator(mode="after")
    def _bodies_go_everywhere(self) -> Self:
        for name, where in (("blobs_days", "raw mails"), ("checkpoints_days", "the model's answers")):
            days = getattr(self, name)
            if self.bodies_days and not 0 < days <= self.bodies_days:
                raise ValueError(
                    f"retention.bodies_days is {self.bodies_days:g}, but {where} hold the same words: set "
                    f"retention.{name} to {self.bodies_days:g} or less"
                )
        return self

    def _refuse_below(self, name: str, limit: Callable[[], float], reason: str) -> None:
        days = getattr(self, name)
        if name in self.model_fields_set and 0 < days < (least := limit()):  # read only where somebody set it
            raise ValueError(
                f"retention.{name} is {days:g}, but {reason}: set it to {least:g} or more, or to 0 to keep it for good"
            )


def log_days() -> float:
    """For how long a topic may hand out an event, in days."""
    return max(one.retention_days for one in catalogue().topics.values()) + SEGMENT_DAYS


def journal_days() -> float:
    """For how long an event may come to its consumer again, as a record or as a redriven dead letter, in days."""
    return max(log_days(), DEAD_LETTERS.days + SEGMENT_DAYS)
