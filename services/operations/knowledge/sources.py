"""What a person means by the paths and addresses they name: files, folders, lists of addresses, web pages."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from services.core.errors import Permanent

SUFFIXES = (".md", ".markdown", ".txt", ".html", ".htm", ".pdf", ".docx")
LARGEST_LIST_BYTES = 1_000_000

_ADDRESS = re.compile(r"https?://\S+\Z", re.IGNORECASE)


class SourceUnclear(Permanent):
    """What was named is no file, no folder and no web address."""


@dataclass(frozen=True, slots=True)
class Source:
    """One document to hand in: a file at `path`, else the page at `origin`. `name` is its path within its folder."""

    origin: str
    name: str
    path: Path | None = None

    @property
    def title(self) -> str:
        """What it is called until its own title is read."""
        return Path(self.name).stem or self.origin


def expand(named: Iterable[str]) -> list[Source]:
    """Every document that is meant, each once, in order. Raises `SourceUnclear`."""
    found = {source.origin: source for one in named for source in _of(one)}
    return list(found.values())


def public_address(template: str, source: Source) -> str:
    """Where everybody may read it: `{url}` is a page's own address, `{path}` and `{name}` a file's in its folder."""
    path = source.name.replace("\\", "/")
    name = path.rpartition(".")[0] if "." in path.rpartition("/")[2] else path
    return template.replace("{url}", source.origin).replace("{path}", path).replace("{name}", name)


def _of(named: str) -> Iterator[Source]:
    if _ADDRESS.match(named):
        yield _page(named)
        return
    path = Path(named)
    if named and path.is_dir():
        yield from _folder(path)
    elif path.is_file():
        addresses = _listed(path)
        yield from map(_page, addresses) if addresses else [Source(str(path.resolve()), path.name, path)]
    else:
        raise SourceUnclear(f"{named!r} is no file, no folder, and no address that begins with http:// or https://")


def _folder(folder: Path) -> Iterator[Source]:
    real = folder.resolve()
    for path in sorted(folder.rglob("*")):
        within = path.relative_to(folder)
        if path.suffix.lower() not in SUFFIXES or any(one.startswith(".") for one in within.parts):
            continue
        # A link that leads out of the folder would have the agent quote any file of the operator's.
        if path.is_file() and path.resolve().is_relative_to(real):
            yield Source(str(path.resolve()), within.as_posix(), path)


def _page(address: str) -> Source:
    return Source(address, urlsplit(address).path.strip("/"))


def _listed(path: Path) -> list[str]:
    """The addresses in a text file that holds nothing else but remarks (`#`) and empty lines."""
    if path.suffix.lower() not in (".txt", ".urls", ".list", "") or path.stat().st_size > LARGEST_LIST_BYTES:
        return []
    lines = [line.strip() for line in path.read_text(encoding="utf-8", errors="replace").splitlines()]
    named = [line for line in lines if line and not line.startswith("#")]
    return named if all(map(_ADDRESS.match, named)) else []
