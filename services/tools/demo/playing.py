"""One mail of the world, let in at its time and followed to its end."""

from __future__ import annotations

from schemas.events.mail import Peer
from services.core.house import House
from services.receive_email.accept import accept
from services.tools.demo.aftermath import Aftermath, look
from services.tools.demo.clock import SteppingClock
from services.tools.demo.world import Mail, Sent, SentReply
from services.tools.settle import settle

PEER = "192.0.2.1"


async def play(house: House, clock: SteppingClock, mail: Mail, replies: dict[str, SentReply]) -> Aftermath:
    """What became of the mail. `replies`, by the mail's key, gets ours: later mails of the world refer to them."""
    clock.forward(mail.received_at)
    await settle(house)
    inbox = next(one for one in house.settings.inboxes if one.address == mail.inbox)
    peer = Peer(ip=PEER, helo="mail.example", mail_from=mail.envelope_from)
    raw = mail.render(Sent(replies))
    accepted = await accept(house, inbox, raw, source="file", source_key=mail.key, peer=peer)
    await settle(house)
    came = await look(house, accepted.mail_id)
    if came.replies:
        replies[mail.key] = came.sent_reply(house, came.replies[-1])
    return came
