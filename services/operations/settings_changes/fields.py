"""What a person typed into a field or on the command line, as a value; and a value as they type it. Pure.

Hours are lines such as `mon 09:00-12:00, 13:00-17:00`, days off are dates with blanks or commas between them. What
cannot be read stays text, which the settings' classes then refuse in words.
"""

from __future__ import annotations

from typing import Any

from services.core.settings.changeable import Changeable

YES, NO = "yes", "no"
_YES_NO = {YES: True, "true": True, "on": True, NO: False, "false": False, "off": False}


def read_value(setting: Changeable, typed: str) -> Any:
    """The value that a text means for a setting; None where an optional one was left empty."""
    plain = typed.strip()
    if setting.optional and not plain:
        return None
    if setting.kind == "yes_no":
        return _YES_NO.get(plain.lower(), plain)
    if setting.kind in ("number", "whole"):
        return _number(plain)
    if setting.kind == "days":
        return plain.replace(",", " ").split()
    if setting.kind == "hours":
        return _hours(plain)
    return typed.replace("\r\n", "\n") if setting.kind == "text" else plain


def typed_value(setting: Changeable, value: Any) -> str:
    """A value as a person types it."""
    if value is None:
        return ""
    if setting.kind == "yes_no":
        return YES if value else NO
    if setting.kind == "days":
        return "\n".join(value)
    if setting.kind == "hours":
        return "\n".join(f"{day} {spans}" for day, spans in value.items())
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def _number(plain: str) -> Any:
    try:
        number = float(plain)
    except ValueError:
        return plain
    return int(number) if number.is_integer() and abs(number) < 2**53 else number


def _hours(plain: str) -> Any:
    lines = [line.strip() for line in plain.splitlines() if line.strip()]
    parts = [line.replace("=", " ").split(None, 1) for line in lines]
    return {part[0].lower().rstrip(":"): part[1].strip("'\"") if len(part) > 1 else "" for part in parts}
