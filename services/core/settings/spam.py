"""Who tells spam from mail, where the server that receives our mail marks none."""

from __future__ import annotations

from typing import Literal, Self
from urllib.parse import urlsplit

from pydantic import Field, SecretStr, model_validator

from services.core.settings.group import Group

Action = Literal["reject", "add header", "rewrite subject", "soft reject", "greylist", "quarantine"]


class SpamSettings(Group):
    """Spam is set aside. What the receiving server marked always is; rspamd is asked too where there is one."""

    rspamd_url: str = Field("", description="rspamd's worker, such as http://127.0.0.1:11333; empty: nobody is asked")
    rspamd_password: SecretStr = Field(SecretStr(""), description="of that worker, where it has one")
    actions: tuple[Action, ...] = Field(
        ("reject", "add header", "rewrite subject", "quarantine"), description="rspamd's actions that make a mail spam"
    )
    timeout_s: float = Field(5, gt=0, le=30, description="how long its answer may take")
    unanswered: Literal["answer", "human"] = Field(
        "answer", description="what becomes of a mail that rspamd could not be asked about; human: a person looks"
    )

    @model_validator(mode="after")
    def _is_web(self) -> Self:
        parts = urlsplit(self.rspamd_url)
        if self.rspamd_url and (parts.scheme not in ("http", "https") or not parts.hostname):
            raise ValueError("spam.rspamd_url has to be an http or https address, such as http://127.0.0.1:11333")
        return self
