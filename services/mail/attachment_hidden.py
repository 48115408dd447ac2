"""What a PDF and a DOCX hide from their readers. Loaded by the child process that opens a stranger's document.

A PDF page is drawn in order: what is drawn in no colour, in the colour of what lies below it, too small to read, off
the page, outside of the clip, on a layer that is switched off, or below what is drawn later, nobody sees. A run of a
DOCX is hidden by its own properties or by those of its styles; what was deleted while changes were tracked is gone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

SMALLEST_PT = 1.5
SAME_COLOUR = 0.06  # of each part, from 0 to 1
FAINTEST = 0.05
MOST_DRAWN = 2_000  # rectangles and pictures of a page that are looked at
DEEPEST = 8  # forms within forms, and styles that are based on others

Matrix = tuple[float, float, float, float, float, float]
Box = tuple[float, float, float, float]
Colour = tuple[float, float, float]
EVERYWHERE: Box = (-1e9, -1e9, 1e9, 1e9)
WHITE: Colour = (1.0, 1.0, 1.0)
UPRIGHT: Matrix = (1.0, 0.0, 0.0, 1.0, 0.0, 0.0)


def _same(one: Colour | None, other: Colour | None) -> bool:
    """Whether two colours cannot be told apart; what is not known can."""
    if one is None or other is None:
        return False
    return all(abs(a - b) <= SAME_COLOUR for a, b in zip(one, other, strict=True))


# PDF


def without_hidden(page: Any, reader: Any) -> bool:
    """Take the text that nobody sees out of a page's content, that of its forms included; whether there was any."""
    from pypdf.generic import ArrayObject, ContentStream, NameObject

    contents = page.get_contents()
    if contents is None:
        return False
    drawing = _Drawing(_box_of(page), _layers_off(reader), reader)
    operations = drawing.draw(ContentStream(contents, reader, "bytes").operations, page.get("/Resources"), _State())
    hidden = drawing.hidden()
    if not hidden:
        return False
    stream = ContentStream(None, reader, "bytes")
    stream.operations = _kept(operations, hidden)
    page[NameObject("/Contents")] = stream
    for form, drawn in drawing.forms:
        again = ContentStream(None, reader, "bytes")
        again.operations = _kept(drawn, hidden)
        form[NameObject("/Filter")] = ArrayObject()
        form.pop("/DecodeParms", None)
        form._data = again.get_data()
        form.decoded_self = None
    return True


def _kept(operations: Sequence[Any], hidden: set[int]) -> list[Any]:
    """The operations without those that show hidden text; what ends a line still does."""
    return [([], b"T*") if id(one) in hidden and one[1] in (b"'", b'"') else one
            for one in operations if id(one) not in hidden or one[1] in (b"'", b'"')]  # fmt: skip


@dataclass(frozen=True, slots=True)
class _State:
    """The graphics state, as far as it decides what is seen. A colour is None where it is not known."""

    at: Matrix = UPRIGHT
    clip: Box = EVERYWHERE
    fill: Colour | None = (0.0, 0.0, 0.0)
    space: str = ""  # of colours of one part: `grey`, `tint`, or "" where it is another one
    opacity: float = 1.0
    mode: int = 0
    size: float = 0.0


@dataclass(frozen=True, slots=True)
class _Shown:
    """A piece of text that is drawn: the operation, where and when it begins, how large, in what colour."""

    operation: int
    number: int
    x: float
    y: float
    size: float
    colour: Colour | None
    unseen: bool


@dataclass(frozen=True, slots=True)
class _Painted:
    """A rectangle or a picture: when, where, in what colour, and whether what lies below it is covered."""

    number: int
    box: Box
    colour: Colour | None
    covers: bool


@dataclass(slots=True)
class _Pen:
    """What follows the operations of a page or a form; `off`: it lies on a layer that is switched off."""

    resources: Any
    state: _State
    depth: int
    off: bool
    saved: list[_State] = field(default_factory=list)
    marked: list[bool] = field(default_factory=list)  # contents that are open, and whether each is on such a layer
    text: Matrix = UPRIGHT
    line: Matrix = UPRIGHT
    leading: float = 0.0
    path: list[Box] = field(default_factory=list)
    clips: bool = False

    def to_line(self, matrix: Matrix) -> None:
        """Begin a line of text there."""
        self.text = self.line = matrix

    def move(self, given: Sequence[Any]) -> None:
        """Begin a line so far from the one before."""
        self.to_line(_times((1, 0, 0, 1, float(given[0]), float(given[1])), self.line))

    def move_and_lead(self, given: Sequence[Any]) -> None:
        """The same, and as far from line to line from now on."""
        self.leading = -float(given[1])
        self.move(given)

    def next_line(self) -> None:
        """Begin the next line."""
        self.move((0, -self.leading))

    def lead(self, given: Sequence[Any]) -> None:
        """How far it is from line to line."""
        self.leading = float(given[0])

    def save(self) -> None:
        """Keep the state."""
        self.saved.append(self.state)

    def restore(self) -> None:
        """Go back to the state that was kept."""
        self.state = self.saved.pop() if self.saved else self.state

    def change(self, **changed: Any) -> None:
        """Change the state."""
        self.state = replace(self.state, **changed)

    def rectangle(self, given: Sequence[Any]) -> None:
        """Add to the path."""
        x, y, width, height = map(float, given[:4])
        self.path.append(_around(self.state.at, x, y, x + width, y + height))

    def clip(self) -> None:
        """The path is to bound what is seen."""
        self.clips = True

    def end_path(self) -> None:
        """The path was painted, or was to bound what is seen."""
        if self.clips and self.path:
            self.change(clip=_within(self.state.clip, _hull(self.path)))
        self.path, self.clips = [], False


def _end_marked(pen: _Pen) -> None:
    if pen.marked:
        pen.marked.pop()


@dataclass(slots=True)
class _Drawing:
    """A page while it is drawn."""

    page: Box
    off: set[int]
    reader: Any
    shown: list[_Shown] = field(default_factory=list)
    painted: list[_Painted] = field(default_factory=list)
    forms: list[tuple[Any, list[Any]]] = field(default_factory=list)
    number: int = 0

    def draw(
        self, operations: list[Any], resources: Any, state: _State, depth: int = 0, off: bool = False
    ) -> list[Any]:
        """Follow operations; gives the list itself, whose members' ids say which of them are hidden."""
        pen = _Pen(_object(resources) or {}, state, depth, off)
        for one in operations:
            given, name = one
            self.number += 1
            if name in _PAINTS:
                self._paint(pen)
            elif name in (b"Tj", b"TJ", b"'", b'"'):
                if name in (b"'", b'"'):
                    pen.next_line()
                self._show(one, pen)
            elif name == b"Do" and given:
                self._do(given[0], pen)
            elif name in (b"BDC", b"BMC"):
                pen.marked.append(self._is_off(given, pen.resources))
            elif name in _STEPS and len(given) >= _STEPS[name][0]:
                _STEPS[name][1](pen, given)
        return operations

    def _show(self, one: Any, pen: _Pen) -> None:
        """Note a piece of text."""
        state, off = pen.state, pen.off or any(pen.marked)
        at = _times(pen.text, state.at)
        size = abs(state.size) * max(abs(at[2]) + abs(at[3]), 0.0)
        unseen = off or state.mode in (3, 7) or state.opacity <= FAINTEST or size < SMALLEST_PT
        width = size * 0.5 * _characters(one[0])
        outside = not _meets(self.page, at[4], at[5], width, size) or not _meets(state.clip, at[4], at[5], width, size)
        colour = state.fill if state.mode in (0, 4) else None
        self.shown.append(_Shown(id(one), self.number, at[4], at[5], size, colour, unseen or outside))

    def _paint(self, pen: _Pen) -> None:
        """Note rectangles."""
        path, state = pen.path, pen.state
        pen.end_path()
        if len(self.painted) < MOST_DRAWN and state.opacity > FAINTEST:
            covers = state.opacity >= 1.0 and state.fill is not None
            self.painted += [_Painted(self.number, _within(box, state.clip), state.fill, covers) for box in path]

    def _do(self, name: Any, pen: _Pen) -> None:
        """A picture is painted, a form is drawn."""
        from pypdf.generic import ContentStream

        state, depth = pen.state, pen.depth
        drawn = _object((_object(pen.resources.get("/XObject")) or {}).get(name))
        if drawn is None:
            return
        if drawn.get("/Subtype") == "/Image":
            solid = state.opacity >= 1.0 and "/SMask" not in drawn and "/Mask" not in drawn
            box = _within(_around(state.at, 0, 0, 1, 1), state.clip)
            self.painted.append(_Painted(self.number, box, None, solid and not drawn.get("/ImageMask", False)))
        elif drawn.get("/Subtype") == "/Form" and depth < DEEPEST and all(drawn is not one for one, _ in self.forms):
            matrix = drawn.get("/Matrix")
            inner = replace(state, at=_times(_matrix(matrix), state.at)) if matrix else state
            operations = ContentStream(drawn, self.reader, "bytes").operations
            self.forms.append((drawn, operations))
            self.draw(operations, drawn.get("/Resources", pen.resources), inner, depth + 1, pen.off or any(pen.marked))

    def _is_off(self, given: Sequence[Any], resources: Any) -> bool:
        if len(given) < 2 or given[0] != "/OC" or not self.off:
            return False
        layer = (_object(resources.get("/Properties")) or {}).get(given[1]) if isinstance(given[1], str) else None
        return getattr(layer, "idnum", 0) in self.off

    def hidden(self) -> set[int]:
        """The ids of the operations whose text nobody sees."""
        return {one.operation for one in self.shown if one.unseen or self._lost(one)}

    def _lost(self, one: _Shown) -> bool:
        """Whether a piece of text is of the colour of what lies below it, or lies below something."""
        below: Colour | None = WHITE
        x, y = one.x + one.size * 0.2, one.y + one.size * 0.2
        for drawn in self.painted:
            left, low, right, high = drawn.box
            if left <= x <= right and low <= y <= high:
                if drawn.number < one.number:
                    below = drawn.colour
                elif drawn.covers:
                    return True
        return _same(one.colour, below)


_PAINTS = {b"f", b"F", b"f*", b"B", b"B*", b"b", b"b*"}


def _grey(given: Sequence[Any]) -> Colour | None:
    return (float(given[0]),) * 3 if len(given) == 1 else None


def _rgb(given: Sequence[Any]) -> Colour | None:
    return (float(given[0]), float(given[1]), float(given[2])) if len(given) == 3 else None


def _cmyk(given: Sequence[Any]) -> Colour | None:
    if len(given) != 4:
        return None
    cyan, magenta, yellow, black = (float(one) for one in given)
    return tuple((1 - one) * (1 - black) for one in (cyan, magenta, yellow))  # type: ignore[return-value]


_STEPS: dict[bytes, tuple[int, Callable[[_Pen, Sequence[Any]], None]]] = {  # with how many operands it wants
    b"q": (0, lambda pen, given: pen.save()),
    b"Q": (0, lambda pen, given: pen.restore()),
    b"cm": (6, lambda pen, given: pen.change(at=_times(_matrix(given), pen.state.at))),
    b"g": (1, lambda pen, given: pen.change(fill=_grey(given))),
    b"rg": (3, lambda pen, given: pen.change(fill=_rgb(given))),
    b"k": (4, lambda pen, given: pen.change(fill=_cmyk(given))),
    b"cs": (1, lambda pen, given: pen.change(space=_space(given[0], pen.resources), fill=(0.0, 0.0, 0.0))),
    b"sc": (1, lambda pen, given: pen.change(fill=_colour(given, pen.state.space))),
    b"scn": (1, lambda pen, given: pen.change(fill=_colour(given, pen.state.space))),
    b"gs": (1, lambda pen, given: pen.change(opacity=_opacity(pen.state.opacity, pen.resources, given[0]))),
    b"Tr": (1, lambda pen, given: pen.change(mode=int(given[0]))),
    b"Tf": (2, lambda pen, given: pen.change(size=float(given[1]))),
    b"EMC": (0, lambda pen, given: _end_marked(pen)),
    b"re": (4, lambda pen, given: pen.rectangle(given)),
    b"W": (0, lambda pen, given: pen.clip()),
    b"W*": (0, lambda pen, given: pen.clip()),
    b"n": (0, lambda pen, given: pen.end_path()),
    b"S": (0, lambda pen, given: pen.end_path()),
    b"s": (0, lambda pen, given: pen.end_path()),
    b"BT": (0, lambda pen, given: pen.to_line(UPRIGHT)),
    b"TL": (1, lambda pen, given: pen.lead(given)),
    b"Tm": (6, lambda pen, given: pen.to_line(_matrix(given))),
    b"Td": (2, lambda pen, given: pen.move(given)),
    b"TD": (2, lambda pen, given: pen.move_and_lead(given)),
    b"T*": (0, lambda pen, given: pen.next_line()),
}


def _colour(given: Sequence[Any], space: str) -> Colour | None:
    """A colour by how many parts it has; None for a pattern, and for one part of a space that may be anything."""
    try:
        if len(given) == 1 and space:
            return _grey([1 - float(given[0])] if space == "tint" else given)
        return _rgb(given) or _cmyk(given)
    except (TypeError, ValueError):
        return None


def _space(name: Any, resources: Any) -> str:
    """What the one part of a colour means: how bright it is, or how much of an ink there is."""
    known = _object((_object(resources.get("/ColorSpace")) or {}).get(name))
    kind = str(known[0] if isinstance(known, list) and known else name)
    if kind == "/ICCBased":
        return "grey" if _object(known[1]).get("/N") == 1 else ""
    return {"/DeviceGray": "grey", "/CalGray": "grey", "/G": "grey", "/Separation": "tint"}.get(kind, "")


def _opacity(now: float, resources: Any, name: Any) -> float:
    known = _object((_object(resources.get("/ExtGState")) or {}).get(name)) or {}
    if str(known.get("/BM", "/Normal")) not in ("/Normal", "/Compatible"):
        return min(float(known.get("/ca", 1.0)), 0.99)  # it covers nothing
    return float(known.get("/ca", now))


def _object(one: Any) -> Any:
    return one.get_object() if hasattr(one, "get_object") else one


def _matrix(given: Sequence[Any]) -> Matrix:
    a, b, c, d, e, f = (float(one) for one in given)
    return a, b, c, d, e, f


def _times(one: Matrix, other: Matrix) -> Matrix:
    a, b, c, d, e, f = one
    g, h, i, j, k, m = other
    return a * g + b * i, a * h + b * j, c * g + d * i, c * h + d * j, e * g + f * i + k, e * h + f * j + m


def _around(at: Matrix, left: float, low: float, right: float, high: float) -> Box:
    """The upright box around a rectangle, on the page."""
    corners = [
        (x * at[0] + y * at[2] + at[4], x * at[1] + y * at[3] + at[5]) for x in (left, right) for y in (low, high)
    ]
    xs, ys = [x for x, _ in corners], [y for _, y in corners]
    return min(xs), min(ys), max(xs), max(ys)


def _within(one: Box, other: Box) -> Box:
    return max(one[0], other[0]), max(one[1], other[1]), min(one[2], other[2]), min(one[3], other[3])


def _hull(boxes: Sequence[Box]) -> Box:
    lefts, lows, rights, highs = zip(*boxes, strict=True)
    return min(lefts), min(lows), max(rights), max(highs)


def _meets(box: Box, x: float, y: float, width: float, size: float) -> bool:
    """Whether any of a line of text that begins here may lie in a box, however it is turned."""
    reach = max(width, size)
    left, low, right, high = box
    return (
        left - reach <= x <= right + size * 0.1 and low - size <= y <= high + size * 0.1 and left < right and low < high
    )


def _characters(given: Sequence[Any]) -> int:
    pieces = given[-1] if given and isinstance(given[-1], list) else given
    return sum(len(one) for one in pieces if isinstance(one, str | bytes))


def _box_of(page: Any) -> Box:
    box = page.cropbox
    return float(box.left), float(box.bottom), float(box.right), float(box.top)


def _layers_off(reader: Any) -> set[int]:
    """The numbers of the layers (optional content groups) that are switched off when the document opens."""
    layers = _object(_object(reader.trailer["/Root"]).get("/OCProperties")) or {}
    shown = _object(layers.get("/D")) or {}
    off = {one.idnum for one in _object(shown.get("/OFF")) or ()}
    if shown.get("/BaseState") == "/OFF":
        off = {one.idnum for one in _object(layers.get("/OCGs")) or ()} - {
            one.idnum for one in _object(shown.get("/ON")) or ()
        }
    return off


# DOCX

_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_DELETED = {f"{_W}del", f"{_W}moveFrom", f"{_W}pPr", f"{_W}rPr", f"{_W}txbxContent"}
_OFF_PAGE_TWIPS = 15_000  # ten inches beside the margin
_SMALLEST_HALF_POINTS = 2 * SMALLEST_PT


class Runs:
    """The text of a DOCX's paragraphs without what is hidden; `found` says whether anything was."""

    def __init__(self, document: Any, *, everything: bool) -> None:
        self._all = everything
        styles = document.styles.element.iter(f"{_W}style")
        self._styles = {one.get(f"{_W}styleId"): one for one in styles}
        background = document.element.find(f"{_W}background")
        self._page = WHITE if background is None else _hex(background.get(f"{_W}color"))
        self.found = False

    def text(self, paragraph: Any, shaded: bool = False) -> str:
        """What a paragraph says; `shaded`: it stands in a table, whose style may colour what is behind it."""
        of_paragraph = paragraph.find(f"{_W}pPr")
        shaded = shaded or self._shade(of_paragraph)
        base = self._styled(_value(of_paragraph, "pStyle"))
        off_page = self._is_off_page(of_paragraph)
        said = []
        for run in _runs(paragraph):
            pieces = "".join(_pieces(run))
            if pieces.strip() and not self._all and (off_page or self._is_hidden(run.find(f"{_W}rPr"), base, shaded)):
                self.found = True
            else:
                said.append(pieces)
        return "".join(said)

    def _styled(self, name: str) -> list[Any]:
        """The run properties of a style, before them those of the styles that it is based on."""
        found: list[Any] = []
        for _ in range(DEEPEST):
            style = self._styles.get(name)
            if style is None:
                break
            if (own := style.find(f"{_W}rPr")) is not None:
                found.insert(0, own)
            name = _value(style, "basedOn")
        return found

    def _is_hidden(self, own: Any, base: list[Any], shaded: bool) -> bool:
        properties = [*base, *self._styled(_value(own, "rStyle")), *([] if own is None else [own])]
        said: dict[str, Any] = {one.tag.removeprefix(_W): one for each in properties for one in each}
        if any(name in said and _is_on(said[name]) for name in ("vanish", "specVanish", "webHidden")):
            return True
        size = _number(said.get("sz"))
        if (size is not None and size < _SMALLEST_HALF_POINTS) or (_number(said.get("w")) or 100) <= 5:
            return True
        colour = _hex(said["color"].get(f"{_W}val")) if "color" in said else None
        behind = _fill(said.get("shd"))
        if ("highlight" in said and said["highlight"].get(f"{_W}val") != "none") or (behind is None and shaded):
            return False
        return _same(colour, behind or self._page)

    def _shade(self, properties: Any) -> bool:
        return properties is not None and _fill(properties.find(f"{_W}shd")) is not None

    def _is_off_page(self, properties: Any) -> bool:
        if properties is None:
            return False
        frame, indent = properties.find(f"{_W}framePr"), properties.find(f"{_W}ind")
        places = [one.get(_W + name) for one, names in ((frame, "xy"), (indent, ("left", "start", "firstLine")))
                  if one is not None for name in names]  # fmt: skip
        return any(one and one.lstrip("-").isdigit() and abs(int(one[:12])) >= _OFF_PAGE_TWIPS for one in places)


def _runs(element: Any) -> Iterator[Any]:
    """The runs of a paragraph, those of inserted text, links, fields and controls included, in order."""
    waiting = list(reversed(element))
    while waiting:
        one = waiting.pop()
        if one.tag == f"{_W}r":
            yield one
        elif one.tag not in _DELETED:
            waiting.extend(reversed(one))


def _pieces(run: Any) -> Iterator[str]:
    for one in run:
        if one.tag == f"{_W}t":
            yield one.text or ""
        elif one.tag in (f"{_W}tab", f"{_W}ptab"):
            yield "\t"
        elif one.tag in (f"{_W}br", f"{_W}cr"):
            yield "\n"
        elif one.tag == f"{_W}noBreakHyphen":
            yield "-"


def _value(properties: Any, name: str) -> str:
    found = None if properties is None else properties.find(_W + name)
    return "" if found is None else str(found.get(f"{_W}val") or "")


def _is_on(element: Any) -> bool:
    return element.get(f"{_W}val") not in ("0", "false", "off")


def _number(element: Any) -> float | None:
    said = "" if element is None else str(element.get(f"{_W}val") or "").rstrip("%")
    try:
        return float(said)
    except ValueError:
        return None


def _fill(shading: Any) -> Colour | None:
    return None if shading is None else _hex(shading.get(f"{_W}fill"))


def _hex(value: str | None) -> Colour | None:
    try:
        red, green, blue = bytes.fromhex(value or "")
    except ValueError:
        return None
    return red / 255, green / 255, blue / 255
