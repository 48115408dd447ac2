"""How much mail is answered."""

from __future__ import annotations

from pydantic import Field

from services.core.settings.group import Group


class LimitSettings(Group):
    """How much mail the agent answers within an hour; what is over a limit goes to a human, with its name.

    Proven and unproven senders are counted apart: no mail in a customer's name uses up what is theirs.
    """

    sender_per_hour: int = Field(20, ge=1, description="mails of one proven mailbox; further ones go to a person")
    thread_per_hour: int = Field(10, ge=1, description="mails of one thread; further ones go to a person")
    company_per_hour: int = Field(200, ge=1, description="mails of all proven senders of one company; likewise")
    all_per_hour: int = Field(2000, ge=1, description="mails of all proven senders; further ones go to a person")
    same_words: int = Field(3, ge=1, description="mails of one sender with the same words; the next one is a loop")
    unproven_per_hour: int = Field(
        20, ge=0, description="mails of all unproven senders of one inbox together; further ones go to a person"
    )
    unproven_sender_per_hour: int = Field(3, ge=0, description="mails in the name of one address, unproven; likewise")
    unproven_replies_per_day: int = Field(
        1, ge=0, description="fixed replies to one address that is not proven; its further mails go to a person"
    )
