"""The console's style sheet and modules: readable colours, no outside address, small."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import services.web.console

STATIC = Path(services.web.console.__file__).parent / "static"
CSS = (STATIC / "console.css").read_text(encoding="utf-8")
TOKEN = re.compile(r"--([\w-]+): light-dark\((#\w{3,6}), (#\w{3,6})\)")
COLOURS = {name: (light, dark) for name, light, dark in TOKEN.findall(CSS)}
TEXT = [  # on each ground that it stands on: WCAG 2.2, 1.4.3
    *((text, ground) for text in ("ink", "muted", "accent") for ground in ("ground", "surface", "raised")),
    ("on-accent", "accent"),
    *((name, f"{name}-ground") for name in ("good", "warn", "bad")),
    *((name, "surface") for name in ("good", "warn", "bad")),
    *((name, "ground") for name in ("warn", "bad")),
]
MOST_BYTES = 22_000


def luminance(colour: str) -> float:
    digits = colour.lstrip("#")
    wide = "".join(one * 2 for one in digits) if len(digits) == 3 else digits
    parts = [int(wide[at : at + 2], 16) / 255 for at in (0, 2, 4)]
    linear = [one / 12.92 if one <= 0.04045 else ((one + 0.055) / 1.055) ** 2.4 for one in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
@pytest.mark.parametrize(("text", "ground"), TEXT)
def test_text_can_be_read(text: str, ground: str, theme: int) -> None:
    """Every colour of text has 4.5 to 1 against what it stands on, in both themes."""
    assert contrast(COLOURS[text][theme], COLOURS[ground][theme]) >= 4.5


@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
@pytest.mark.parametrize("ground", ["ground", "surface"])
def test_controls_can_be_seen(ground: str, theme: int) -> None:
    """The edge of a control, and that of what has the focus, has 3 to 1."""
    for edge in ("control", "accent"):
        assert contrast(COLOURS[edge][theme], COLOURS[ground][theme]) >= 3


def test_nothing_is_loaded_from_elsewhere() -> None:
    """No static file names another server."""
    for path in STATIC.iterdir():
        said = path.read_text(encoding="utf-8").replace("http://www.w3.org/2000/svg", "")
        assert not re.search(r"https?:|//\w+\.|@import|url\(", said), path.name


def test_the_modules_are_small() -> None:
    """All modules together have less than 22 kB, and none makes markup of text or code of text."""
    modules = {path.name: path.read_text(encoding="utf-8") for path in STATIC.glob("*.js")}
    assert sum(len(text.encode()) for text in modules.values()) < MOST_BYTES
    for name, text in modules.items():
        assert not re.search(r"innerHTML|outerHTML|insertAdjacent|document\.write|\beval\(|new Function", text), name
