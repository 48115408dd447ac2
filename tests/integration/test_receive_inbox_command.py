"""`correspondent inbox`: from an address and a password to an inbox that is read, and what is said on the way."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from deploy.local import Endpoints
from services.cli.main import app as command_line
from services.core.settings import read_settings
from services.operations.config_file import ConfigUnusable
from services.receive_email.imap.folder import Folder, FolderPlace
from services.receive_email.imap.positions import begin, load
from tests.support.dovecot import PASSWORD, Dovecot, running_dovecot
from tests.support.imap import receiving_app, settings_for


@pytest.fixture(scope="module")
def dovecot() -> Iterator[Dovecot]:
    with running_dovecot() as server:
        yield server


@pytest.fixture
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stack: Endpoints) -> Path:
    """A settings file that names the session's SMTP sink, and nothing else."""
    path = tmp_path / "correspondent.toml"
    path.write_text(f'[smtp]\nhost = "{stack.smtp_host}"\nport = {stack.smtp_port}\n')
    monkeypatch.setenv("CORRESPONDENT_CONFIG", str(path))
    return path


def run(tmp_path: Path, *arguments: str) -> Result:
    return CliRunner().invoke(command_line, ["--home", str(tmp_path / "var"), "inbox", *arguments])


def adding(dovecot: Dovecot, password: str = PASSWORD) -> list[str]:
    way = ["--imap-host", "127.0.0.1", "--imap-port", str(dovecot.port), "--imap-tls", "none", "--username", "dora"]
    return ["add", "support", "support@shop.example", *way, "--password", password]


@pytest.mark.dovecot
def test_an_inbox_is_added_after_it_was_tried(dovecot: Dovecot, config: Path, tmp_path: Path) -> None:
    """All steps pass, the entry is in the settings file, and what comes next is said."""
    dovecot.maildir("dora")
    said = run(tmp_path, *adding(dovecot))
    assert said.exit_code == 0, said.output
    assert "begins at its newest mail" in said.output
    inbox = read_settings().inbox("support")
    assert inbox.imap is not None
    assert inbox.imap.password.get_secret_value() == PASSWORD
    assert run(tmp_path, "test", "support").exit_code == 0


@pytest.mark.dovecot
def test_an_inbox_that_fails_is_not_written(dovecot: Dovecot, config: Path, tmp_path: Path) -> None:
    """A wrong password is named with its remedy, and the settings file stays as it was."""
    before = config.read_text()
    said = run(tmp_path, *adding(dovecot, password="wrong"))
    assert said.exit_code == 1
    assert "imap login" in said.output
    assert "app password" in said.output
    assert config.read_text() == before


@pytest.mark.dovecot
async def test_pausing_and_removing_keep_the_position(
    dovecot: Dovecot, config: Path, stack: Endpoints, database: str, topic_prefix: str, tmp_path: Path
) -> None:
    """After pause, resume, remove and add, the folder is read on from where it stood."""
    settings = settings_for(stack, database, topic_prefix, tmp_path, inboxes=[])
    dovecot.maildir("dora")
    assert (await asyncio.to_thread(run, tmp_path, *adding(dovecot))).exit_code == 0
    inbox = read_settings().inbox("support")
    assert inbox.imap is not None
    async with receiving_app(settings) as app:
        place = FolderPlace(app, inbox, inbox.imap)
        stood = await begin(place, Folder(uidvalidity=7, uidnext=42))
        for command in ("pause", "resume", "remove"):
            said = await asyncio.to_thread(run, tmp_path, command, "support")
            assert said.exit_code == 0, said.output
            if command != "remove":
                assert read_settings().inbox("support").paused is (command == "pause")
        assert read_settings().inboxes == ()
        assert (await asyncio.to_thread(run, tmp_path, *adding(dovecot))).exit_code == 0
        assert await load(place) == stood


def test_an_inbox_that_is_not_there_cannot_be_paused(config: Path, tmp_path: Path) -> None:
    """The names that there are come with the refusal."""
    said = run(tmp_path, "pause", "sales")
    assert isinstance(said.exception, ConfigUnusable)
    assert "no inbox named 'sales'" in str(said.exception)


def test_the_list_shows_inboxes_even_without_a_deployment(config: Path, tmp_path: Path) -> None:
    """Without a database the list says so, and shows what the settings hold."""
    config.write_text(config.read_text() + '[[inboxes]]\nname = "shop"\naddress = "shop@shop.example"\npaused = true\n')
    said = run(tmp_path, "list")
    assert said.exit_code == 0, said.output
    assert "paused" in said.output
    assert "webhook or files" in said.output


TOLD = b"Authentication-Results: mx.shop.example; dmarc=pass header.from=acme.example\r\n"
ARRIVED = b"Received: from out.acme.example by mx.shop.example; Mon, 2 Mar 2026 09:00:00 +0000\r\n"
BODY = b"From: ann@acme.example\r\nSubject: Hi\r\n\r\nHi\r\n"


@pytest.mark.dovecot
@pytest.mark.parametrize(
    ("mails", "answer", "said", "written"),
    [
        ([TOLD + ARRIVED] * 3, "y", "in 3 above its own Received line", {"own_authserv_ids": ["mx.shop.example"]}),
        ([TOLD + ARRIVED] * 3, "n", 'own_authserv_ids = ["mx.shop.example"]', {}),
        ([ARRIVED + TOLD] * 3, "y", "removes results which others wrote",
         {"own_authserv_ids": ["mx.shop.example"], "stripping_authserv_ids": ["mx.shop.example"]}),
        ([ARRIVED] * 3, "y", "the server writes none", {}),
        ([ARRIVED, ARRIVED, ARRIVED + TOLD], "y", "1 of the newest 3 mails have results", {}),
        ([], "y", "There is no mail yet", {}),
    ],
)  # fmt: skip
def test_an_inbox_was_added_without_a_word_about_who_is_proven(
    dovecot: Dovecot, config: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    mails: list[bytes], answer: str, said: str, written: dict[str, list[str]],
) -> None:  # fmt: skip
    """What the mails show of the server's results is said, and its name is written where the operator says yes."""
    user = f"senders{abs(hash((said, answer)))}"
    dovecot.maildir(user)
    for head in mails:
        dovecot.deliver(user, head + BODY)
    monkeypatch.setattr("services.cli.inbox.senders.is_interactive", lambda: True)
    way = ["--imap-host", "127.0.0.1", "--imap-port", str(dovecot.port), "--imap-tls", "none", "--username", user]
    done = CliRunner().invoke(
        command_line,
        [
            "--home",
            str(tmp_path / "var"),
            "inbox",
            "add",
            "support",
            "support@shop.example",
            *way,
            "--password",
            PASSWORD,
        ],
        input=f"{answer}\n",
    )
    assert done.exit_code == 0, done.output
    shown = " ".join(done.output.split())
    assert said in shown
    assert "own_authserv_ids" in shown
    found = read_settings()
    assert list(found.own_authserv_ids) == written.get("own_authserv_ids", [])
    assert list(found.stripping_authserv_ids) == written.get("stripping_authserv_ids", [])


@pytest.mark.dovecot
def test_a_password_of_a_new_inbox_had_to_stand_in_the_settings(
    dovecot: Dovecot, config: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It may be named, or lie in a file; what is typed is meant as it stands."""
    dovecot.maildir("dora")
    monkeypatch.setenv("SHOP_PASSWORD", PASSWORD)
    assert run(tmp_path, *adding(dovecot, password="${SHOP_PASSWORD}")).exit_code == 0
    assert PASSWORD not in config.read_text()
    assert run(tmp_path, "remove", "support").exit_code == 0
    (tmp_path / "password").write_text(PASSWORD + "\n")
    said = run(tmp_path, *adding(dovecot)[:-2], "--password-file", str(tmp_path / "password"))
    assert said.exit_code == 0, said.output
    inbox = read_settings().inbox("support")
    assert inbox.imap is not None
    assert inbox.imap.password.get_secret_value() == PASSWORD
    assert PASSWORD not in config.read_text()
