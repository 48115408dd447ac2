"""What a search for a person reads of a file: everything that is packed in it, and a word where it cannot."""

from __future__ import annotations

import base64
import gzip
import zipfile
from io import BytesIO

import pytest

from services.operations.erase import inside
from services.operations.erase.inside import texts_in

WORD = "zanzibarite"


def zipped(content: bytes, name: str = "letter.txt") -> bytes:
    made = BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr(name, content)
    return made.getvalue()


def mailed(content: bytes, encoding: str = "base64") -> bytes:
    return (
        b"From: Bob <bob@x.example>\r\nMIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n"
        b"--b\r\nContent-Type: text/plain\r\n\r\nSee there.\r\n"
        b"--b\r\nContent-Type: application/octet-stream\r\nContent-Disposition: attachment; filename=a.zip\r\n"
        b"Content-Transfer-Encoding: " + encoding.encode() + b"\r\n\r\n" + base64.encodebytes(content) + b"--b--\r\n"
    )


def found(content: bytes, *, mail: bool = False) -> bool:
    return any(WORD in text for text in texts_in(content, mail=mail) if text is not None)


PLAIN = f"The {WORD} export is slow, whatever we do about it, day after day.\n".encode() * 20


@pytest.mark.parametrize(
    ("content", "mail"),
    [
        (PLAIN, False),
        (gzip.compress(PLAIN), False),
        (zipped(PLAIN), False),
        (zipped(gzip.compress(PLAIN), "old.gz"), False),
        (zipped(b"nothing", f"{WORD}.txt"), False),
        (mailed(zipped(PLAIN)), True),
        (mailed(PLAIN), True),
        (b"From: x@x.example\r\nSubject: =?utf-8?B?" + base64.b64encode(WORD.encode()) + b"?=\r\n\r\nhi", True),
    ],
    ids=["plain", "gzip", "zip", "gzip in zip", "name in zip", "zip in mail", "mail", "subject"],
)
def test_a_word_is_found_wherever_it_is_packed(content: bytes, mail: bool) -> None:
    """In the clear, in gzip, in a zip's members and their names, in a mail's decoded parts, one inside the other."""
    assert found(content, mail=mail)
    assert None not in list(texts_in(content, mail=mail))


def encrypted() -> bytes:
    content = bytearray(zipped(PLAIN))
    for mark in (b"PK\x03\x04", b"PK\x01\x02"):
        content[content.index(mark) + (6 if mark[2] == 3 else 8)] |= 1
    return bytes(content)


@pytest.mark.parametrize(
    "content",
    [encrypted(), gzip.compress(PLAIN)[:-20], zipped(PLAIN)[:-20], b"PK\x03\x04 no zip"],
    ids=["encrypted", "gzip cut short", "zip cut short", "no zip"],
)
def test_what_cannot_be_looked_into_is_said(content: bytes) -> None:
    """Encrypted, cut short or damaged: nothing raises, and a None says that something was not read."""
    assert None in list(texts_in(content))


def test_a_file_that_unpacks_without_end_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    """One member over the limit, and files packed deeper than the limit, are not read into memory, and are said."""
    deep = PLAIN
    for _ in range(inside.DEEPEST + 2):
        deep = gzip.compress(deep)
    assert list(texts_in(deep))[-1] is None
    monkeypatch.setattr(inside, "LARGEST", 100)
    assert list(texts_in(gzip.compress(b"a" * 101)))[-1] is None
    assert None not in list(texts_in(gzip.compress(b"a" * 100)))
