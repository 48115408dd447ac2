"""Where a secret of the settings may come from, in one way for all of them, and what is said of a wrong one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel, SecretStr
from pydantic.fields import FieldInfo

from services.core.secret_values import file_of, is_secret
from services.core.settings import InboxSettings, Settings, SettingsWrong, read_settings

PASSWORD = "correct horse ${battery} staple"
SETTINGS = """
database_url = "postgresql://us:${DB_PASSWORD}@db:5432/mail"
master_keys_file = "%(folder)s/secret"
former_secrets = ["${OLD_SECRET}", "0123456789abcdef-two"]
[smtp]
password_file = "%(folder)s/secret"
[model]
api_key = "${MODEL_KEY}"
[blobs]
secret_access_key = "a$${b}c"
[[inboxes]]
name = "support"
address = "support@shop.example"
imap = { host = "mail", username = "u", password = "in the ${PLACE} of it" }
smtp = { host = "mail", username = "u", oauth = { token_url = "u", client_id = "c", refresh_token = "${TOKEN}" } }
"""


@pytest.fixture
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, value in {
        "DB_PASSWORD": "db pass", "OLD_SECRET": "0123456789abcdef", "MODEL_KEY": "sk-1", "PLACE": "middle",
        "TOKEN": "a token",
    }.items():  # fmt: skip
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("CORRESPONDENT_CONFIG", str(tmp_path / "correspondent.toml"))
    (tmp_path / "secret").write_text(PASSWORD + "\n")
    path = tmp_path / "correspondent.toml"
    path.write_text(SETTINGS % {"folder": tmp_path})
    return path


def test_every_password_of_the_file_stood_in_it_in_clear(config: Path) -> None:
    """A secret is named by `${NAME}`, wherever it stands in the text, or by a file; what a file holds is taken as it is."""
    said = read_settings()
    [inbox] = said.inboxes
    assert inbox.imap is not None
    assert inbox.smtp is not None
    assert inbox.smtp.oauth is not None
    assert said.database_url == "postgresql://us:db pass@db:5432/mail"
    assert said.master_keys.get_secret_value() == said.smtp.password.get_secret_value() == PASSWORD
    assert [one.get_secret_value() for one in said.former_secrets] == ["0123456789abcdef", "0123456789abcdef-two"]
    assert said.model.key == "sk-1"
    assert said.blobs.secret_access_key.get_secret_value() == "a${b}c"
    assert inbox.imap.password.get_secret_value() == "in the middle of it"
    assert inbox.smtp.oauth.refresh_token.get_secret_value() == "a token"


def test_the_environment_names_files_at_every_level(config: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`CORRESPONDENT_SECRET_FILE` and `CORRESPONDENT_EMBEDDINGS__API_KEY_FILE`, as containers are given secrets."""
    monkeypatch.setenv("CORRESPONDENT_SECRET_FILE", str(config.parent / "secret"))
    monkeypatch.setenv("CORRESPONDENT_EMBEDDINGS__API_KEY_FILE", str(config.parent / "secret"))
    said = read_settings()
    assert said.secret.get_secret_value() == said.embeddings.api_key.get_secret_value() == PASSWORD


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ('[smtp]\npassword = "x${NO_SUCH_ONE}"', "smtp.password is in the environment variable NO_SUCH_ONE, which is not"),
        ('redis_url = "redis://:${NO_SUCH_ONE}@r"', "redis_url is in the environment variable NO_SUCH_ONE, which is not"),
        ('[smtp]\npassword_file = "/no/such/file"', "smtp.password_file: /no/such/file cannot be read: No such file"),
        ('[smtp]\npassword_file = "."', "smtp.password_file: . cannot be read: Is a directory"),
        ('[smtp]\npassword = "x"\npassword_file = "y"', "smtp.password and password_file are both set: say one of them"),
        ('[smtp]\npasword_file = "y"', "smtp.pasword_file: there is no such setting"),
        ('[smtp]\nhost_file = "y"', "smtp.host_file: there is no such setting"),
    ],
)  # fmt: skip
def test_a_secret_that_is_not_there_is_said_with_the_settings_name(config: Path, said: str, words: str) -> None:
    """The line names the setting, the variable or the file, and no secret."""
    config.write_text(said)
    with pytest.raises(SettingsWrong) as error:
        read_settings()
    assert str(error.value).startswith(words)


@pytest.mark.parametrize(
    ("content", "words"), [(b"", "is empty"), (b"\xff\xfe", "no text"), (b"x" * 100_001, "larger")]
)
def test_a_file_that_holds_no_secret_is_named(config: Path, content: bytes, words: str) -> None:
    """Empty, of other bytes, or a disk's image: no password is made of it."""
    (config.parent / "secret").write_bytes(content)
    with pytest.raises(SettingsWrong, match=words):
        read_settings()


def test_what_is_no_secret_is_left_as_it_is(config: Path) -> None:
    """A persona may speak of ${prices}; a secret that is given as an object is final."""
    inbox = InboxSettings(name="n", address="a@x.example", persona="Say ${prices}.")
    assert inbox.persona == "Say ${prices}."
    assert Settings(secret=SecretStr("0123456789abcdef${X}")).secret.get_secret_value().endswith("${X}")


def test_every_setting_that_is_named_like_a_secret_is_one() -> None:
    """No password, token or key is kept as plain text, and each may lie in a file."""
    for model, name, field in _fields(Settings):
        if name.endswith(("password", "token", "secret", "api_key", "access_key", "signing_key")):
            assert is_secret(field), f"{model.__name__}.{name}"
            assert file_of(model, name) or f"{name}_file" in model.model_fields, f"{model.__name__}.{name}"


def _fields(model: type[BaseModel]) -> Iterator[tuple[type[BaseModel], str, FieldInfo]]:
    for name, field in model.model_fields.items():
        yield model, name, field
        for inner in _models(field.annotation):
            yield from _fields(inner)


def _models(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for one in getattr(annotation, "__args__", ()):
        yield from _models(one)
