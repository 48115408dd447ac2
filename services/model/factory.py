"""From settings to a model. A provider's libraries are imported only when it is chosen."""

from __future__ import annotations

from services.memory.embeddings import Embedder
from services.model.port import Model
from services.model.settings import ModelSettings


def make_model(settings: ModelSettings, embedder: Embedder) -> Model:
    """The model that the settings ask for; nothing is asked of it yet, and no network is touched."""
    if settings.chosen == "anthropic":
        from services.model.anthropic_api import AnthropicModel

        return AnthropicModel(settings)
    from services.model.offline import OfflineModel

    return OfflineModel(embedder)
