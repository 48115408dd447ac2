"""The MIME tree, whole and broken."""

from __future__ import annotations

import binascii

from services.mail.language import detect_language
from services.mail.message import Limits
from services.mail.mime import read_mail, take_files
from services.mail.parts import decode_transfer, split

HEAD = b"From: a@b.example\nContent-Type: multipart/mixed; boundary=b\n\n"


def bodies(raw: bytes) -> list[bytes]:
    return [child.raw_body for child in split(raw, Limits()).root.children]


def test_parts_end_before_the_line_break_of_the_boundary() -> None:
    """The line break before a boundary belongs to the boundary (RFC 2046, 5.1.1), with either line end."""
    raw = HEAD + b"preamble\n--b\n\none\n\n--b \n\ntwo\n--b--\nepilogue"
    assert bodies(raw) == [b"one\n", b"two"]
    assert bodies(raw.replace(b"\n", b"\r\n")) == [b"one\r\n", b"two"]


def test_boundary_inside_a_line_is_no_boundary() -> None:
    """Only a whole line is a boundary; a longer one that begins with it is another."""
    assert bodies(HEAD + b"--b\n\nx --b\n--bb\n--b--\n") == [b"x --b\n--bb"]


def test_missing_closing_boundary() -> None:
    """An unclosed part runs to the end and is reported."""
    tree = split(HEAD + b"--b\n\none", Limits())
    assert [child.raw_body for child in tree.root.children] == [b"one"]
    assert tree.defects == ("multipart without its closing boundary",)


def test_multipart_without_any_boundary_is_read_as_text() -> None:
    """A multipart that cannot be split is shown, not lost."""
    mail = read_mail(b"From: a@b.example\nContent-Type: multipart/mixed\n\nHello, is anyone there?")
    assert mail.text == "Hello, is anyone there?"
    assert "multipart without a boundary" in mail.defects


def test_embedded_message_is_an_attachment() -> None:
    """A forwarded message is an attachment: its text is not its forwarder's."""
    mail = read_mail(HEAD + b"--b\n\nsee below\n--b\nContent-Type: message/rfc822\n\nSubject: x\n\nnot mine\n--b--")
    assert mail.text == "see below"
    assert mail.attachments[0].content == b"Subject: x\n\nnot mine"


def test_file_names_hold_no_folder() -> None:
    """A file name is a name and no path, however the sender wrote it."""
    part = b'--b\nContent-Disposition: attachment; filename="%s"\n\nx\n'
    mail = read_mail(HEAD + part % b"../../etc/passwd" + part % b"C:\\\\dir\\\\a.txt" + b"--b--")
    assert [attachment.filename for attachment in mail.attachments] == ["passwd", "a.txt"]


def test_transfer_encodings_are_undone_leniently() -> None:
    """Broken base64 and quoted-printable give what can be read of them, an unknown encoding the bytes."""
    assert decode_transfer(b"aGVsbG8", "base64") == b"hello"
    assert decode_transfer(b"aGV!sbG8=\n!", "base64") == b"hello"
    assert decode_transfer(b"a=20=\nb=zz \nc", "quoted-printable") == b"a b=zz\nc"
    assert decode_transfer(b"x", "x-unknown") == b"x"


def test_of_base64_texts_behind_each_other_the_first_alone_was_read() -> None:
    """A gateway appends its notice as base64 of its own; a list's footer that is none stays out."""
    assert decode_transfer(b"aGVsbG8=\r\nZm9vdGVy\r\nbGFzdA==\r\n", "base64") == b"hellofooterlast"
    assert decode_transfer(b"aGVsbG8=\r\n____\r\nlist of x\r\n", "base64") == b"hello"


def test_prose_that_is_said_to_be_base64_was_lost() -> None:
    """What no decoder could have made is left as it stands."""
    prose = b"The lid of my pan is cracked and I would like a new one."
    assert decode_transfer(prose, "base64") == prose


def test_old_mac_line_ends() -> None:
    """A mail whose lines end with carriage returns alone is read."""
    assert read_mail(b"Subject: x\rFrom: a@b.example\r\rHello").text == "Hello"


def test_uuencoded_files() -> None:
    """A uuencoded file is taken out of the text; an unfinished one stays in it."""
    line = binascii.b2a_uu(b"hello").decode()
    text, files = take_files(f"before\nbegin 644 a b.txt\n{line}`\nend\nafter\nbegin 644 c\n{line}")
    assert text == f"before\nafter\nbegin 644 c\n{line}"
    assert files == (("a b.txt", b"hello"),)


def test_language() -> None:
    """The language is told from a sentence, and not from a word."""
    assert detect_language("Guten Tag, ich habe eine Frage zu meiner Bestellung von gestern.") == "de"
    assert detect_language("Bonjour, je n'ai toujours pas reçu ma commande, pouvez-vous m'aider ?") == "fr"
    assert detect_language("ok thanks") == ""
    assert detect_language("本人正在休产假,工作由陈静接替。") == "zh"
