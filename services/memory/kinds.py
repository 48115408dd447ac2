"""What an inbox's settings say of the facts that are worth storing, as every model that stores them is told."""

from __future__ import annotations

from services.core.settings import MemorySettings


def worth_storing(memory: MemorySettings) -> list[str]:
    """The inbox's own kinds and examples, a paragraph each; nothing where it has none."""
    parts = []
    if memory.kinds:
        parts.append(
            "\n".join(["Further kinds of facts:", *(f"- {name}: {what}" for name, what in memory.kinds.items())])
        )
    if memory.examples:
        parts.append("\n".join(["Examples of good facts:", *(f"- {one}" for one in memory.examples)]))
    return parts
