"""Reply text: what the writer of a mail added, apart from what is quoted and from the signature.

    lines.py         what each line is: text, quote, attribution, separator, header, rule, signature
    shapes.py        a date, a time, a mailbox and "wrote", in any language
    attribution.py   "On ... wrote:", in many languages and wrapped over lines
    header_block.py  "From: / Sent: / To:" and "-----Original Message-----"
    signature.py     "-- ", "Sent from my ...", disclaimers
    armour.py        what PGP puts around a signed text
    words.py         the words of each language, the place to add one
    html_quote.py    the marks that mail clients leave in HTML
    split.py         which lines are new, quoted or signature
The order of the decisions follows discourse/email_reply_trimmer (MIT); inline replies are kept more readily than there.
"""

from __future__ import annotations

from services.mail.reply_text.lines import is_only_a_head, without_quoted
from services.mail.reply_text.split import split_reply, split_stretches

__all__ = ["is_only_a_head", "split_reply", "split_stretches", "without_quoted"]
