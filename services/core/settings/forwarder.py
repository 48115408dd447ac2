"""Programs that hand a customer's words on to an inbox: contact forms, ticket systems, shared mailboxes."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from services.core.settings.group import Group


class Forwarder(Group):
    """A sender that forwards mails of others: the author is the address that it names, which stays unproven.

    It has to be proven itself, or its mail has to bear a valid DKIM signature of `dkim_domain`.
    """

    sender: str = Field(min_length=3, description="its address, or a pattern such as '*@forms.shop.example'")
    dkim_domain: str = Field("", description="who signs its mail (DKIM d=), where DMARC does not prove it")
    author: Literal["reply_to", "field"] = Field("reply_to", description="where it names the customer")
    field: str = Field(
        "Email", min_length=1, max_length=40, description="'field': the line 'Email: ann@...' of the text"
    )
