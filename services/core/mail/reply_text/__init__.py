"""Reply text: what the writer of a mail added, apart from what is quoted and from the signature."""

from __future__ import annotations

from services.core.mail.reply_text.split import split_reply

__all__ = ["split_reply"]
