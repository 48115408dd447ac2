"""Debian's Dovecot as a real IMAP server: a free loopback port, a folder of its own, plain passwords.

Runs as root (mail belongs to `nobody`) and as an ordinary user. Mail is delivered as a mail system does it: written
whole to the Maildir's `tmp`, then moved to `new`.
"""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path

import pytest

from deploy.local.ports import free_port
from services.core.settings import ImapSettings
from tests.support.places import public_folder

PASSWORD = "correct-horse"
MISSING = "Debian's Dovecot is not installed: apt-get install dovecot-imapd"
_numbers = count(1)

_CONFIG = """
base_dir = {home}/run
state_dir = {home}/state
log_path = {home}/dovecot.log
protocols = imap
listen = 127.0.0.1
ssl = {ssl}
disable_plaintext_auth = no
auth_mechanisms = plain
default_internal_user = {daemon}
default_internal_group = {group}
default_login_user = {login}
first_valid_uid = 1
mail_location = maildir:{home}/mail/%u
mailbox_idle_check_interval = 1 secs
maildir_very_dirty_syncs = no
passdb {{
  driver = static
  args = password={password}
}}
userdb {{
  driver = static
  args = uid={uid} gid={gid} home={home}/mail/%u
}}
service imap-login {{
  chroot =
  inet_listener imap {{
    port = {port}
  }}
  inet_listener imaps {{
    port = 0
  }}
}}
service anvil {{
  chroot =
}}
"""


class Dovecot:
    """A server below `home`; every user that logs in with `PASSWORD` exists."""

    def __init__(self, home: Path, port: int, pem: bytes = b"") -> None:
        self.home, self.port, self._pem = home, port, pem
        self._process: subprocess.Popen[bytes] | None = None
        self._owner = pwd.getpwnam("nobody") if os.getuid() == 0 else pwd.getpwuid(os.getuid())

    def start(self) -> None:
        """Start, and wait until it answers."""
        config = self.home / "dovecot.conf"
        config.write_text(self._config())
        (self.home / "server.pem").write_bytes(self._pem)
        self._process = subprocess.Popen(["dovecot", "-F", "-c", str(config)], stderr=subprocess.PIPE)
        deadline = time.monotonic() + 20
        while not self._answers():
            if self._process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"Dovecot did not start: {self._complaint()}")
            time.sleep(0.05)

    def stop(self) -> None:
        """Say BYE to everyone and end."""
        if self._process is not None:
            self._process.terminate()
            self._process.wait(120)
            self._process = None

    def imap(self, user: str, **changes: object) -> ImapSettings:
        """How `user` reads mail here."""
        settings = {"host": "127.0.0.1", "port": self.port, "username": user, "password": PASSWORD, "tls": "none"}
        return ImapSettings.model_validate(settings | changes)

    def deliver(self, user: str, raw: bytes, *, folder: str = "") -> Path:
        """Put a mail into the user's folder; the file it lies in."""
        maildir = self.maildir(user, folder)
        name = f"{time.time():.6f}.{os.getpid()}_{next(_numbers)}.test"
        aside = maildir / "tmp" / name
        aside.write_bytes(raw)
        os.chown(aside, self._owner.pw_uid, self._owner.pw_gid)
        return aside.rename(maildir / "new" / name)

    def maildir(self, user: str, folder: str = "") -> Path:
        """The user's Maildir, made if it is new."""
        top = self.home / "mail" / user
        maildir = top / f".{folder}" if folder else top
        for part in (top.parent, top, maildir, *(maildir / name for name in ("tmp", "new", "cur"))):
            part.mkdir(parents=True, exist_ok=True)
            os.chown(part, self._owner.pw_uid, self._owner.pw_gid)
        return maildir

    def forget_uids(self, user: str) -> None:
        """Give every mail of the inbox a new UID under a new UIDVALIDITY, as a restore from a backup does."""
        self.stop()
        for file in self.maildir(user).glob("dovecot*"):
            file.unlink()
        self.start()

    def flags(self, user: str) -> set[str]:
        """All flags that any mail of the inbox carries, as letters of Maildir."""
        return {flag for file in (self.maildir(user) / "cur").iterdir() for flag in file.name.rpartition("2,")[2]}

    def _config(self) -> str:
        root = os.getuid() == 0
        me = pwd.getpwuid(os.getuid()).pw_name
        return _CONFIG.format(
            home=self.home,
            ssl="yes\nssl_cert = <{0}\nssl_key = <{0}".format(self.home / "server.pem") if self._pem else "no",
            port=self.port,
            password=PASSWORD,
            uid=self._owner.pw_uid,
            gid=self._owner.pw_gid,
            daemon="dovecot" if root else me,
            group="dovecot" if root else me,
            login="dovenull" if root else me,
        )

    def _answers(self) -> bool:
        import socket

        try:
            with socket.create_connection(("127.0.0.1", self.port), timeout=5) as connected:
                return connected.recv(4) == b"* OK"
        except OSError:
            return False

    def _complaint(self) -> str:
        log = self.home / "dovecot.log"
        said = log.read_text()[-2000:] if log.exists() else ""
        if self._process is not None and self._process.poll() is not None and self._process.stderr is not None:
            said += self._process.stderr.read().decode()
        return said


@contextmanager
def running_dovecot(pem: bytes = b"") -> Iterator[Dovecot]:
    """A server in a temporary folder, with STARTTLS where it is given key and certificate.

    Skips where Dovecot is not installed, and fails there in CI.
    """
    if shutil.which("dovecot") is None:
        if os.environ.get("CI") == "true":
            pytest.fail(MISSING)
        pytest.skip(MISSING)
    with public_folder("dovecot-") as home:
        server = Dovecot(home, free_port(), pem)
        try:
            server.start()
            yield server
        finally:
            server.stop()
