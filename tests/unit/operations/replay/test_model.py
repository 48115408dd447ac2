"""Whom a replay asks."""

from __future__ import annotations

import pytest

from services.memory.multilingual import Multilingual
from services.model.settings import ModelSettings
from services.operations.replay.model import LIVE, OFFLINE, RECORDED, Asking, InstructionsUnread, chosen_model


@pytest.mark.parametrize(
    ("model", "said"), [(RECORDED, "recordings follow"), (OFFLINE, "offline model"), (LIVE, "offline model")]
)
def test_instructions_for_who_reads_none_are_refused(model: str, said: str) -> None:
    """A replay under another prompt never says that nothing differs because nobody has read the prompt."""
    with pytest.raises(InstructionsUnread, match=said):
        chosen_model(Asking(model, "Be brief."), ModelSettings(provider="offline"), Multilingual())


def test_instructions_are_given_to_a_model_that_reads_them() -> None:
    """With a key the live model is asked, and so is one that is named."""
    settings = ModelSettings(provider="anthropic", api_key="k")
    for model in (LIVE, "other-model"):
        assert chosen_model(Asking(model, "Be brief."), settings, Multilingual())
