"""What an HTML mail hides from its reader: by style, by attribute, by colour, by characters without width.

A `Look` is what an element hands down to what stands in it. Size, colour and visibility may be set again further
in (`font-size:0` on a table and 14px in its cells is a habit of newsletters); what is taken out of the page may not.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import islice

from lxml.html import HtmlElement

MAX_RULES = 500
MAX_STYLE_CHARACTERS = 100_000
SMALLEST_READABLE_PX = 2.0
SAME_COLOUR_DISTANCE = 12
FAINTEST_OPACITY = 0.05
OFF_SCREEN_PX = -500.0
MAX_SPELLED = 20_000  # characters that tag characters spell
BLOCK = 100_000  # characters that are looked through at once for those of no width

_RULE = re.compile(r"(?<![^{}])([^{}]{1,500}+)\{([^{}]{0,4000}+)\}")
_SIMPLE = re.compile(r"[a-z0-9]*([.#][\w-]+)\Z", re.IGNORECASE)
_AT_RULE = re.compile(r"@[^{};]{0,500}\{(?:[^{}]*\{[^{}]*\})*[^{}]*\}")
_COMMENT = re.compile(r"/\*.*?\*/|<!--|-->", re.DOTALL)
_LENGTH = re.compile(r"(-?\d*\.?\d+)\s*(px|pt|em|rem|ex|ch|%|vw|vh|in|cm|mm)?")
_RGB = re.compile(r"rgba?\(\s*(\d+)[\s,]+(\d+)[\s,]+(\d+)(?:[\s,/]+([\d.]+))?")
_HEX = re.compile(r"#?([0-9a-f]{6}|[0-9a-f]{3})\b", re.IGNORECASE)
_NAMED = {"white": (255, 255, 255), "black": (0, 0, 0), "snow": (255, 250, 250), "ivory": (255, 255, 240)}
_PX = {"px": 1.0, "pt": 1.333, "in": 96.0, "cm": 37.8, "mm": 3.78, "": 1.0}

_INVISIBLE = re.compile(
    "[\u00ad\u034f\u115f\u180e\u200b\u2060-\u2064\ufeff\U000e0000-\U000e007f]+|(?<=[a-zA-Z0-9])[\u200c\u200d]+"
)
_SPELLED = re.compile("[\U000e0020-\U000e007e]")

Colour = tuple[int, int, int]
Styles = Mapping[str, Mapping[str, str]]


@dataclass(frozen=True, slots=True)
class Look:
    """The inherited appearance at one element: font size in px, colours as RGB, None where they are not known."""

    gone: bool = False
    visible: bool = True
    size: float = 16.0
    colour: Colour | None = (0, 0, 0)
    background: Colour | None = (255, 255, 255)

    @property
    def hidden(self) -> bool:
        """Whether a reader sees no text set like this."""
        return self.gone or not self.visible or self.size < SMALLEST_READABLE_PX or _same(self.colour, self.background)


def style_rules(root: HtmlElement) -> dict[str, dict[str, str]]:
    """Declarations of the simple class and id selectors in `<style>` elements, keyed `.name` or `#name`.

    Rules inside `@media` are left out: they hold on some screens only.
    """
    sheet = "\n".join(element.text or "" for element in root.iter("style"))[:MAX_STYLE_CHARACTERS]
    rules: dict[str, dict[str, str]] = {}
    for match in islice(_RULE.finditer(_AT_RULE.sub("", _COMMENT.sub("", sheet))), MAX_RULES):
        for selector in match[1].split(","):
            if simple := _SIMPLE.match(selector.strip()):
                rules.setdefault(simple[1], {}).update(declarations(match[2]))
    return rules


def declarations(style: str) -> dict[str, str]:
    """Property to value of a `style` attribute, both lower case, `!important` taken off."""
    pairs = (declaration.partition(":") for declaration in style.lower().split(";"))
    return {name.strip(): value.replace("!important", "").strip() for name, _, value in pairs if value}


def look(element: HtmlElement, parent: Look, styles: Styles) -> Look:
    """How the text in `element` looks, given how text around it looks."""
    style = _style_of(element, styles)
    colour = element.get("color") if element.tag == "font" else None
    shade = element.get("bgcolor")
    if not style and colour is None and shade is None and element.get("hidden") is None:
        return parent
    return replace(
        parent,
        gone=parent.gone or element.get("hidden") is not None or _taken_out(style),
        visible=_visible(style.get("visibility", ""), parent.visible),
        size=_size(style.get("font-size", ""), parent.size),
        colour=_colour(style.get("color") or colour or "", parent.colour),
        background=_background(style, shade or "", parent.background),
    )


def without_invisible_characters(text: str) -> tuple[str, str]:
    """`text` without characters of no width, and what tag characters (U+E0020..) spelled among them."""
    spelled = "".join(chr(ord(found[0]) - 0xE0000) for found in islice(_SPELLED.finditer(text), MAX_SPELLED))
    blocks = (text[at : at + BLOCK] for at in range(0, len(text), BLOCK))  # `re.sub` keeps a list of all pieces
    return "".join(_INVISIBLE.sub("", block) for block in blocks), spelled


def _style_of(element: HtmlElement, styles: Styles) -> dict[str, str]:
    inline = element.get("style")
    style: dict[str, str] = {}
    if styles:
        names = ["." + name for name in (element.get("class") or "").split()] + ["#" + (element.get("id") or "")]
        for name in names:
            style.update(styles.get(name, {}))
    if inline:
        style.update(declarations(inline))
    return style


def _taken_out(style: Mapping[str, str]) -> bool:
    """Whether the box is not shown at all: no display, no opacity, no size, or off the screen."""
    if style.get("display") == "none" or _number(style.get("opacity", "1")) <= FAINTEST_OPACITY:
        return True
    if style.get("overflow", "").startswith("hidden") and any(
        _is_zero(style.get(name, "")) for name in ("height", "max-height", "width", "max-width")
    ):
        return True
    if style.get("position") in ("absolute", "fixed") and any(
        _pixels(style.get(name, "")) <= OFF_SCREEN_PX for name in ("left", "top", "right", "bottom")
    ):
        return True
    offsets = (style.get("text-indent", ""), style.get("margin-left", ""), style.get("margin-top", ""))
    clipped = re.match(r"rect\(0|inset\((?:50|100)%", style.get("clip", "") or style.get("clip-path", ""))
    return clipped is not None or any(_pixels(offset) <= OFF_SCREEN_PX for offset in offsets)


def _visible(value: str, inherited: bool) -> bool:
    return inherited if value in ("", "inherit") else value not in ("hidden", "collapse")


def _size(value: str, inherited: float) -> float:
    match = _LENGTH.match(value)
    if match is None:
        return 16.0 if value in ("medium", "small", "large", "x-small", "xx-small", "x-large", "smaller") else inherited
    number, unit = float(match[1]), match[2] or ""
    if unit == "%":
        return inherited * number / 100
    return number * inherited if unit in ("em", "ex", "ch") else number * _PX.get(unit, 16.0)


def _background(style: Mapping[str, str], shade: str, inherited: Colour | None) -> Colour | None:
    value = style.get("background-color") or style.get("background") or shade
    if "url(" in value or "gradient" in value or "background-image" in style:
        return None
    return _colour(value, inherited)


def _colour(value: str, inherited: Colour | None) -> Colour | None:
    value = value.strip().lower()
    if not value or value in ("inherit", "transparent", "none", "initial"):
        return inherited
    if match := _RGB.match(value):
        return inherited if match[4] and float(match[4] + "0") == 0 else (int(match[1]), int(match[2]), int(match[3]))
    if match := _HEX.match(value):
        digits = match[1] if len(match[1]) == 6 else "".join(digit * 2 for digit in match[1])
        return int(digits[:2], 16), int(digits[2:4], 16), int(digits[4:], 16)
    return _NAMED.get(value.split()[0])


def _same(one: Colour | None, other: Colour | None) -> bool:
    if one is None or other is None:
        return False
    return max(abs(a - b) for a, b in zip(one, other, strict=True)) <= SAME_COLOUR_DISTANCE


def _number(value: str) -> float:
    match = _LENGTH.match(value)
    return float(match[1]) / (100 if match[2] == "%" else 1) if match else 1.0


def _pixels(value: str) -> float:
    match = _LENGTH.match(value)
    return float(match[1]) * _PX.get(match[2] or "", 16.0) if match else 0.0


def _is_zero(value: str) -> bool:
    match = _LENGTH.match(value)
    return match is not None and float(match[1]) == 0
