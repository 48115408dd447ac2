"""Below a reply stand the public pages that it rests on, and nothing that a customer cannot open."""

from __future__ import annotations

from uuid import UUID

from services.memory.knowledge import Passage
from services.send_email.sources import MOST, public_pages, with_sources


def passage(title: str, url: str) -> Passage:
    return Passage(UUID(int=1), UUID(int=2), 1, title, "Heading", "text", "a.md", url)


def test_only_documents_with_a_public_address_are_named() -> None:
    """Internal documents, and addresses that are no web pages, stay ours."""
    found = public_pages(
        [passage("Ours", ""), passage("Odd", "file:///etc/passwd"), passage("Plans", "https://a.example/p")]
    )
    assert found == {"https://a.example/p": "Plans"}


def test_a_page_is_named_once_and_few_are_named() -> None:
    """Two passages of a page are one line, and a reply is no list of links."""
    pages = public_pages([passage("A\n B", f"https://a.example/{number // 2}") for number in range(20)])
    assert len(pages) == MOST
    assert set(pages.values()) == {"A B"}


def test_the_lines_stand_below_the_text() -> None:
    """A page that the reply names itself gets no line of its own; without pages the text is as it was."""
    pages = {"https://a.example/p": "Plans", "https://a.example/q": "Refunds"}
    text = "See https://a.example/q for it.\n"
    assert with_sources(text, pages) == "See https://a.example/q for it.\n\nPlans: https://a.example/p"
    assert with_sources(text, {}) == text
