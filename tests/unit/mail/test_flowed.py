"""Text in format=flowed (RFC 3676)."""

from __future__ import annotations

import pytest

from services.mail.mime import read_mail, unflow
from tests.support.cpu import at_most


@pytest.mark.parametrize(
    ("wire", "meant"),
    [
        ("one \nparagraph\nand another", "one paragraph\nand another"),
        ("> quoted \n> text\nanswer", "> quoted text\nanswer"),
        (">> deep \n> less deep", ">> deep \n> less deep"),
        ("> quoted \nanswer without a mark", "> quoted \nanswer without a mark"),
        (" From the start", "From the start"),
        (" > no quote", "> no quote"),
        ("end \n-- \nAnn", "end \n-- \nAnn"),
        ("", ""),
        ("fixed\n\nlines", "fixed\n\nlines"),
        (" \n", "\n"),
    ],
    ids=[
        "soft-break", "quoted", "other-depth", "depth-ends", "stuffed", "stuffed-mark", "signature", "empty", "fixed",
        "a-space-alone",
    ],
)  # fmt: skip
def test_soft_breaks_are_undone(wire: str, meant: str) -> None:
    """A line that ends in a space goes on in the next, of the same quote depth; stuffing is taken away."""
    assert unflow(wire) == meant


def test_with_delsp_the_marking_space_goes() -> None:
    """In scripts without spaces the mark is no part of the text (section 4.1)."""
    assert unflow("東京 \nから", del_sp=True) == "東京から"


@pytest.mark.parametrize(
    ("given", "new"), [("; format=flowed", "A long line that was broken."), ("", "A long \nline that was broken.")]
)
def test_a_mail_is_unflowed_only_where_it_says_so(given: str, new: str) -> None:
    """Without the parameter a space at a line's end means nothing."""
    raw = f"From: a@b.example\nContent-Type: text/plain; charset=utf-8{given}\n\nA long \nline that was broken.\n"
    assert read_mail(raw.encode()).text.strip() == new


def test_a_paragraph_of_many_soft_lines_took_quadratic_time() -> None:
    """Half a million soft breaks are joined in a fraction of a second: each line was copied with all before it."""
    with at_most(4.0, "a flowed paragraph"):
        assert unflow("a \n" * 500_000).startswith("a a a")
