"""What may be handed in to the knowledge base, and what customers are shown of it."""

from __future__ import annotations

from pydantic import Field

from services.core.settings.group import Group


class KnowledgeSettings(Group):
    """The knowledge base."""

    max_document_mb: float = Field(25, gt=0, description="a larger document is refused")
    fetch_s: float = Field(30, gt=0, description="how long a web page may take, redirects included")
    redirects: int = Field(5, ge=0, description="how many a web page may make")
    private_hosts: bool = Field(False, description="fetch from addresses that are not public too: an intranet's pages")
    article_words: int = Field(12, ge=1, le=1000, description="that a proposed article's answer has at least")
    cite_in_mail: bool = Field(True, description="name the public pages that a reply rests on below it")
