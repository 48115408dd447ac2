"""What a person means by the paths and addresses that they name."""

from __future__ import annotations

from pathlib import Path

import pytest

from services.operations.knowledge.sources import Source, SourceUnclear, expand, public_address


def names(*named: str) -> list[str]:
    return [one.name for one in expand(named)]


def test_a_folder_means_the_documents_below_it(tmp_path: Path) -> None:
    """Of every readable kind, at any depth, each once; hidden folders and other files are left out."""
    for name in ("b.md", "sub/a.PDF", "sub/deep/c.html", ".git/x.md", "picture.png", "d.docx", "e.txt"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("text")
    assert names(str(tmp_path), str(tmp_path / "b.md")) == ["b.md", "d.docx", "e.txt", "sub/a.PDF", "sub/deep/c.html"]


def test_a_link_in_a_folder_made_a_private_file_a_document(tmp_path: Path) -> None:
    """A folder means what lies in it: a link to elsewhere, or to itself, names no document of it."""
    folder, private = tmp_path / "docs", tmp_path / "private.txt"
    folder.mkdir()
    private.write_text("secret")
    (folder / "a.md").write_text("text")
    (folder / "c.md").symlink_to(private)
    (folder / "d.md").symlink_to(folder / "d.md")
    (folder / "e").symlink_to(tmp_path)
    assert names(str(folder)) == ["a.md"]


def test_a_file_that_is_named_is_meant_whatever_it_is_called(tmp_path: Path) -> None:
    """Its content will say what it is."""
    (tmp_path / "notes").write_text("some notes")
    assert names(str(tmp_path / "notes")) == ["notes"]


def test_a_text_file_of_addresses_means_the_pages(tmp_path: Path) -> None:
    """Remarks and empty lines may stand among them; a text that mentions an address is a document."""
    listed, prose = tmp_path / "pages.txt", tmp_path / "prose.txt"
    listed.write_text("# ours\nhttps://a.example/one\n\nHTTPS://a.example/two?x=1\n")
    prose.write_text("See\nhttps://a.example/one\n")
    assert [one.origin for one in expand([str(listed)])] == ["https://a.example/one", "HTTPS://a.example/two?x=1"]
    assert [one.path for one in expand([str(prose)])] == [prose]


@pytest.mark.parametrize("named", ["nowhere.md", "ftp://a.example/x", "javascript:alert(1)", "", "https://two words"])
def test_what_is_neither_is_said(named: str) -> None:
    """A typing error is no empty success."""
    with pytest.raises(SourceUnclear, match="is no file, no folder, and no address"):
        expand([named])


@pytest.mark.parametrize(
    ("template", "name", "address"),
    [
        ("https://d.example/{name}", "sub/plans.md", "https://d.example/sub/plans"),
        ("https://d.example/{path}", "sub/plans.md", "https://d.example/sub/plans.md"),
        ("https://d.example/v1.2/{name}", "v1.2/plans", "https://d.example/v1.2/v1.2/plans"),
        ("https://d.example/faq", "faq.md", "https://d.example/faq"),
        ("{url}", "one", "https://a.example/one"),
        ("", "one", ""),
    ],
)
def test_where_everybody_may_read_it_is_made_from_a_template(template: str, name: str, address: str) -> None:
    """A page's own address, or a file's place below an address, with or without its suffix."""
    assert public_address(template, Source("https://a.example/one", name)) == address
