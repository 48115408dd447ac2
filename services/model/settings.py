"""What an operator says about the model. Part of the one settings object; read once, passed down.

The budget of one question fits into the 70 s (`lanes.timeout_s`) that a lane gives one attempt of a handler, so that
a slow model is an error with a name and not a killed handler.
"""

from __future__ import annotations

import re
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, SecretStr, model_validator

from services.core.secret_values import HoldsSecrets
from services.model.port import Usage

ANTHROPIC_URL = "https://api.anthropic.com"
DEFAULT_MODEL = "claude-sonnet-5-5"
OFFLINE_NAME = "offline (extractive, no language model)"


def _one_word(key: SecretStr) -> SecretStr:
    word = key.get_secret_value().strip()
    if not re.fullmatch(r"[!-~]*", word):
        raise ValueError("an API key is one word of ASCII")
    return SecretStr(word)


class ModelPrices(BaseModel):
    """US dollars for a million tokens, by your contract; with 0 the cost is counted as 0."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    input: float = Field(default=0.0, ge=0)
    output: float = Field(default=0.0, ge=0)
    cache_read: float = Field(default=0.0, ge=0)
    cache_write: float = Field(default=0.0, ge=0)


class ModelSettings(HoldsSecrets):
    """Which model answers, and how long we wait for it. Without a key or a URL it is the offline model."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    provider: Literal["offline", "anthropic"] | None = Field(
        default=None, description="Which provider; by default `anthropic` if a key or a base URL is given."
    )
    api_key: Annotated[SecretStr, AfterValidator(_one_word)] | None = Field(
        default=None, description="The key of the Messages API."
    )
    model: str = Field(default=DEFAULT_MODEL, min_length=1, description="The model's name or alias.")
    base_url: str = Field(
        default="",
        pattern=r"^(https?://.+)?$",
        description="Any server that speaks the Messages API; empty is Anthropic's own.",
    )
    timeout_s: float = Field(default=45.0, gt=0, description="How long one attempt may take, in seconds.")
    max_retries: int = Field(default=3, ge=0, le=10, description="Further attempts after 408, 409, 429, 5xx, 529.")
    budget_s: float = Field(
        default=55.0, gt=0, description="How long all attempts of one question may take with their waits, in seconds."
    )
    pause_s: float = Field(
        default=10.0,
        gt=0,
        description="After five failures in a row, how long nothing is asked; doubles at each failed probe.",
    )
    longest_pause_s: float = Field(
        default=300.0, gt=0, description="The longest pause between two probes of a model that is away."
    )
    thinking_tokens: int = Field(
        default=8192, ge=0, description="Room for thinking, added to each limit, as thinking counts toward it."
    )
    effort: Literal["default", "low", "medium", "high", "xhigh", "max"] = Field(
        default="medium", description="How hard the model thinks; `default` leaves it to the provider."
    )

    prices: ModelPrices = Field(default=ModelPrices(), description="For the metric of what the model costs.")

    @model_validator(mode="after")
    def _has_a_key(self) -> Self:
        if self.provider == "anthropic" and not self.key and not self.base_url:
            raise ValueError("the provider `anthropic` needs an API key, or the base URL of a server that needs none")
        return self

    def dollars(self, usage: Usage) -> float:
        """What these tokens cost by the prices that are set."""
        price = self.prices
        millions = usage.input * price.input + usage.output * price.output
        millions += usage.cache_read * price.cache_read + usage.cache_write * price.cache_write
        return millions / 1e6

    @property
    def key(self) -> str:
        """The key in clear, "" if none is set."""
        return self.api_key.get_secret_value() if self.api_key else ""

    @property
    def chosen(self) -> Literal["offline", "anthropic"]:
        """The provider in force."""
        return self.provider or ("anthropic" if self.key or self.base_url else "offline")
