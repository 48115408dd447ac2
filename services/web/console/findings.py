"""The texts of an inbox's test, said in the reader's language when a page shows them. Pure.

A test is the same for pages, the API and the command line, in English. What is ours of it is listed here by step, since
short texts ("%(host)s is %(addresses)s") tell their step's findings alone; what a server answered stays as it is.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from types import MappingProxyType

from services.mail.check.steps import Finding
from services.web.console.language import Message
from services.web.console.recorded import Form, forms_of, said

ANY = ""
_NAME = (
    Message("%(host)s is %(addresses)s"),
    Message("the name %(host)s does not resolve: %(error)s"),
)
_CONNECTION = (
    Message("%(host)s answers on port %(port)s"),
    Message("no connection to %(host)s port %(port)s: %(error)s"),
    Message("no answer in %(seconds)s s"),
)
_LOGIN = (Message("%(user)s is not let in: %(error)s"),)
_TLS = (
    Message("TLS failed: %(error)s"),
    Message("the certificate of %(host)s is not trusted: %(error)s"),
)
FOUND: Mapping[str, tuple[Message, ...]] = MappingProxyType(
    {
        ANY: (Message("unexpected: %(error)s"),),
        "imap": (Message("%(inbox)s has no IMAP settings: its mail comes by webhook or file"),),
        "imap dns": _NAME,
        "imap connection": _CONNECTION,
        "imap tls": _TLS,
        "imap login": _LOGIN,
        "imap session": (Message("the session ended: %(error)s"),),
        "imap folder": (
            Message("%(folder)s holds %(count)s mails; %(idle)s; %(sent)s"),
            Message("no IDLE: looked at every %(seconds)s s"),
            Message("the Sent folder is left alone"),
            Message("no folder is marked as Sent, so colleagues' replies are not seen: set inboxes.imap.sent_folder"),
            Message("sent mail in %(folder)s"),
            Message("there is no folder %(folder)s"),
        ),
        "sender results": (
            Message("no mail yet that would show whose Authentication-Results the server writes"),
            Message("%(count)s of the newest %(all)s mails have results of %(server)s; %(dmarc)s"),
            Message("DMARC is told"),
            Message("DMARC is not told: it is computed here"),
            Message(
                "%(found)s; %(count)s have further ones below the topmost, which do not count: a sender may have "
                "written them. Where the server removes what others wrote in its name, name it in "
                "stripping_authserv_ids too"
            ),
            Message("the server writes no Authentication-Results: SPF is not known, DKIM and DMARC are computed here"),
            Message(
                "DKIM and DMARC are computed here, SPF is not known; %(count)s of the newest %(all)s mails have "
                "results of %(server)s: where that is your own server, own_authserv_ids can name it"
            ),
            Message("the results of %(server)s stand below the server's own Received line"),
            Message("no mail has results of %(server)s; there are: %(others)s"),
            Message("%(count)s of the newest mails came with results in the name of %(server)s"),
            Message("none"),
        ),
        "smtp dns": _NAME,
        "smtp connection": _CONNECTION,
        "smtp tls": _TLS,
        "smtp login": _LOGIN,
        "smtp session": (
            Message("the session failed: %(error)s"),
            Message("%(host)s takes mail from %(user)s"),
            Message("%(host)s takes mail, without a login"),
        ),
        "dkim key": (
            Message("%(file)s signs for %(domain)s"),
            Message("%(file)s cannot be read: %(error)s"),
        ),
        "dkim record": (
            Message("%(name)s holds the key"),
            Message("the DNS does not answer: %(error)s"),
            Message("there is no usable key at %(name)s"),
            Message("%(name)s holds another key than the file: %(error)s"),
        ),
        "dkim domain": (
            Message("replies from %(domain)s are signed as %(signed)s"),
            Message("replies are from %(domain)s, signed as %(signed)s"),
        ),
        "time": (Message("stopped after %(seconds)s s: a server takes too long"),),
    }
)
REMEDIES: tuple[Message, ...] = (
    Message("report this line to the project"),
    Message("look for a misspelling in %(setting)s; ask your provider for the server's name"),
    Message("check that port %(port)s is right and that no firewall is in between (IMAP 993, submission 587 or 465)"),
    Message("test again in a while; if it stays so, ask whoever runs the server that comes after the last line"),
    Message("grant access again: `correspondent inbox login NAME`"),
    Message("set inboxes.imap.%(setting)s to one of: %(folders)s"),
    Message("check user name and password; many providers want an app password, or OAuth (inboxes.imap.oauth)"),
    Message('the server has no STARTTLS: use port 993 and inboxes.imap.tls = "implicit"'),
    Message('the port does not speak TLS: use 993, or set inboxes.imap.tls = "none" for a server of your own'),
    Message("this is no IMAP server, or it expects TLS: check inboxes.imap.port and inboxes.imap.tls"),
    Message("set %(setting)s.ca_file to a readable file of certificates in PEM"),
    Message(
        "it is self-signed: where %(host)s is a server of your own, put its certificate into a file and set "
        "%(setting)s.ca_file to that; otherwise somebody may be in between, so type no password"
    ),
    Message(
        "its issuer is unknown here: set %(setting)s.ca_file to the certificate of your own CA, or have the server "
        "send its intermediate certificates, too"
    ),
    Message("it is for another name: set %(setting)s.host to the name in the certificate, as your provider gives it"),
    Message("it has expired: have it renewed at the server, and look at the clock of this machine"),
    Message("it is not valid yet: look at the clocks of the server and of this machine"),
    Message("have the server's certificate put right; for a CA of your own set %(setting)s.ca_file"),
    Message("check smtp.username and smtp.password; many providers want an app password"),
    Message("check smtp.port and smtp.tls: 587 is starttls, 465 implicit, 25 usually none"),
    Message(
        "have the server put its results above its Received line; or, where your provider says that it removes results "
        "which others wrote in its name (Gmail does), name it in stripping_authserv_ids too"
    ),
    Message("set own_authserv_ids to the name that your own server writes, or take it out"),
    Message("take it out of stripping_authserv_ids: what senders write in its name would be believed"),
    Message("put the private key there, readable for us, or set inboxes.dkim.key_file"),
    Message("the file has to be PEM for rsa, the base64 of the 32-byte seed for ed25519 (inboxes.dkim.algorithm)"),
    Message("try again in a while"),
    Message('publish it: %(name)s TXT "v=DKIM1; k=%(algorithm)s; p=..." with the public key; DNS may take an hour'),
    Message("publish the public half of this key file, or take a selector of its own for it"),
    Message("sign as %(domain)s: a signature of another domain counts for nothing in DMARC"),
)
_FORMS: Mapping[str, tuple[Form, ...]] = {step: forms_of((*texts, *FOUND[ANY])) for step, texts in FOUND.items()}
_REMEDIES = forms_of(REMEDIES)


def found(finding: Finding) -> str:
    """What a step found, in the reader's language."""
    step = finding.step if finding.step in FOUND else ANY
    return _said(finding.found, {one: one for one in FOUND[step]}, _FORMS[step])


def remedy(finding: Finding) -> str:
    """What to do about it."""
    return _said(finding.remedy, {one: one for one in REMEDIES}, _REMEDIES)


def _said(text: str, plain: Mapping[str, Message], forms: tuple[Form, ...]) -> str:
    part = partial(_value, plain=plain, forms=forms)
    return said(text, part, plain=plain, forms=forms) or text


def _value(text: str, *, plain: Mapping[str, Message], forms: tuple[Form, ...]) -> str:
    """A value, which may be a text of the same step; none of its own values are."""
    return said(text, str, plain=plain, forms=forms) or text
