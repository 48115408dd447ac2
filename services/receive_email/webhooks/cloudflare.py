"""A Cloudflare email worker that posts the raw message, signed after Standard Webhooks with a secret of its own.

The worker is in docs/how-to/connect-an-inbox.md.
"""

from __future__ import annotations

from services.receive_email.webhooks.raw import inbound_rfc822
from services.receive_email.webhooks.request import Call, Format, Inbound
from services.receive_email.webhooks.signatures import admit_standard, check_standard


async def _open(call: Call) -> Inbound:
    secret = call.web.webhooks.cloudflare_secret.get_secret_value()
    return inbound_rfc822(call, check_standard(call, secret, "web.webhooks.cloudflare_secret"))


def _admit(call: Call) -> None:
    admit_standard(call, call.web.webhooks.cloudflare_secret.get_secret_value(), "web.webhooks.cloudflare_secret")


FORMAT = Format("cloudflare", _open, _admit)
