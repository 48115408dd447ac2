"""Types by content, and text got in a child process that hostile documents cannot outgrow."""

from __future__ import annotations

import hashlib
import io
import struct
import subprocess
import sys
import zipfile
from dataclasses import asdict

import docx
import pytest
from lxml import etree
from pypdf import PdfWriter
from pypdf.generic import ArrayObject, DecodedStreamObject, DictionaryObject, FloatObject, NameObject

from services.mail import attachment_child
from services.mail.attachments import CHILD_FLAGS, ExtractionLimits, attachment_text
from services.mail.content_types import detect
from services.mail.message import Attachment
from tests.support.documents import zip_bomb, zip_of

TIGHT = ExtractionLimits(cpu_seconds=2, wall_seconds=6, memory_bytes=256 * 1024 * 1024)


def attached(content: bytes, claimed: str = "application/octet-stream", name: str = "") -> Attachment:
    content_type = detect(content, claimed, name)
    return Attachment(name, content_type, claimed, "", False, hashlib.sha256(content).hexdigest(), content)


def pdf_bytes(text: str, password: str = "", drawn: str = "", form: str = "") -> bytes:
    """A page that shows a text; or what `drawn` draws, to which `form` is the form /X, and a layer /L is switched off."""
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
    resources = DictionaryObject({NameObject("/Font"): fonts})
    page[NameObject("/Resources")] = resources
    layer = writer._add_object(DictionaryObject({NameObject("/Type"): NameObject("/OCG")}))
    states = {"/C": ("/ca", FloatObject(0)), "/M": ("/BM", NameObject("/Multiply"))}
    resources[NameObject("/Properties")] = DictionaryObject({NameObject("/L"): layer})
    resources[NameObject("/ExtGState")] = DictionaryObject(
        {NameObject(name): DictionaryObject({NameObject(key): value}) for name, (key, value) in states.items()}
    )
    off = DictionaryObject({NameObject("/OFF"): ArrayObject([layer])})
    layers = {NameObject("/OCGs"): ArrayObject([layer]), NameObject("/D"): off}
    writer.root_object[NameObject("/OCProperties")] = DictionaryObject(layers)
    inner = DecodedStreamObject()
    inner.set_data(form.encode())
    inner.update({NameObject("/Subtype"): NameObject("/Form"), NameObject("/Resources"): resources})
    forms = DictionaryObject({NameObject("/X"): writer._add_object(inner.flate_encode() if form else inner)})
    resources[NameObject("/XObject")] = forms
    stream = DecodedStreamObject()
    stream.set_data((drawn or f"BT /F1 12 Tf 10 100 Td ({text}) Tj ET").encode())
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


def read_here(kind: str, content: bytes, *, everything: bool = False) -> str:
    """What the child process reads, without its process."""
    return attachment_child.READERS[kind](content, asdict(ExtractionLimits(all=everything))).text


SEEN = "BT /F1 12 Tf 10 200 Td (Hello) Tj ET "
TEXT = "BT /F1 12 Tf 10 100 Td (secret) Tj ET"


@pytest.mark.parametrize(
    ("drawn", "form"),
    [
        ("1 g " + TEXT, ""),
        ("0.98 1 0.99 rg " + TEXT, ""),
        ("0 0 0 0 k " + TEXT, ""),
        ("/DeviceGray cs 1 sc " + TEXT, ""),
        ("/DeviceRGB cs 1 1 1 scn " + TEXT, ""),
        ("0 0 1 rg 0 90 300 30 re f " + TEXT, ""),
        ("3 Tr " + TEXT, ""),
        ("7 Tr " + TEXT, ""),
        ("BT /F1 1 Tf 10 100 Td (secret) Tj ET", ""),
        ("BT /F1 12 Tf 0.01 0 0 0.01 10 100 Tm (secret) Tj ET", ""),
        ("q 0.05 0 0 0.05 0 0 cm BT /F1 12 Tf 10 100 Td (secret) Tj ET Q", ""),
        ("BT /F1 12 Tf 10 400 Td (secret) Tj ET", ""),
        ("BT /F1 12 Tf -900 100 Td (secret) Tj ET", ""),
        ("BT /F1 12 Tf 1 0 0 1 10 -500 Tm [(sec) -5 (ret)] TJ ET", ""),
        ("BT /F1 12 Tf 10 100 Td 400 TL T* T* (secret) Tj ET", ""),
        ("/C gs " + TEXT, ""),
        ("0 250 10 10 re W n " + TEXT, ""),
        ("/OC /L BDC " + TEXT + " EMC", ""),
        (TEXT + " 1 g 0 90 300 30 re f", ""),
        ("/X Do", "1 g " + TEXT),
        ("1 g /X Do", TEXT),
        ("1 0 0 1 0 -900 cm /X Do", TEXT),
    ],
)
def test_what_a_pdf_hides_was_read_as_its_words(drawn: str, form: str) -> None:
    """Text in no colour, or that of what is behind it, too small, off the page, clipped, switched off or covered is no part."""
    both = pdf_bytes("", drawn=f"{SEEN} q {drawn} Q", form=form)
    assert read_here("pdf", both) == "Hello"
    with pytest.raises(attachment_child.Unreadable, match="seen"):
        read_here("pdf", pdf_bytes("", drawn=f"q {drawn} Q", form=form))
    assert "secret" in read_here("pdf", both, everything=True)


@pytest.mark.parametrize(
    ("drawn", "form"),
    [
        (TEXT, ""),
        ("0 0 1 rg 0 90 300 30 re f 1 g " + TEXT, ""),
        (TEXT + " /M gs 1 1 0 rg 0 90 300 30 re f", ""),
        ("0 0 0 1 k " + TEXT, ""),
        ("/X Do", TEXT),
        ("q 1 g Q " + TEXT, ""),
        ("q 3 Tr Q " + TEXT, ""),
        ("0 0 300 300 re W n " + TEXT, ""),
        ("BT /F1 1 Tf 12 0 0 12 10 100 Tm (secret) Tj ET", ""),
        ("BT /F1 12 Tf 0 12 -12 0 100 100 Tm (secret) Tj ET", ""),
        ("BT /F1 0.1 Tf q 120 0 0 120 0 0 cm BT 0.1 0.8 Td (secret) Tj ET Q", ""),
    ],
)
def test_what_a_pdf_shows_stays(drawn: str, form: str) -> None:
    """White on a dark ground, highlighted, turned, scaled, in a form: whatever is seen is read."""
    assert read_here("pdf", pdf_bytes("", drawn=f"q {drawn} Q", form=form)).strip() == "secret"


def test_what_a_form_shows_beside_what_it_hides_stays() -> None:
    """Of a compressed form only what nobody sees is taken out."""
    form = "BT /F1 12 Tf 10 200 Td (seen) Tj ET 1 g " + TEXT
    assert read_here("pdf", pdf_bytes("", drawn="/X Do", form=form)) == "seen"


def test_text_of_which_nobody_but_the_font_knows_the_letters_stays() -> None:
    """What is kept of a page is kept byte by byte: fonts of PDFs number their letters as they like."""
    shown = "BT /F1 12 Tf 10 200 Td <00E4FF80C3A4> Tj ET "
    both = read_here("pdf", pdf_bytes("", drawn=f"{shown} 1 g {TEXT}"))
    assert both == read_here("pdf", pdf_bytes("", drawn=shown))


def run(properties: str, text: str = "secret") -> str:
    """A run of a DOCX."""
    return f"<w:r><w:rPr>{properties}</w:rPr><w:t>{text}</w:t></w:r>"


def docx_of(paragraph: str, style: str = "") -> bytes:
    """A DOCX with `Hello` and a paragraph; `style` is what its paragraphs' own style sets."""
    document = docx.Document()
    document.add_paragraph("Hello")
    for part, into in ((paragraph, document.element.body), (style, document.styles.element)):
        names = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
        for one in etree.fromstring(f"<a {names}>{part}</a>"):
            into.insert(1, one)
    buffer = io.BytesIO()
    document.save(buffer)
    return buffer.getvalue()


def par(*runs: str, properties: str = "") -> str:
    """A paragraph of a DOCX."""
    return f"<w:p><w:pPr>{properties}</w:pPr>{''.join(runs)}</w:p>"


HIDDEN = '<w:style w:type="{kind}" w:styleId="H"><w:name w:val="H"/><w:rPr><w:vanish/></w:rPr></w:style>'
BASED = '<w:style w:type="paragraph" w:styleId="B"><w:name w:val="B"/><w:basedOn w:val="H"/></w:style>'
ON_BLUE, WHITE = '<w:shd w:val="clear" w:fill="000080"/>', '<w:color w:val="FFFFFF"/>'


@pytest.mark.parametrize(
    ("paragraph", "style"),
    [
        (par(run("<w:vanish/>")), ""),
        (par(run("<w:specVanish/>")), ""),
        (par(run(WHITE)), ""),
        (par(run('<w:color w:val="FEFDFF"/>')), ""),
        (par(run('<w:color w:val="202020"/><w:shd w:val="clear" w:fill="222222"/>')), ""),
        (par(run('<w:sz w:val="2"/>')), ""),
        (par(run('<w:w w:val="1"/>')), ""),
        (par(run(""), properties='<w:ind w:left="-30000"/>'), ""),
        (par(run(""), properties='<w:framePr w:x="-20000"/>'), ""),
        (par("<w:ins>", run("<w:vanish/>"), "</w:ins>"), ""),
        (par(run('<w:rStyle w:val="H"/>')), HIDDEN.format(kind="character")),
        (par(run(""), properties='<w:pStyle w:val="H"/>'), HIDDEN.format(kind="paragraph")),
        (par(run(""), properties='<w:pStyle w:val="B"/>'), HIDDEN.format(kind="paragraph") + BASED),
    ],
)
def test_what_a_docx_hides_was_read_as_its_words(paragraph: str, style: str) -> None:
    """Hidden, white, tiny and off the page, by the run's own properties or its styles': no part of the words."""
    content = docx_of(paragraph, style)
    assert read_here("docx", content) == "Hello"
    assert "secret" in read_here("docx", content, everything=True)


@pytest.mark.parametrize(
    ("paragraph", "text"),
    [
        (par(run('<w:vanish w:val="0"/>')), "secret"),
        (par(run(WHITE + ON_BLUE)), "secret"),
        (par(run(WHITE + '<w:highlight w:val="black"/>')), "secret"),
        (par(run(WHITE), properties=ON_BLUE), "secret"),
        (par("<w:del>", run("", "gone"), "</w:del>", run("")), "secret"),
        (par("<w:moveFrom>", run("", "gone"), "</w:moveFrom>", run("")), "secret"),
        (
            par(run("", "A"), "<w:ins>", run("", "new"), "</w:ins><w:hyperlink>", run("", "link"), "</w:hyperlink>"),
            "Anewlink",
        ),
        (par("<w:fldSimple>", run("", "today"), "</w:fldSimple>"), "today"),
    ],
)
def test_what_a_docx_shows_is_read(paragraph: str, text: str) -> None:
    """White on a ground, what was inserted while changes were tracked, links and fields; not what was deleted."""
    assert read_here("docx", docx_of(paragraph)).split("\n\n") == ["Hello", text]


@pytest.mark.parametrize("content", [pdf_bytes("", drawn=f"{SEEN} 1 g {TEXT}"), docx_of(par(run("<w:vanish/>")))])
def test_a_file_that_hides_something_is_marked(content: bytes) -> None:
    """The child process says that something was left out."""
    found = attachment_text(attached(content))
    assert (found.verdict, found.text, found.reason) == ("text", "Hello", attachment_child.HIDES)


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


def test_a_file_that_our_reader_failed_on_kept_the_whole_mail_from_being_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """Should reading a file raise after all, a person is to look at it; the mail goes on."""

    def failing(_: str) -> None:
        raise RecursionError

    monkeypatch.setattr("services.mail.attachments.html_to_text", failing)
    said = attachment_text(attached(b"<html><p>offer</p>", "text/html", "offer.html"))
    assert (said.text, said.verdict, said.reason) == ("", "human", "our reader failed (RecursionError)")
