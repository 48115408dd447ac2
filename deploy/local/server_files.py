"""A server's files where every user of the machine can read them: where they are, or in a copy made once.

Postgres, which root must run as another user, asks access(2) for its own files; so no right that root could pass on
opens a private folder to it. A copy has a name made of its contents, belongs to root alone, and what is missing of
one (a cleaner of temporary folders, a kill while it was made) is put back at the next start.
"""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
from collections.abc import Iterable, Iterator
from errno import EACCES
from hashlib import sha256
from pathlib import Path

from deploy.local.errors import PartFailed

NAME = "correspondent-server"
IGNORED = {"include", "pgxs", "pkgconfig", "__pycache__"}  # folders that no running server reads
CHUNK = 2**20  # bytes


def places() -> list[Path]:
    """Where a copy may lie, the best first: a cache that nothing empties by age, then temporary folders."""
    return [Path("/var/cache"), Path(tempfile.gettempdir()), *map(Path, ("/var/tmp", "/tmp", "/dev/shm"))]


def open_to_all(path: Path) -> bool:
    """Whether every user may pass through all folders above `path`."""
    return all(folder.stat().st_mode & stat.S_IXOTH for folder in path.resolve().parents if folder.exists())


def readable_by_all(base: Path, files: Iterable[Path]) -> bool:
    """Whether every user may read each of the `files`, given below `base`, and run those that are programs."""
    chosen = list(files)
    folders = {folder for file in chosen for folder in file.parents}
    return (
        open_to_all(base / "any")
        and all((base / folder).stat().st_mode & 0o005 == 0o005 for folder in folders)
        and all(_is_public(base / file) for file in chosen)
    )


def files_below(base: Path, *folders: Path) -> list[Path]:
    """The files of the `folders`, relative to `base`, without what only compilers need."""
    return sorted(file.relative_to(base) for folder in folders if folder.is_dir() for file in _walk(folder))


def public_copy(base: Path, files: Iterable[Path], candidates: Iterable[Path] | None = None) -> Path:
    """The folder that stands for `base`, with the `files` readable by every user. Raises PartFailed without a place."""
    chosen = list(files)
    name = f"{NAME}-{_digest(base, chosen)}"
    refused = []
    for place in places() if candidates is None else candidates:
        try:
            copy = _own_folder(place, name)
            _fill(copy, base, chosen)
        except OSError as error:
            refused.append(f"{place}: {error.strerror or error}")
        else:
            return copy
    raise PartFailed(
        "Postgres does not run as root, and no folder was found for a copy of its files that another user can reach "
        f"({'; '.join(refused)}). Set TMPDIR to one, or run this as an ordinary user."
    )


def _is_public(file: Path) -> bool:
    wanted = stat.S_IROTH | (stat.S_IXOTH if os.access(file, os.X_OK) else 0)
    return file.stat().st_mode & wanted == wanted


def _walk(folder: Path) -> Iterator[Path]:
    for parent, names, files in os.walk(folder):
        names[:] = [name for name in names if name not in IGNORED]
        yield from (Path(parent, file) for file in files if not file.endswith(".a"))


def _digest(base: Path, files: Iterable[Path]) -> str:
    """What these files hold, in 16 hexadecimal digits."""
    seen = sha256()
    for file in files:
        seen.update(f"{file}\0".encode())
        with (base / file).open("rb") as content:
            while chunk := content.read(CHUNK):
                seen.update(chunk)
    return seen.hexdigest()[:16]


def _own_folder(place: Path, name: str) -> Path:
    """The folder of the copy, made or found. Raises OSError where another user could have put something into it."""
    folder = place.resolve(strict=True) / name
    if not open_to_all(folder) or os.statvfs(place).f_flag & os.ST_NOEXEC:
        raise PermissionError(EACCES, "closed to other users, or no program may run there")
    try:
        folder.mkdir(mode=0o755)
    except FileExistsError:
        found = folder.lstat()
        if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid() or found.st_mode & 0o022:
            raise PermissionError(EACCES, f"{name} belongs to somebody else") from None
    folder.chmod(0o755)
    return folder


def _fill(copy: Path, base: Path, files: Iterable[Path]) -> None:
    """Put what is missing into the copy, each file at once: another start may do the same meanwhile."""
    for file in files:
        source, target = base / file, copy / file
        if target.is_file() and target.stat().st_size == source.stat().st_size:
            continue
        for folder in reversed(list(file.parents)[:-1]):
            (copy / folder).mkdir(exist_ok=True)
            (copy / folder).chmod(0o755)
        unfinished = target.with_name(f"{target.name}.{os.getpid()}")
        shutil.copyfile(source, unfinished)
        unfinished.chmod(0o755 if os.access(source, os.X_OK) else 0o644)
        unfinished.replace(target)
