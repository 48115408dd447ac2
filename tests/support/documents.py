"""Documents for tests: Markdown handed in, and bytes of PDF and DOCX files."""

from __future__ import annotations

import io
import zipfile
from functools import cache
from uuid import UUID

import docx
from pypdf import PdfWriter
from pypdf.generic import DictionaryObject, NameObject, StreamObject

from services.core.app import App
from services.operations.knowledge.requests import hand_in


async def shelve(app: App, origin: str, text: str, *, public_url: str = "", space: str = "") -> UUID:
    """Hand a Markdown document in, for a space of memory; its id."""
    handed = await hand_in(
        app,
        text.encode(),
        origin=origin,
        title=origin.removesuffix(".md"),
        by="test",
        media_type="text/markdown",
        public_url=public_url,
        space=space,
    )
    return handed.document_id


def pdf_of(*pages: str, outline: tuple[str, ...] = (), password: str = "") -> bytes:
    """A PDF with one line of text a text line; `outline` names its pages, in order."""
    writer = PdfWriter()
    font = DictionaryObject(
        {
            NameObject("/Type"): NameObject("/Font"),
            NameObject("/Subtype"): NameObject("/Type1"),
            NameObject("/BaseFont"): NameObject("/Helvetica"),
        }
    )
    for text in pages:
        page = writer.add_blank_page(width=600, height=800)
        fonts = DictionaryObject({NameObject("/F1"): font})
        page[NameObject("/Resources")] = DictionaryObject({NameObject("/Font"): fonts})
        lines = " ".join(f"({line}) Tj T*" for line in text.splitlines())
        stream = StreamObject()
        stream.set_data(f"BT /F1 12 Tf 14 TL 72 720 Td {lines} ET".encode("latin-1"))
        page[NameObject("/Contents")] = writer._add_object(stream)
    for number, name in enumerate(outline):
        writer.add_outline_item(title=name, page_number=number)
    if password:
        writer.encrypt(password, algorithm="RC4-128")
    buffer = io.BytesIO()
    writer.write(buffer)
    return buffer.getvalue()


def docx_of(*blocks: tuple[str, str] | list[list[str]]) -> bytes:
    """A DOCX of (style, text) paragraphs and tables given as rows."""
    document = docx.Document()
    for block in blocks:
        if isinstance(block, tuple):
            document.add_paragraph(block[1], style=block[0])
            continue
        table = document.add_table(len(block), len(block[0]))
        for row, cells in zip(table.rows, block, strict=True):
            for cell, text in zip(row.cells, cells, strict=True):
                cell.text = text
    buffer = io.BytesIO()
    document.save(buffer)
    return buffer.getvalue()


def zip_of(files: dict[str, bytes]) -> bytes:
    """A zip archive."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return buffer.getvalue()


@cache
def zip_bomb() -> bytes:
    """A DOCX of 150 KB that unpacks to 150 MB."""
    return zip_of({"word/document.xml": b"<w>" + b"A" * 150_000_000})
