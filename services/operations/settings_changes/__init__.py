"""Settings that people change while the deployment runs: stored with who, when and why, checked as the file is.

changes.py   setting, unsetting and taking back, with what stands in the way
history.py   what was changed
fields.py    what a person typed, as a value, and a value as they type it

Invariants
- Only names of the closed list (`services/core/settings/changeable.py`) are ever stored, and only values that the
  settings' own classes take next to everything else that is in force.
- A change is made against a version: what somebody else changed since is kept, and where both changed one setting to
  different values, nothing is stored.
"""

from services.operations.settings_changes.changes import (
    Conflict,
    SettingConflict,
    SettingRefused,
    change,
    preview,
    undo,
)
from services.operations.settings_changes.history import Change, ChangedName, history

__all__ = [
    "Change",
    "ChangedName",
    "Conflict",
    "SettingConflict",
    "SettingRefused",
    "change",
    "history",
    "preview",
    "undo",
]
