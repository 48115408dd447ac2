"""Who is told: what the settings take, and what they refuse in words."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from services.core.settings import AlertSettings, Settings

SECRET = "whsec_b25lIHNlY3JldCBmb3IgYWxlcnRzIGFsb25l"
INBOX = {"name": "support", "address": "support@shop.example"}


def refusal(target: dict[str, Any], **given: Any) -> str:
    with pytest.raises(ValidationError) as caught:
        Settings(**{"inboxes": [INBOX], **given}, alerts={"to": [target]})
    return str(caught.value)


@pytest.mark.parametrize("address", ["support@shop.example", "Support@SHOP.example", "support+alerts@shop.example"])
def test_no_alert_goes_to_our_own_inbox(address: str) -> None:
    """However it is spelled, an inbox that the agent answers for is refused, with what to do."""
    assert "is an inbox that the agent answers for" in refusal({"mail": address})


@pytest.mark.parametrize(
    ("target", "said"),
    [
        ({}, "either `mail` or `webhook`"),
        ({"mail": "a@x.example", "webhook": "https://x.example/", "secret": SECRET}, "either `mail` or `webhook`"),
        ({"mail": "a@x.example, b@x.example"}, "is not one plain address"),
        ({"mail": "Grace <grace@x.example>"}, "is not one plain address"),
        ({"mail": "a@x.example\r\nBcc: b@y.example"}, "is not one plain address"),
        ({"webhook": "https://x.example/hook"}, "needs a `secret`"),
        ({"webhook": "https://x.example/hook", "secret": "short"}, "at least 16 bytes"),
        ({"webhook": "https://x.example/hook", "secret": "whsec_?"}, "there has to be base64"),
        ({"webhook": "ftp://x.example/hook", "secret": SECRET}, "http or https"),
        ({"webhook": "https://u:p@x.example/hook", "secret": SECRET}, "without a user name"),
        ({"mail": "a@x.example", "about": ["everything"]}, "Input should be 'escalated'"),
    ],
)
def test_what_is_no_target_is_said_in_words(target: dict[str, Any], said: str) -> None:
    """One plain address, or one web address with a long secret, and known kinds."""
    assert said in refusal(target)


def test_the_secret_of_a_webhook_is_its_own() -> None:
    """A secret that also lets mail in would let an alert come back as a mail."""
    hook = {"webhook": "https://x.example/hook", "secret": SECRET}
    assert "give it its own" in refusal(hook, web={"webhook_secret": SECRET})


def test_without_an_inbox_a_sender_has_to_be_named() -> None:
    """There is no address that an alert could be from."""
    assert "alerts.sender" in refusal({"mail": "a@x.example"}, inboxes=[])


@pytest.mark.parametrize("link", ["https://desk.example/t", "javascript:{thread_id}", "desk/{thread_id}"])
def test_a_link_leads_to_a_thread(link: str) -> None:
    """It is a web address that holds the thread's id."""
    with pytest.raises(ValidationError, match="in which"):
        AlertSettings(link=link)


def test_a_target_may_want_some_of_it() -> None:
    """Of some kinds, and of some inboxes; by default of all."""
    settings = AlertSettings.model_validate(
        {"to": [{"mail": "a@x.example"}, {"mail": "b@x.example", "about": ["escalated"], "inboxes": ["sales"]}]}
    )
    every, some = settings.to
    assert every.wants("mail_waits", "support")
    assert some.wants("escalated", "sales")
    assert not some.wants("escalated", "support")
    assert not some.wants("mail_waits", "sales")
