"""read_mailbox: files, mboxes and Maildirs."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from services.mail.mbox import count_messages, read_mailbox


def test_eml_file(tmp_path: Path) -> None:
    """A file is one message, named by its path, its bytes unchanged."""
    file = tmp_path / "a.eml"
    file.write_bytes(b"Subject: x\r\n\r\nFrom here\r\n")
    assert list(read_mailbox(file)) == [(str(file), b"Subject: x\r\n\r\nFrom here\r\n")]


def test_mbox(tmp_path: Path) -> None:
    """An mbox is split at `From ` lines behind empty lines, and quoted ones are unquoted."""
    file = tmp_path / "box"
    file.write_bytes(
        b"From a@b.example Mon\nSubject: 1\n\n>From here\nFrom there\n\n"
        b"From a@b.example Tue\nSubject: 2\n\n>>From\n>>From x\n"
    )
    assert list(read_mailbox(file)) == [
        (f"{file}#0", b"Subject: 1\n\nFrom here\nFrom there\n"),
        (f"{file}#1", b"Subject: 2\n\n>>From\n>From x\n"),
    ]
    assert count_messages(file) == 2


def test_maildir_with_folders(tmp_path: Path) -> None:
    """Of a Maildir, `new` and `cur` of every folder are read, `tmp` and index files are not; flags are no name."""
    for name in ("new", "cur", "tmp", ".Sent/cur", ".Sent/new", "Old/cur"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "new" / "1").write_bytes(b"one")
    (tmp_path / "cur" / "2:2,S").write_bytes(b"two")
    (tmp_path / "tmp" / "3").write_bytes(b"never")
    (tmp_path / "dovecot.index").write_bytes(b"never")
    (tmp_path / ".Sent" / "cur" / "4:2,RS").write_bytes(b"four")
    (tmp_path / "Old" / "cur" / "5").write_bytes(b"five")
    found = dict(read_mailbox(tmp_path))
    assert {Path(origin).relative_to(tmp_path).as_posix(): raw for origin, raw in found.items()} == {
        "1": b"one",
        "2": b"two",
        ".Sent/4": b"four",
        "Old/5": b"five",
    }
    assert count_messages(tmp_path) == 4


def test_folder_of_files(tmp_path: Path) -> None:
    """A plain folder is read with all below it, in a stable order, hidden files and links left out."""
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "2.eml").write_bytes(b"two")
    (tmp_path / "1.eml").write_bytes(b"one")
    (tmp_path / ".hidden").write_bytes(b"never")
    (tmp_path / "loop").symlink_to(tmp_path)
    assert [raw for _, raw in read_mailbox(tmp_path)] == [b"one", b"two"]


def test_nothing_there(tmp_path: Path) -> None:
    """A path where nothing is yields nothing."""
    assert list(read_mailbox(tmp_path / "absent")) == []
    assert count_messages(tmp_path / "absent") == 0


@pytest.mark.timeout(60)
def test_a_pipe_in_a_folder_of_mails_stopped_an_import_for_ever(tmp_path: Path) -> None:
    """What is no file, such as a pipe that an archive brought along, is skipped: reading it would wait for its writer."""
    (tmp_path / "a.eml").write_bytes(b"Subject: 1\n\nx\n")
    os.mkfifo(tmp_path / "b.eml")
    for part in ("new", "cur"):
        (tmp_path / "box" / part).mkdir(parents=True)
    os.mkfifo(tmp_path / "box" / "new" / "1:2,S")
    assert count_messages(tmp_path) == 1
    assert [raw for _, raw in read_mailbox(tmp_path)] == [b"Subject: 1\n\nx\n"]
