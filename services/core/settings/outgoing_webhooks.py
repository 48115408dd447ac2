"""Webhooks that other programs get of us: how they are called. Which ones there are is registered, not set."""

from __future__ import annotations

from pydantic import Field

from services.core.settings.group import Group


class OutgoingWebhookSettings(Group):
    """How registered endpoints are called (`correspondent webhooks`)."""

    retry_days: float = Field(3, gt=0, le=30, description="how long what an endpoint does not take is tried again")
    disable_days: float = Field(
        5, gt=0, le=90, description="an endpoint that takes nothing for so long is disabled, and people are alerted"
    )
    timeout_s: float = Field(10, gt=0, le=30, description="how long an endpoint may take to answer")
    private_hosts: bool = Field(False, description="post to addresses that are not public too: a server of your own")
