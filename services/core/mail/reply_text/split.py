"""First version."""

from __future__ import annotations

from services.core.mail.html_text import html_to_text
from services.core.mail.message import ReplyText


def split_reply(text: str, html: str = "") -> ReplyText:
    """Divide a body into new text, quoted text and signature; `new` is never empty when there is text."""
    body = text if text.strip() else html_to_text(html).text
    lines = body.replace("\r\n", "\n").split("\n")
    kept = [line for line in lines if not line.lstrip().startswith(">")]
    new = "\n".join(kept).strip()
    if not new:
        return ReplyText(body.strip())
    return ReplyText(new, "\n".join(line for line in lines if line.lstrip().startswith(">")))
