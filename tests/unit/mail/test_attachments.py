"""Types by content, and text got in a child process that hostile documents cannot outgrow."""

from __future__ import annotations

import hashlib
import io
import struct
import subprocess
import sys
import zipfile

import docx
from pypdf import PdfWriter
from pypdf.generic import DecodedStreamObject, DictionaryObject, NameObject

from services.mail.attachments import CHILD_FLAGS, ExtractionLimits, attachment_text
from services.mail.content_types import detect
from services.mail.message import Attachment
from tests.support.documents import zip_bomb, zip_of

TIGHT = ExtractionLimits(cpu_seconds=2, wall_seconds=6, memory_bytes=256 * 1024 * 1024)


def attached(content: bytes, claimed: str = "application/octet-stream", name: str = "") -> Attachment:
    content_type = detect(content, claimed, name)
    return Attachment(name, content_type, claimed, "", False, hashlib.sha256(content).hexdigest(), content)


def pdf_bytes(text: str, password: str = "") -> bytes:
    writer = PdfWriter()
    page = writer.add_blank_page(300, 300)
    font = DictionaryObject(
        {
            NameObject("/Type"): NameObject("/Font"),
            NameObject("/Subtype"): NameObject("/Type1"),
            NameObject("/BaseFont"): NameObject("/Helvetica"),
        }
    )
    fonts = DictionaryObject({NameObject("/F1"): font})
    page[NameObject("/Resources")] = DictionaryObject({NameObject("/Font"): fonts})
    stream = DecodedStreamObject()
    stream.set_data(f"BT /F1 12 Tf 10 100 Td ({text}) Tj ET".encode())
    page[NameObject("/Contents")] = writer._add_object(stream)
    if password:
        writer.encrypt(password, algorithm="RC4-128")
    buffer = io.BytesIO()
    writer.write(buffer)
    return buffer.getvalue()


def docx_bytes() -> bytes:
    document = docx.Document()
    document.add_paragraph("The pan is broken.")
    table = document.add_table(1, 2)
    table.cell(0, 0).text, table.cell(0, 1).text = "Order", "A-1001"
    buffer = io.BytesIO()
    document.save(buffer)
    return buffer.getvalue()


def test_type_is_told_from_content() -> None:
    """A claim does not make a program a picture."""
    assert detect(b"MZ\x90\x00" + bytes(100), "image/png", "cat.png") == "application/vnd.microsoft.portable-executable"
    assert detect(pdf_bytes("x"), "text/plain", "a.txt") == "application/pdf"
    assert detect(docx_bytes(), "application/zip").endswith("wordprocessingml.document")
    assert detect(b"a,b\n1,2\n", "application/octet-stream", "list.CSV") == "text/csv"
    assert detect(b"<!DOCTYPE html><p>", "text/plain") == "text/html"
    assert detect(bytes(range(256)), "application/pdf") == "application/octet-stream"


def test_pdf_text() -> None:
    """The words of a PDF are read."""
    found = attachment_text(attached(pdf_bytes("Order A-1001 is broken")))
    assert (found.verdict, found.text) == ("text", "Order A-1001 is broken")


def test_docx_text() -> None:
    """Paragraphs and tables of a DOCX are read in order."""
    found = attachment_text(attached(docx_bytes()))
    assert (found.verdict, found.text) == ("text", "The pan is broken.\n\nOrder | A-1001\n--- | ---")


def test_forwarded_mail_and_html() -> None:
    """A mail attached to a mail, and an HTML file, are read as text."""
    mail = attachment_text(attached(b"Subject: Broken\n\nThe pan is broken.", "message/rfc822"))
    assert (mail.verdict, mail.text) == ("text", "Broken\n\nThe pan is broken.")
    page = attachment_text(attached(b"<html><p>Order <b>A-1001</b>", "text/html"))
    assert (page.verdict, page.text) == ("text", "Order A-1001")


def test_plain_text_in_an_old_charset() -> None:
    """Text that is not UTF-8 is read as windows-1252."""
    found = attachment_text(attached("Größe;Preis\n3;4 €\n".encode("cp1252"), "text/csv", "p.csv"))
    assert (found.verdict, found.text) == ("text", "Größe;Preis\n3;4 €\n")


def test_encrypted_pdf_is_for_a_person() -> None:
    """An encrypted PDF is for a person."""
    found = attachment_text(attached(pdf_bytes("secret", "password")))
    assert (found.verdict, found.reason, found.text) == ("human", "encrypted", "")


def test_encrypted_zip_is_for_a_person() -> None:
    """An encrypted archive is for a person."""
    archive = bytearray(zip_of({"a.txt": b"x"}))
    archive[archive.index(b"PK\x01\x02") + 8] |= 1
    found = attachment_text(attached(bytes(archive)))
    assert (found.verdict, found.reason) == ("human", "encrypted")


def test_archive_is_listed() -> None:
    """An archive is listed and not unpacked: an archive inside it is only a name."""
    found = attachment_text(attached(zip_of({"a.txt": b"hello", "inner.zip": zip_of({"b": b"x" * 100})})))
    assert found.verdict == "listing"
    assert found.text.splitlines()[0] == "a.txt (5 bytes)"
    assert "inner.zip" in found.text
    assert "hello" not in found.text


def test_tnef_is_listed() -> None:
    """A winmail.dat names the files that it holds."""

    def record(name: int, data: bytes) -> bytes:
        return struct.pack("<BII", 2, name, len(data)) + data + b"\0\0"

    tnef = b"\x78\x9f\x3e\x22\x01\x00" + record(0x0006800F, b"x" * 7) + record(0x00018010, b"plan.doc\0")
    found = attachment_text(attached(tnef, "application/ms-tnef", "winmail.dat"))
    assert (found.verdict, found.text) == ("listing", "plan.doc (7 bytes)")


def test_docx_bomb() -> None:
    """A DOCX that unpacks to gigabytes is refused by what it says of itself."""
    bomb = zip_bomb()
    assert len(bomb) < 1_000_000
    found = attachment_text(attached(bomb))
    assert (found.verdict, "unpacks" in found.reason) == ("human", True)


def test_docx_that_fills_memory() -> None:
    """A DOCX within the size limit whose tree would fill the memory ends its own process only."""
    body = b"<w:p><w:r><w:t>a</w:t></w:r></w:p>" * 2_500_000
    head = b'<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body>'
    original = zipfile.ZipFile(io.BytesIO(docx_bytes()))
    files = {name: original.read(name) for name in original.namelist()}
    files["word/document.xml"] = head + body + b"</w:body></w:document>"
    found = attachment_text(attached(zip_of(files)), TIGHT)
    assert (found.verdict, found.text) == ("human", "")
    assert found.reason


def test_pdf_page_loop() -> None:
    """A PDF whose page tree holds itself ends within the limits."""
    loop = (
        b"%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n"
        b"2 0 obj<</Type/Pages/Count 99999999/Kids[2 0 R 2 0 R]>>endobj\n"
        b"trailer<</Root 1 0 R/Size 3>>\n%%EOF"
    )
    found = attachment_text(attached(loop), TIGHT)
    assert found.verdict == "human"


def test_huge_csv_is_cut() -> None:
    """Of a huge table the first part is kept, and the answer says so."""
    found = attachment_text(attached(b"1,2,3\n" * 2_000_000, "text/csv", "a.csv"))
    assert (found.verdict, len(found.text)) == ("text", ExtractionLimits().text_characters)
    assert "first 100000" in found.reason


def test_slow_reader_is_ended() -> None:
    """A reader that takes longer than the limit of time is ended."""
    found = attachment_text(attached(pdf_bytes("x")), ExtractionLimits(wall_seconds=0))
    assert (found.verdict, "longer" in found.reason) == ("human", True)


def test_broken_documents_raise_nothing() -> None:
    """Broken documents of every kind are for a person."""
    for content in (b"%PDF-1.7 nothing", zip_of({"word/document.xml": b"<"}), b"PK\x03\x04broken"):
        assert attachment_text(attached(content)).verdict == "human"


def test_pictures_have_no_text() -> None:
    """A picture has no words, and nobody needs to look for them."""
    assert attachment_text(attached(b"\x89PNG\r\n\x1a\n", "image/png")).verdict == "none"


def test_the_limited_child_left_a_library_cut_short_in_the_bytecode_cache() -> None:
    """The child has no say in what is cached: under its limit on file sizes a module was cut short for everybody."""
    said = subprocess.run(
        [sys.executable, *CHILD_FLAGS, "-c", "import sys; print(sys.dont_write_bytecode, sys.flags.isolated)"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert said.stdout.split() == ["True", "1"]
