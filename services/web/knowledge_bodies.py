"""What the API takes and gives about documents and articles."""

from __future__ import annotations

from typing import Annotated, Literal
from uuid import UUID

from fastapi import Query
from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from services.operations.knowledge.listing import Proposal
from services.operations.knowledge.trial import LONGEST
from services.web.bodies import By
from services.web.caller import name_of_caller

_PLAIN = r"^[^\x00-\x1f\x7f]*$"  # no control character

Link = Annotated[str, StringConstraints(max_length=2000, pattern=r"^(https?://[^\x00-\x20\x7f]+)?$")]
Origin = Annotated[str, Query(min_length=1, max_length=1000, pattern=_PLAIN, description="names it across editions")]
Title = Annotated[str, Query(max_length=300, pattern=_PLAIN, description="until its own title is read")]
LinkQuery = Annotated[
    str,
    Query(max_length=2000, pattern=r"^(https?://[^\x00-\x20\x7f]+)?$", description="where everybody may read it"),
]
Space = Annotated[str, StringConstraints(max_length=40, pattern=r"^[a-z0-9_-]*$")]
SpaceQuery = Annotated[
    str, Query(max_length=40, pattern=r"^[a-z0-9_-]*$", description="a space; empty: the shared one")
]
SearchedSpace = Annotated[
    str | None,
    Query(max_length=40, pattern=r"^[a-z0-9_-]*$", description="one space; empty: the shared one; left out: all"),
]
Asked = Annotated[str, Query(min_length=1, max_length=2000, pattern=r"^[^\x00]*$")]
Reason = Annotated[str, StringConstraints(max_length=500, pattern=r"^[^\x00]*$")]
Text = Annotated[str, StringConstraints(max_length=100_000, pattern=r"^[^\x00]*$")]


class _Body(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Page(_Body):
    """A web page to fetch and hand in."""

    address: Annotated[str, StringConstraints(max_length=2000, pattern=r"^https?://[^\x00-\x20\x7f]+$")]
    link: Link = Field("", description="where everybody may read it; mails to customers link to nothing else")
    space: Space = Field("", description="whose replies quote it; empty: those of inboxes without their own")
    by: By = Field(default_factory=name_of_caller)


class Wanted(_Body):
    """An article that is to be proposed from an answer in a thread."""

    thread_id: UUID
    reply_id: UUID | None = Field(None, description="the answer; left out: the last one in the thread")
    by: By = Field(default_factory=name_of_caller)


class Tried(_Body):
    """A question that nobody asked, to see what would be answered."""

    question: Annotated[
        str, StringConstraints(strip_whitespace=True, min_length=1, max_length=LONGEST, pattern=r"^[^\x00]*$")
    ]
    inbox: Annotated[str, StringConstraints(min_length=1, max_length=200, pattern=r"^[^\x00]*$")]


class Accepted(_Body):
    """An article is to be a document, as it is or in your own words."""

    text_sha256: str = Field(description="of the proposed text that was seen, as the article gives it")
    text: Text = Field("", description="your own wording (Markdown)")
    link: Link = ""
    by: By = Field(default_factory=name_of_caller)


class Rejected(_Body):
    """An article is not wanted."""

    text_sha256: str = Field(description="of the proposed text that was seen, as the article gives it")
    reason: Reason = ""
    by: By = Field(default_factory=name_of_caller)


class Article(BaseModel):
    """A proposed article, and the hash that a decision about it names."""

    article: Proposal
    text_sha256: str


class DocumentOutcome(BaseModel):
    """What became of a request: `unchanged` where it stood like this already, `pending` where it is not decided yet."""

    document_id: UUID
    request_id: UUID | None
    status: Literal["done", "pending", "unchanged"]
    decision: str = ""
    reason: str = ""
