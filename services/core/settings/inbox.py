"""One inbox that the agent answers for: its servers, what stands around its replies, what is asked and believed."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Literal, Self
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field, SecretStr, model_validator

from services.core.settings.group import Group
from services.core.settings.memory import MemorySettings
from services.core.settings.oversight import IncidentSettings, OfficeHours, ServiceLevels
from services.core.settings.replies import LONGEST_PERSONA, Shaping
from services.core.settings.rules import Behaviour

# Whether customers are asked what they think of an answer, and in which words.
LINK = "{link}"


class SatisfactionSettings(Group):
    """A line below each reply with a link to a page with two buttons. Off by default; needs `web.public_url`."""

    ask: bool = Field(False, description="ask; never in mail that nobody asked for, nor of senders who are not proven")
    line: str = Field(
        "How was this answer? {link}", min_length=1, max_length=400, description="the line below the reply"
    )
    question: str = Field("How was our answer?", min_length=1, max_length=200, description="above the buttons")
    good: str = Field("Good", min_length=1, max_length=40, description="the one button")
    bad: str = Field("Not good", min_length=1, max_length=40, description="the other button")
    comment: str = Field("Anything to add? (You need not.)", min_length=1, max_length=200, description="of the field")
    thanks: str = Field(
        "Thank you. You can change it for a day.", min_length=1, max_length=200, description="after a click"
    )

    @model_validator(mode="after")
    def _holds_the_link(self) -> Self:
        if LINK not in self.line:
            raise ValueError(f"satisfaction.line has to hold {LINK}: the way to the page")
        return self


# What stands around the words of a reply: signature, legal footer, the mail that it answers, and who gets a copy.
LONGEST_BLOCK = 4_000  # characters of a signature or a footer


class LayoutSettings(Group):
    """Text around the replies of this inbox. It is the operator's own: its links are kept."""

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


# Programs that hand a customer's words on to an inbox: contact forms, ticket systems, shared mailboxes.


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


# Where an inbox's mail is read and where its replies are sent.


class OAuthSettings(Group):
    """How an access token for XOAUTH2 is got: the refresh token grant of RFC 6749, section 6."""

    token_url: str
    client_id: str
    client_secret: SecretStr = SecretStr("")
    refresh_token: SecretStr = SecretStr("")
    refresh_token_file: str = Field(
        "", description="below home, sealed: `correspondent inbox login` writes it, and each renewal of the token"
    )
    scope: str = ""

    @model_validator(mode="after")
    def _one_token(self) -> Self:
        if bool(self.refresh_token.get_secret_value()) == bool(self.refresh_token_file):
            raise ValueError(
                "oauth needs one of refresh_token and refresh_token_file; `correspondent inbox login` gets it"
            )
        return self


class SmtpSettings(Group):
    """Where replies are sent, without a login, with a password or with OAuth."""

    host: str = "127.0.0.1"
    port: int = 25
    username: str = ""
    password: SecretStr = SecretStr("")
    oauth: OAuthSettings | None = Field(None, description="XOAUTH2, in place of the password")
    tls: Literal["none", "starttls", "implicit"] = "none"
    ca_file: str = Field(
        "", description="certificates in PEM that are trusted here beside the system's: a CA of your own"
    )
    timeout_s: float = 30
    helo: str = Field("", description="the name we greet with; by default the host's own")

    @model_validator(mode="after")
    def _one_login(self) -> Self:
        if self.oauth and (self.password.get_secret_value() or not self.username):
            raise ValueError("with oauth a username is needed, and no password")
        return self


class ImapSettings(Group):
    """Where an inbox is read, with a password or with OAuth."""

    host: str
    port: int = 993
    username: str
    password: SecretStr = SecretStr("")
    oauth: OAuthSettings | None = None
    tls: Literal["none", "starttls", "implicit"] = "implicit"
    ca_file: str = Field("", description="as of [smtp]")
    folder: str = "INBOX"
    timeout_s: float = Field(60, description="how long the server may take over one answer")
    poll_s: float = Field(60, description="how often we look where the server has no IDLE")
    idle_s: float = Field(24 * 60, lt=29 * 60, description="IDLE is issued again after this long (RFC 2177)")
    sent_folder: str = Field("", description="where sent mail lies; by default the folder that the server marks as it")
    read_sent: bool = Field(True, description="a colleague's reply found in the Sent folder closes the turn")
    keep_sent: bool = Field(True, description="put a copy of each reply into the Sent folder, unless it is there")


class DkimSettings(Group):
    """What replies are signed with, where the SMTP server does not sign them (RFC 6376, RFC 8463)."""

    domain: str
    selector: str
    key_file: Path = Field(description="the private key: PEM for rsa, the base64 of the seed for ed25519")
    algorithm: Literal["rsa", "ed25519"] = "rsa"


LONGEST_FIXED_REPLY = 2_000  # characters

UNPROVEN_REPLY = """\
Hello,

we received a message that names this address as its sender. Nothing in it proves that it came from you, so we have not
acted on it, and no information was given out.

If you wrote to us, please write again, with your question, from an address whose provider signs its mail (most do), or
ask your provider about DKIM and DMARC. If you did not write to us, you need not do anything.

This is an automatic message. To reach a person, answer it with the word HUMAN."""


def _one_address(value: str) -> str:
    if not re.fullmatch(r"[^\s<>@,;\"]{1,64}@[^\s<>@,;\"]{1,255}", value):
        raise ValueError(f"{value!r} is not one plain address; write it as support@your-company.com")
    return value


class InboxSettings(Group):
    """One inbox that the agent answers for."""

    name: str
    address: Annotated[str, AfterValidator(_one_address)]
    aliases: tuple[str, ...] = Field(
        (), description="other addresses whose mail comes here: what is sent to them is to us"
    )
    display_name: str = "Support"
    persona: str = Field(
        "", max_length=LONGEST_PERSONA, description="what the agent is and how it writes, for this inbox; never cut"
    )
    imap: ImapSettings | None = None
    smtp: SmtpSettings | None = Field(None, description="where this inbox's replies are handed over, if elsewhere")
    dkim: DkimSettings | None = None
    replies_per_hour: int = Field(
        80, ge=0, description="more wait for their turn; 80 keep a day under 2,000; 0: no limit of ours"
    )
    paused: bool = Field(False, description="nothing is read, its webhook says 503; where it stood is kept")
    vouched_by: str = Field("", description="trial only: this operator vouches for every sender of this inbox")
    colleagues: tuple[str, ...] = Field(
        (),
        description="our own people, such as 'grace@shop.example' or '*@shop.example': a copy of their answer counts",
    )
    forwarders: tuple[Forwarder, ...] = Field(
        (), description="contact forms and their like: whom they name is answered as usual, and nothing is remembered"
    )
    unproven: Literal["template", "review", "human"] = Field(
        "template",
        description="who is not proven gets a fixed reply; or a draft that a person approves; or a person's answer",
    )
    unproven_reply: str = Field(
        UNPROVEN_REPLY,
        min_length=1,
        max_length=LONGEST_FIXED_REPLY,
        description="the fixed reply to who is not proven: all of it, whatever they wrote",
    )
    unproven_subject: str = Field(
        "Your message to us", min_length=1, max_length=100, description="its subject; theirs is not repeated"
    )
    memory: MemorySettings = MemorySettings()
    layout: LayoutSettings = Field(LayoutSettings(), description="signature, footer, quoting, copies")
    satisfaction: SatisfactionSettings = SatisfactionSettings()
    reply: Shaping = Field(Shaping(), description="what shapes this inbox's replies, where that differs")
    behaviours: tuple[Behaviour, ...] = ()
    service_levels: ServiceLevels | None = Field(None, description="of this inbox, in place of the workspace's")
    incidents: IncidentSettings | None = Field(None, description="of this inbox, in place of the workspace's")
    office_hours: OfficeHours | None = Field(None, description="of this inbox, in place of the workspace's")


# Who tells spam from mail, where the server that receives our mail marks none.
Action = Literal["reject", "add header", "rewrite subject", "soft reject", "greylist", "quarantine"]


class SpamSettings(Group):
    """Spam is set aside. What the receiving server marked always is; rspamd is asked too where there is one."""

    rspamd_url: str = Field("", description="rspamd's worker, such as http://127.0.0.1:11333; empty: nobody is asked")
    rspamd_password: SecretStr = Field(SecretStr(""), description="of that worker, where it has one")
    actions: tuple[Action, ...] = Field(
        ("reject", "add header", "rewrite subject", "quarantine"), description="rspamd's actions that make a mail spam"
    )
    timeout_s: float = Field(5, gt=0, le=30, description="how long its answer may take")
    unanswered: Literal["answer", "human"] = Field(
        "answer", description="what becomes of a mail that rspamd could not be asked about; human: a person looks"
    )

    @model_validator(mode="after")
    def _is_web(self) -> Self:
        parts = urlsplit(self.rspamd_url)
        if self.rspamd_url and (parts.scheme not in ("http", "https") or not parts.hostname):
            raise ValueError("spam.rspamd_url has to be an http or https address, such as http://127.0.0.1:11333")
        return self
