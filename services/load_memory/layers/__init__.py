"""The layers, in the order in which the model reads them: what all mails share first.

Adding a layer is one module with NAME, SHARED, TRUSTED, ABOUT, `budget` and `load`, and one line here.
"""

from __future__ import annotations

from types import ModuleType

from services.load_memory.layers import (
    behaviours,
    brief,
    earlier,
    grains,
    guidance,
    incidents,
    knowledge,
    mail,
    own_words,
    participant,
    patterns,
    persona,
    profile,
    recent,
    session,
    summary,
    thread,
    today,
)

LAYERS: tuple[ModuleType, ...] = (
    persona,
    behaviours,
    guidance,
    today,
    profile,
    participant,
    brief,
    session,
    earlier,
    summary,
    thread,
    grains,
    patterns,
    incidents,
    knowledge,
    recent,
    own_words,
    mail,
)
