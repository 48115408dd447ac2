"""What stands around the words of a reply: signature, legal footer, the mail that it answers, and who gets a copy."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from services.core.settings.group import Group

LONGEST_BLOCK = 4_000  # characters of a signature or a footer


class LayoutSettings(Group):
    """Text around the replies of this mailbox. It is the operator's own: its links are kept."""

    signature: str = Field("", max_length=LONGEST_BLOCK, description="below every reply, behind a line of '-- '")
    signature_html: str = Field(
        "", max_length=LONGEST_BLOCK, description="the same for HTML readers; without it, made from the text"
    )
    footer: str = Field("", max_length=LONGEST_BLOCK, description="what the law asks for, below the signature")
    footer_html: str = Field("", max_length=LONGEST_BLOCK, description="the same for HTML readers")
    quote: Literal["off", "below"] = Field(
        "off", description="'below': quote the mail that is answered below the reply"
    )
    quote_intro: str = Field("On {date}, {name} wrote:", max_length=200, description="the line above the quoted mail")
    reply_all: bool = Field(
        False,
        description="colleagues on the customer's To and Cc (the same company's domain, proven author) get a copy",
    )
    most_copies: int = Field(5, ge=1, le=20, description="how many of them at most; with more, only the author")
