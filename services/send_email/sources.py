"""The public pages that a reply rests on, named below it. What no customer can open is never named. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from services.memory.knowledge import Passage

MOST = 3  # pages below one reply


def public_pages(passages: Iterable[Passage]) -> dict[str, str]:
    """Address -> title of the documents with a public address, in the order in which they are cited."""
    pages = {one.public_url: " ".join(one.title.split()) for one in passages if one.public_url.startswith("http")}
    return dict(list(pages.items())[:MOST])


def with_sources(text: str, pages: Mapping[str, str]) -> str:
    """The reply, and below it a line for each page that it does not name itself."""
    lines = [f"{title}: {address}" for address, title in pages.items() if address not in text]
    return "\n".join([text.rstrip(), "", *lines]) if lines else text
