"""The child process that opens a stranger's document. A program of its own: nothing of the project is imported.

    python -I -B attachment_child.py KIND LIMITS < document > answer

KIND is `pdf`, `docx`, `text`, `ics`, `zip`, `tar` or `tnef`; LIMITS is JSON with `cpu_seconds`, `memory_bytes`,
`text_characters`, `pages`, `names`, `unpacked_bytes` and `all` (also what nobody sees). The answer is JSON: `text`,
`verdict`, `reason`.
The limits are set before the document is read; whoever starts this also sets a limit of time. Without -B a module
that is imported for the first time would be cached under the limit on file sizes: cut short, and broken for everybody.
"""

from __future__ import annotations

import importlib.util
import io
import json
import re
import resource
import struct
import sys
import zipfile
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from pypdf import PdfReader

Answer = dict[str, str]
OUTLINE_ENTRIES = 2_000
CALENDAR_BYTES, CALENDAR_EVENTS, CALENDAR_VALUE = 256 * 1024, 5, 500
_MEETING = {
    "REQUEST": "An invitation, to be answered",
    "CANCEL": "A meeting was cancelled",
    "REPLY": "An answer to an invitation",
    "COUNTER": "Another time is proposed for a meeting",
}
HIDES = "what it hides from its reader is left out"
OUTPUT_BYTES_PER_CHARACTER = 6  # the longest JSON escape, `\\uXXXX`


class Unreadable(Exception):
    """A person has to open this document."""


class Read(NamedTuple):
    """What a document says, or lists, and why that is not all of it."""

    verdict: str
    text: str
    reason: str = ""


def main(kind: str, limits: dict[str, int]) -> None:
    """Read a document of `kind` from standard input and write the answer to standard output."""
    _confine(limits)
    content = sys.stdin.buffer.read()
    try:
        read = READERS[kind](content, limits)
        answer = {"text": read.text[: limits["text_characters"]], "verdict": read.verdict, "reason": read.reason}
        if len(read.text) > limits["text_characters"]:
            answer["reason"] = f"only the first {limits['text_characters']} characters are kept"
    except Unreadable as error:
        answer = {"text": "", "verdict": "human", "reason": str(error)}
    except MemoryError:
        answer = {"text": "", "verdict": "human", "reason": "takes more memory than it may"}
    except Exception as error:  # whatever a hostile document brings a library to raise
        answer = {"text": "", "verdict": "human", "reason": f"cannot be read ({type(error).__name__})"}
    json.dump(answer, sys.stdout)


def _confine(limits: dict[str, int]) -> None:
    seconds, memory = limits["cpu_seconds"], limits["memory_bytes"]
    written = limits["text_characters"] * OUTPUT_BYTES_PER_CHARACTER + 1_000
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    resource.setrlimit(resource.RLIMIT_FSIZE, (written, written))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _pdf(content: bytes, limits: dict[str, int]) -> Read:
    from pypdf import PdfReader

    reader = PdfReader(io.BytesIO(content))
    if reader.is_encrypted and not reader.decrypt(""):
        raise Unreadable("encrypted")
    pages: list[str] = []
    size = 0
    titles = _outline(reader)
    hidden = False
    for number, page in enumerate(reader.pages[: limits["pages"]]):
        if not limits["all"] and _hides(page, reader):
            hidden = True
        pages.append(_with_headings(page.extract_text(), titles.get(number, [])))
        size += len(pages[-1])
        if size > limits["text_characters"]:
            break
    text = "\n\n".join(pages).strip()
    if not text:
        raise Unreadable(f"a PDF without text{' that is seen' if hidden else ''}, perhaps a scan")
    return Read("text", text, HIDES if hidden else "")


def _hides(page: Any, reader: PdfReader) -> bool:
    """Take what nobody sees out of a page; whether there was any. A page that cannot be followed is read as it is."""
    try:
        return bool(_beside("attachment_hidden").without_hidden(page, reader))
    except (MemoryError, RecursionError):
        raise
    except Exception as error:
        raise Unreadable(f"a page cannot be followed ({type(error).__name__})") from None


def _beside(name: str) -> Any:
    """A module next to this one: no folder of the project is on the path."""
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, Path(__file__).with_name(f"{name}.py"))
        assert spec is not None
        assert spec.loader is not None
        sys.modules[name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules[name])
    return sys.modules[name]


def _outline(reader: PdfReader) -> dict[int, list[tuple[str, int]]]:
    """The outline's titles and levels by page; nothing where the outline is broken."""
    titles: dict[int, list[tuple[str, int]]] = {}
    try:
        entries: list[tuple[Any, int]] = [(entry, 1) for entry in reversed(reader.outline)]
        while entries and len(titles) < OUTLINE_ENTRIES:
            entry, level = entries.pop()
            if isinstance(entry, list):
                entries += [(one, level + 1) for one in reversed(entry)]
            elif entry.title and (page := reader.get_destination_page_number(entry)) is not None:
                titles.setdefault(page, []).append((str(entry.title), level))
    except Exception:
        return {}
    return titles


def _with_headings(text: str, titles: list[tuple[str, int]]) -> str:
    """The page's text, each line that is a title of the outline as a Markdown heading."""
    levels = {"".join(title.split()).casefold(): min(level, 6) for title, level in titles}
    lines = text.split("\n") if levels else []
    for number, line in enumerate(lines):
        if level := levels.pop("".join(line.split()).casefold(), 0):
            lines[number] = f"\n{'#' * level} {line.strip()}\n"
    return "\n".join(lines).strip() if lines else text


def _docx(content: bytes, limits: dict[str, int]) -> Read:
    import docx
    from docx.table import Table

    _check_unpacked(content, limits)
    lines: list[str] = []
    document = docx.Document(io.BytesIO(content))
    runs = _beside("attachment_hidden").Runs(document, everything=bool(limits["all"]))
    for block in document.iter_inner_content():
        if isinstance(block, Table):
            lines.extend(["", *_rows([_cell(runs, cell) for cell in row.cells] for row in block.rows), ""])
        else:
            lines.extend(_paragraph(runs.text(block._p), block.style.name if block.style else ""))
    text = re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip()
    return Read("text", text, HIDES if runs.found else "")


def _cell(runs: Any, cell: Any) -> str:
    return "\n".join(runs.text(one._p, shaded=True) for one in cell.paragraphs)


def _paragraph(text: str, style: str) -> list[str]:
    """Lines of Markdown: a heading stands alone, list items stand together, a paragraph ends with an empty line."""
    if not text.strip():
        return [""]
    if style == "Title" or style.startswith("Heading "):
        level = int(style[8:]) if style[8:].isdigit() else 1
        return ["", "#" * min(level, 6) + " " + " ".join(text.split()), ""]
    if style.startswith("List"):
        return [("1. " if "Number" in style else "- ") + text]
    return [text, ""]


def _rows(rows: Iterator[list[str]]) -> Iterator[str]:
    """Rows of a Markdown table, ruled below the first; the line feeds and bars in its cells give way."""
    for number, cells in enumerate(rows):
        yield " | ".join(" ".join(cell.replace("|", "/").split()) for cell in cells)
        if number == 0 and len(cells) > 1:
            yield " | ".join(["---"] * len(cells))


def _check_unpacked(content: bytes, limits: dict[str, int]) -> None:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        if sum(info.file_size for info in archive.infolist()) > limits["unpacked_bytes"]:
            raise Unreadable(f"unpacks to more than {limits['unpacked_bytes']} bytes")


def _text(content: bytes, limits: dict[str, int]) -> Read:
    head = content[: limits["text_characters"] * 4]
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        return Read("text", head.decode("utf-16", "replace") + " " * (len(content) > len(head)))
    try:
        text = head.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        cut_inside_a_character = error.start > len(head) - 4 and len(content) > len(head)
        text = head.decode("utf-8-sig" if cut_inside_a_character else "cp1252", "replace")
    return Read("text", text)


def _ics(content: bytes, limits: dict[str, int]) -> Read:
    """Each event of a calendar object (RFC 5545), in a few lines that a person would write."""
    from icalendar import Calendar

    lines: list[str] = []
    calendars = Calendar.from_ical(content[:CALENDAR_BYTES], multiple=True)
    events = ((calendar, event) for calendar in calendars for event in calendar.walk("VEVENT"))
    for calendar, event in islice(events, CALENDAR_EVENTS):
        method = str(calendar.get("METHOD", "")).upper()
        lines += [_MEETING.get(method, "A calendar entry"), *_event(event), ""]
    if not lines:
        raise Unreadable("a calendar without an event")
    return Read("text", "\n".join(lines).strip())


def _event(event: Any) -> Iterator[str]:
    for name, label in (("SUMMARY", "what"), ("DTSTART", "begins"), ("DTEND", "ends"), ("RRULE", "repeats"),
                        ("LOCATION", "where"), ("ORGANIZER", "by"), ("DESCRIPTION", "note")):  # fmt: skip
        value = event.get(name)
        if value is not None:
            yield f"{label}: {_calendar_value(value)}"


def _calendar_value(value: Any) -> str:
    """A moment with its zone, a rule as it is written, anything else as text; on one line."""
    moment = getattr(value, "dt", None)
    if moment is not None:
        zone = getattr(value, "params", {}).get("TZID", "") or ("UTC" if getattr(moment, "tzinfo", None) else "")
        said = moment.strftime("%Y-%m-%d %H:%M") if hasattr(moment, "hour") else moment.isoformat()
        return _one_line(f"{said} {zone}")
    to_ical = getattr(value, "to_ical", None) if isinstance(value, dict) else None
    written = to_ical().decode("utf-8", "replace") if to_ical else str(value)
    return _one_line(re.sub(r"^mailto:", "", written, flags=re.IGNORECASE))


def _one_line(text: str) -> str:
    return " ".join(text.split())[:CALENDAR_VALUE]


def _zip(content: bytes, limits: dict[str, int]) -> Read:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        entries = archive.infolist()
        if any(entry.flag_bits & 1 for entry in entries):
            raise Unreadable("encrypted")
    return Read("listing", _listed(((entry.filename, entry.file_size) for entry in entries), len(entries), limits))


def _tar(content: bytes, limits: dict[str, int]) -> Read:
    import tarfile

    with tarfile.open(fileobj=io.BytesIO(content), mode="r:") as archive:
        entries = archive.getmembers()
    return Read("listing", _listed(((entry.name, entry.size) for entry in entries), len(entries), limits))


def _tnef(content: bytes, limits: dict[str, int]) -> Read:
    files = list(_tnef_files(content))
    return Read("listing", _listed(files, len(files), limits))


def _tnef_files(content: bytes) -> Iterator[tuple[str, int]]:
    """Name and size of each file in a TNEF stream (MS-OXTNEF): records of level, id, length, data, checksum."""
    position, size = 6, 0
    while position + 9 <= len(content):
        _, name_or_data, length = struct.unpack_from("<BII", content, position)
        if name_or_data & 0xFFFF == 0x800F:  # attAttachData
            size = length
        if name_or_data & 0xFFFF == 0x8010:  # attAttachTitle
            yield content[position + 9 : position + 9 + length].rstrip(b"\0").decode("cp1252", "replace"), size
        position += 9 + length + 2


def _listed(entries: Iterator[tuple[str, int]] | list[tuple[str, int]], count: int, limits: dict[str, int]) -> str:
    lines = [f"{name} ({size} bytes)" for (name, size), _ in zip(entries, range(limits["names"]), strict=False)]
    return "\n".join([*lines, f"and {count - len(lines)} more"] if count > len(lines) else lines)


READERS: dict[str, Callable[[bytes, dict[str, int]], Read]] = {
    "pdf": _pdf,
    "docx": _docx,
    "text": _text,
    "ics": _ics,
    "zip": _zip,
    "tar": _tar,
    "tnef": _tnef,
}

if __name__ == "__main__":
    main(sys.argv[1], json.loads(sys.argv[2]))
