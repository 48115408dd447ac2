"""One mail of the world, let in at its time and followed to its end."""

from __future__ import annotations

from schemas.events.mail import Peer
from services.core.app import App
from services.demo.aftermath import Aftermath, look
from services.demo.clock import SteppingClock
from services.demo.world import Mail, Sent, SentReply
from services.operations.idle import until_idle
from services.receive_email.accept import accept

PEER = "192.0.2.1"


async def play(app: App, clock: SteppingClock, mail: Mail, replies: dict[str, SentReply]) -> Aftermath:
    """What became of the mail. `replies`, by the mail's key, gets ours: later mails of the world refer to them."""
    clock.forward(mail.received_at)
    await until_idle(app)
    inbox = next(one for one in app.settings.inboxes if one.address == mail.inbox)
    peer = Peer(ip=PEER, helo="mail.example", mail_from=mail.envelope_from)
    raw = mail.render(Sent(replies))
    accepted = await accept(app, inbox, raw, source="file", source_key=mail.key, peer=peer)
    await until_idle(app)
    came = await look(app, accepted.mail_id)
    if came.replies:
        replies[mail.key] = came.sent_reply(app, came.replies[-1])
    return came
