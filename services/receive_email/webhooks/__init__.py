"""How providers post mail to us. Adding a format is a module with its `FORMAT`, and its line here."""

from types import MappingProxyType

from services.receive_email.webhooks import cloudflare, mailgun, postmark, raw, sendgrid, ses

_ALL = (
    raw.FORMAT,
    cloudflare.FORMAT,
    mailgun.FORMAT,
    postmark.FORMAT,
    sendgrid.FORMAT,
    ses.FORMAT,
)

FORMATS = MappingProxyType({one.name: one for one in _ALL})
