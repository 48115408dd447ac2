"""Who may use the API: named tokens, each with what it is for."""

from __future__ import annotations

import hashlib
import hmac
import re
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import Field, SecretStr, StringConstraints, model_validator

from services.core.settings.group import Group

Scope = Literal[
    "all",
    "memory:read",
    "memory:write",
    "threads:read",
    "threads:write",
    "drafts:read",
    "drafts:write",
    "knowledge:read",
    "knowledge:write",
    "operations:read",
    "operations:write",
    "settings:read",
    "settings:write",
    "webhooks:read",
    "webhooks:write",
]
LEAST_TOKEN_BYTES = 16
_SHA256 = re.compile(r"(?:[0-9a-f]{64})?")

TokenName = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9._-]{0,59}$")]


class ApiToken(Group):
    """One token of the API, given in one of three ways, and what it may do."""

    name: TokenName = Field(description="is recorded as `by` in all that is done with it")
    token: SecretStr = Field(SecretStr(""), description="the token")
    token_file: Path | None = Field(None, description="or a file that holds it")
    sha256: str = Field("", description="or its SHA-256 in hex, so that the settings hold no secret")
    scopes: tuple[Scope, ...] = Field(min_length=1, description="what it may do; `all` is everything")
    names_people: bool = Field(False, description="it speaks for several people: `by` of its requests is believed")
    requests_per_minute: int = Field(600, ge=0, description="further ones are refused; 0: no limit of its own")

    @model_validator(mode="after")
    def _one_secret(self) -> Self:
        given = [bool(self.token.get_secret_value()), self.token_file is not None, bool(self.sha256)]
        if sum(given) != 1:
            raise ValueError(f"web.tokens: {self.name} needs exactly one of token, token_file and sha256")
        if not _SHA256.fullmatch(self.sha256):
            raise ValueError(f"web.tokens: sha256 of {self.name} has to be 64 hexadecimal digits in lower case")
        if not self.sha256 and len(self._secret().encode()) < LEAST_TOKEN_BYTES:
            raise ValueError(f"web.tokens: the token of {self.name} needs at least {LEAST_TOKEN_BYTES} bytes")
        return self

    def is_this(self, given: str) -> bool:
        """Whether it is the token; compared in constant time."""
        digest = hashlib.sha256(given.encode("utf-8", "surrogatepass")).hexdigest()
        expected = self.sha256 or hashlib.sha256(self._secret().encode()).hexdigest()
        return hmac.compare_digest(digest, expected)

    def may(self, scope: str) -> bool:
        """Whether it is for this."""
        return "all" in self.scopes or scope in self.scopes

    def _secret(self) -> str:
        if self.token_file is not None:
            try:
                return self.token_file.read_text(encoding="utf-8").strip()
            except OSError as error:
                raise ValueError(
                    f"web.tokens: token_file of {self.name}, {self.token_file}: {error.strerror}"
                ) from None
        return self.token.get_secret_value()
