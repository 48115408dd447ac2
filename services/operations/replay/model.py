"""Whom a replay asks: nobody (recordings alone), the offline model, or a live one; and with which instructions."""

from __future__ import annotations

from dataclasses import dataclass, replace

from services.core.errors import Permanent
from services.memory.embeddings import Embedder
from services.model.factory import make_model
from services.model.port import Answer, Model, Purpose, Request
from services.model.recorded import AnswerNeverRecorded, step_of
from services.model.settings import ModelSettings

RECORDED, OFFLINE, LIVE = "recorded", "offline", "live"


class InstructionsUnread(Permanent):
    """Instructions are given to what follows none: recordings, or the offline model."""


@dataclass(frozen=True, slots=True)
class Asking:
    """`model` is `recorded`, `offline`, `live` (the model of the settings) or a model's name at its provider.

    `prompt`, if not empty, stands in the place of the system text of the questions of `purpose`.
    """

    model: str = RECORDED
    prompt: str = ""
    purpose: Purpose = "reply"

    @property
    def recorded(self) -> bool:
        """Whether nobody is asked."""
        return self.model == RECORDED

    @property
    def named(self) -> str:
        """The model's name at its provider, or "" where none is named."""
        return "" if self.model in (RECORDED, OFFLINE, LIVE) else self.model


class Nobody:
    """The model of a replay from recordings: what is not recorded is an error."""

    name = RECORDED

    async def ask(self, request: Request) -> Answer:
        """Raises `AnswerNeverRecorded`: what was recorded never reaches the model."""
        raise AnswerNeverRecorded(f"no answer is recorded for {step_of(request)}; choose a model to ask it again")

    async def close(self) -> None:
        """Nobody has no connections."""


@dataclass(frozen=True, slots=True)
class Instructed:
    """A model that is asked in another way than the code and the settings' cascade ask."""

    model: Model
    asking: Asking

    @property
    def name(self) -> str:
        """The name of the model behind."""
        return self.model.name

    async def ask(self, request: Request) -> Answer:
        """The model's answer to the request, by the model that is named, under the instructions that are given."""
        if self.asking.named:
            request = replace(request, model=self.asking.named)
        if self.asking.prompt and request.purpose == self.asking.purpose:
            request = replace(request, system=self.asking.prompt)
        return await self.model.ask(request)

    async def close(self) -> None:
        """Close the model behind."""
        await self.model.close()


def chosen_model(asking: Asking, settings: ModelSettings, embedder: Embedder) -> Model:
    """The model that is meant, not asked yet. Raises `InstructionsUnread`."""
    if asking.prompt and (asking.recorded or _settings(asking, settings).chosen == OFFLINE):
        who = "recordings follow" if asking.recorded else "the offline model follows"
        raise InstructionsUnread(f"{who} no instructions: set ANTHROPIC_API_KEY, or name a model with --model")
    if asking.recorded:
        return Nobody()
    return Instructed(make_model(_settings(asking, settings), embedder), asking)


def _settings(asking: Asking, settings: ModelSettings) -> ModelSettings:
    if asking.model == OFFLINE:
        return settings.model_copy(update={"provider": "offline"})
    return settings.model_copy(update={"provider": "anthropic", "model": asking.named}) if asking.named else settings
