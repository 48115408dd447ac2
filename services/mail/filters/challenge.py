"""Challenge-response systems, which ask us to prove that we are a person: answering would train them on us."""

from __future__ import annotations

import re

from services.mail.filters.verdict import FilterContext, Verdict
from services.mail.message import ParsedMail
from services.mail.reports.wording import find_wording

_HEADERS = ("X-Challenge", "X-Boxtrapper", "X-UOL-AntiSpam", "X-AntiSpam-Challenge")
_OF_USERS = ("X-TMDA-Confirm-Done", "X-TMDA-Fingerprint", "X-ASK-Auth")  # in the mail of everybody who has the software
OPENING_CHARS = 1200
_SENDER = re.compile(r"(confirm|challenge|verify|autorespond|boxtrapper|antispam(uol)?|tmda)[-_+.]?\S{0,64}@", re.I)
_ASKS = re.compile(
    r"confirm|verif|challenge|approv|authenticat|spam|whitelist|request.?#|bestätig|valid|подтверд|провер|bevestig|potwierd|weryfik|確認|認証|确认|验证|驗證",
    re.I,
)


def challenge(mail: ParsedMail, ctx: FilterContext) -> Verdict | None:
    """Park a challenge: by its maker's header, its sender, or a subject and an opening that ask for confirmation."""
    if any(mail.header(name) for name in _HEADERS) or _asks(mail):
        return Verdict("park", "a challenge that asks us to confirm our mail", "challenge")
    return None


def _asks(mail: ParsedMail) -> bool:
    addressed = any(_SENDER.search(a.addr) for a in (*mail.from_, *mail.reply_to))
    if not (addressed or any(mail.header(name) for name in _OF_USERS) or _ASKS.search(mail.subject)):
        return False
    return bool(find_wording("challenge_sentences", " ".join((mail.reply.new or mail.text).split())[:OPENING_CHARS]))
