"""What an HTML mail hides from its reader: by style, by attribute, by colour, by characters without width.

A `Look` is what an element hands down to what stands in it. Size, colour and visibility may be set again further
in (`font-size:0` on a table and 14px in its cells is a habit of newsletters); what is taken out of the page may not.
"""

from __future__ import annotations

import colorsys
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import islice

from lxml.html import HtmlElement

from services.mail.style_sheet import NUMBER, Declarations, declarations

SMALLEST_READABLE_PX = 2.0
SAME_COLOUR_DISTANCE = 12
FAINTEST_OPACITY = 0.05
OFF_SCREEN_PX = -500.0
MAX_SPELLED = 20_000  # characters that tag characters spell
BLOCK = 100_000  # characters that are looked through at once for those of no width

_LENGTH = re.compile(rf"({NUMBER})\s*(px|pt|em|rem|ex|ch|%|vw|vh|in|cm|mm)?")
_RGB = re.compile(rf"rgba?\(\s*({NUMBER})(%?)[\s,]+({NUMBER})%?[\s,]+({NUMBER})%?(?:[\s,/]+({NUMBER}))?")
_HSL = re.compile(rf"hsla?\(\s*({NUMBER})(?:deg)?[\s,]+({NUMBER})%[\s,]+({NUMBER})%(?:[\s,/]+({NUMBER}))?")
_HEX = re.compile(r"#?([0-9a-f]{8}|[0-9a-f]{6}|[0-9a-f]{3,4})\b", re.IGNORECASE)
_NAMED = {
    "white": (255, 255, 255), "snow": (255, 250, 250), "ivory": (255, 255, 240), "ghostwhite": (248, 248, 255),
    "floralwhite": (255, 250, 240), "mintcream": (245, 255, 250), "azure": (240, 255, 255),
    "whitesmoke": (245, 245, 245), "aliceblue": (240, 248, 255), "black": (0, 0, 0),
}  # fmt: skip
_SHRUNK = re.compile(r"scale(?:[xyz]|3d)?\(\s*0(?:\.0\d{0,20})?\s*[,)]")
_TURNED = re.compile(r"rotate[xy]\(\s*-?(?:90|270)deg")
_NOTHING = re.compile(r"0(?:\.0\d{0,20})?%?(?:\s|\Z)")
_NEVER_SHOWN = {"datalist", "noembed", "noframes", "rp"}
_LOOK_OF_THEIR_OWN = _NEVER_SHOWN | {"dialog"}
_LOOKED_AT = frozenset({"style", "color", "bgcolor", "hidden", "popover"})  # attributes
_MOVED = re.compile(rf"translate(?:[xy]|3d)?\(\s*({NUMBER}[a-z]{{0,3}})(?:\s*,\s*({NUMBER}[a-z]{{0,3}}))?")
_CLIPPED = re.compile(
    r"rect\((?:0|1px[,\s]{1,3}1px)|inset\((?:50|100)%|circle\(0|polygon\(0[a-z%]{0,2} 0[a-z%]{0,2}, ?0[a-z%]{0,2} 0\b"
)
_FILTERED = re.compile(r"opacity\(\s*0(?:\.0\d{0,20})?%?\s*\)|opacity=0\b")
_PX = {"px": 1.0, "pt": 1.333, "in": 96.0, "cm": 37.8, "mm": 3.78, "": 1.0}

_SELECTORS = (
    "[\ufe00-\ufe0f\U000e0100-\U000e01ef]"  # of a character's variation: one may stand behind each, and no more
)
_INVISIBLE = re.compile(
    "[\u00ad\u034f\u115f\u180e\u200b\u202d\u202e\u2060-\u2064\ufeff\U000e0000-\U000e007f]+|(?<=[a-zA-Z0-9])[\u200c\u200d]+"
    f"|{_SELECTORS}{{2,}}"
)
_SPELLED = re.compile(f"[\U000e0020-\U000e007e]|(?<={_SELECTORS}){_SELECTORS}|{_SELECTORS}(?={_SELECTORS})")

Colour = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class Look:
    """The inherited appearance at one element: font size in px, colours as RGB, None where they are not known."""

    gone: bool = False
    visible: bool = True
    size: float = 16.0
    colour: Colour | None = (0, 0, 0)
    background: Colour | None = (255, 255, 255)
    clear: bool = False  # letters of no colour at all

    @property
    def hidden(self) -> bool:
        """Whether a reader sees no text set like this."""
        unseen = self.gone or not self.visible or self.clear
        return unseen or self.size < SMALLEST_READABLE_PX or _same(self.colour, self.background)


def look(element: HtmlElement, parent: Look, declared: tuple[Declarations, Declarations] | None) -> Look:
    """How the text in `element` looks, given how text around it looks and what style sheets declare of it."""
    style = _style_of(element, declared)
    colour = element.get("color") if element.tag == "font" else None
    shade = element.get("bgcolor")
    closed = element.tag in _NEVER_SHOWN or element.get("hidden") is not None or element.get("popover") is not None
    closed = closed or (element.tag == "dialog" and element.get("open") is None)
    if not style and colour is None and shade is None and not closed:
        return parent
    return replace(
        parent,
        gone=parent.gone or closed or _taken_out(style),
        visible=_visible(style.get("visibility", ""), parent.visible),
        clear=_clear(style, colour or "", parent.clear),
        size=_size(style.get("font-size", ""), parent.size),
        colour=_colour(style.get("color") or colour or "", parent.colour),
        background=_background(style, shade or "", parent.background),
    )


class Looks:
    """`look` for the elements of a document; what follows from style sheets alone is worked out once."""

    def __init__(self) -> None:
        self._known: dict[tuple[Look, int], Look] = {}

    def of(self, element: HtmlElement, parent: Look, declared: tuple[Declarations, Declarations] | None) -> Look:
        """How the text in an element looks. `declared` is the same object where the same is declared."""
        if declared is None or element.tag in _LOOK_OF_THEIR_OWN or not _LOOKED_AT.isdisjoint(element.keys()):
            return look(element, parent, declared)
        key = (parent, id(declared))
        if key not in self._known:
            self._known[key] = look(element, parent, declared)
        return self._known[key]


def without_invisible_characters(text: str) -> tuple[str, str]:
    """`text` without characters of no width or that turn it around; and what tag characters and selectors spelled.

    Tag characters are U+E0020 and on; a variation selector behind another one numbers a byte.
    """
    if text.isascii():
        return text, ""
    spelled = "".join(_spelled(found[0]) for found in islice(_SPELLED.finditer(text), MAX_SPELLED))
    blocks = (text[at : at + BLOCK] for at in range(0, len(text), BLOCK))  # `re.sub` keeps a list of all pieces
    return "".join(_INVISIBLE.sub("", block) for block in blocks), spelled


def _spelled(one: str) -> str:
    """The letter that a tag character stands for, or the ASCII letter among the bytes that selectors number."""
    code = ord(one)
    if code >= 0xE0100:
        code -= 0xE0100 - 16
    elif code >= 0xE0000:
        return chr(code - 0xE0000)
    else:
        code -= 0xFE00
    return chr(code) if chr(code).isascii() and chr(code).isprintable() else ""


def _style_of(element: HtmlElement, declared: tuple[Declarations, Declarations] | None) -> Mapping[str, str]:
    """All that is declared of an element, what counts more in place of what counts less (CSS Cascade 5, 6.1)."""
    inline = element.get("style")
    if not inline:
        return declared[0] | declared[1] if declared else {}
    plain, important = declarations(inline)
    return declared[0] | plain | declared[1] | important if declared else plain | important


def _taken_out(style: Mapping[str, str]) -> bool:
    """Whether the box is not shown at all: no display, no opacity, no size, or off the screen."""
    if style.get("display", "").startswith("none") or _number(style.get("opacity", "1")) <= FAINTEST_OPACITY:
        return True
    if style.get("overflow", "").startswith(("hidden", "clip")) and any(
        _is_a_point(style.get(name, "")) for name in ("height", "max-height", "width", "max-width")
    ):
        return True
    if style.get("content-visibility") == "hidden" or _NOTHING.match(style.get("scale", "")):
        return True
    transform = style.get("transform") or style.get("-webkit-transform") or ""
    if _SHRUNK.search(transform) or _TURNED.search(transform) or _FILTERED.search(style.get("filter", "")):
        return True
    moved = [one for found in _MOVED.finditer(transform) for one in found.groups()] + style.get("translate", "").split()
    if any(_pixels(one or "") <= OFF_SCREEN_PX for one in moved):
        return True
    if style.get("position") in ("absolute", "fixed", "relative", "sticky") and any(
        _pixels(style.get(name, "")) <= OFF_SCREEN_PX for name in ("left", "top", "right", "bottom")
    ):
        return True
    offsets = (style.get("text-indent", ""), style.get("margin-left", ""), style.get("margin-top", ""))
    clipped = any(_CLIPPED.match(style.get(name, "")) for name in ("clip", "clip-path"))
    return clipped or any(_pixels(offset) <= OFF_SCREEN_PX for offset in offsets)


def _visible(value: str, inherited: bool) -> bool:
    return inherited if value in ("", "inherit") else value not in ("hidden", "collapse")


def _clear(style: Mapping[str, str], shade: str, inherited: bool) -> bool:
    """Whether letters have no colour; those that a picture behind them shows through (`background-clip`) have one."""
    value = style.get("-webkit-text-fill-color") or style.get("color") or shade
    if not value or value == "inherit":
        return inherited
    if "text" in (style.get("background-clip"), style.get("-webkit-background-clip")):
        return False
    return value == "transparent" or _alpha(value) <= FAINTEST_OPACITY


def _alpha(value: str) -> float:
    """How much of a colour covers what is behind it, from 0 to 1."""
    if match := _HEX.match(value):
        digits = match[1]
        return 1.0 if len(digits) in (3, 6) else int((digits * 2 if len(digits) == 4 else digits)[-2:], 16) / 255
    match = _RGB.match(value) or _HSL.match(value)
    return float(match.groups()[-1] or 1) if match else 1.0


def _size(value: str, inherited: float) -> float:
    match = _LENGTH.match(_plain_value(value))
    if match is None:
        return 16.0 if value in ("medium", "small", "large", "x-small", "xx-small", "x-large", "smaller") else inherited
    number, unit = float(match[1]), match[2] or ""
    if unit == "%":
        return inherited * number / 100
    return number * inherited if unit in ("em", "ex", "ch") else number * _PX.get(unit, 16.0)


def _background(style: Mapping[str, str], shade: str, inherited: Colour | None) -> Colour | None:
    value = style.get("background-color") or shade
    if "url(" in value or "gradient" in value or "background-image" in style:
        return None
    return _colour(value, inherited)


def _colour(value: str, inherited: Colour | None) -> Colour | None:
    value = value.strip().lower()
    if not value or value in ("inherit", "transparent", "none", "initial"):
        return inherited
    if _alpha(value) == 0:
        return inherited
    if match := _RGB.match(value):
        red, share, green, blue = match.groups()[:4]
        return _rgb(*(float(one) / 100 if share else float(one) / 255 for one in (red, green, blue)))
    if match := _HSL.match(value):
        hue, full, light = (float(one) for one in match.groups()[:3])
        return _rgb(*colorsys.hls_to_rgb(hue % 360 / 360, min(light / 100, 1), min(full / 100, 1)))
    if match := _HEX.match(value):
        digits = match[1] if len(match[1]) >= 6 else "".join(digit * 2 for digit in match[1])
        return int(digits[:2], 16), int(digits[2:4], 16), int(digits[4:6], 16)
    return _NAMED.get(value.split()[0])


def _rgb(*shares: float) -> Colour:
    red, green, blue = (round(255 * min(max(one, 0.0), 1.0)) for one in shares)
    return red, green, blue


def _same(one: Colour | None, other: Colour | None) -> bool:
    if one is None or other is None:
        return False
    return max(abs(a - b) for a, b in zip(one, other, strict=True)) <= SAME_COLOUR_DISTANCE


def _plain_value(value: str) -> str:
    """A value without the `calc` or the like around it: its first number."""
    return value.partition("(")[2].lstrip() if value.startswith(("calc(", "min(", "clamp(")) else value


def _number(value: str) -> float:
    match = _LENGTH.match(_plain_value(value))
    return float(match[1]) / (100 if match[2] == "%" else 1) if match else 1.0


def _pixels(value: str) -> float:
    if value.startswith("calc(") and "-" in value:  # `calc(-1 * 9999px)`, `calc(0px - 9999px)`
        return -max(
            (abs(float(found[1])) * _PX.get(found[2] or "", 16.0) for found in _LENGTH.finditer(value)), default=0
        )
    match = _LENGTH.match(value)
    return float(match[1]) * _PX.get(match[2] or "", 16.0) if match else 0.0


def _is_a_point(value: str) -> bool:
    return _LENGTH.match(value) is not None and _pixels(value) <= 1
