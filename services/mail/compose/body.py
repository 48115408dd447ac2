"""The body: plain text first, and HTML made from it by us, with the links that the policy allows and no images."""

from __future__ import annotations

import hashlib
import html
import re
from collections.abc import Sequence
from email.message import EmailMessage
from email.policy import SMTP

from services.core.wording import as_read
from services.mail.compose.links import LinkPolicy, find_links, is_web, shown, unschemed
from services.mail.compose.outgoing import ComposeRefused, File
from services.mail.compose.wire import plain

_UNSEEN = re.compile(
    r"[\x00-\x08\x0e-\x1f\x7f-\x9f\u00ad\u180e\u200b\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    r"\U000e0000-\U000e007f\ud800-\udfff]"
)
_MEDIA_TYPE = re.compile(r"[a-z0-9!#$&^_.+-]{1,127}/[a-z0-9!#$&^_.+-]{1,127}", re.I)  # RFC 6838, 4.2


def clean_text(text: str) -> str:
    """Text with LF lines, without control characters other than tab and what nobody sees; no trailing blanks.

    Joiners and direction marks that scripts need to be written stay. No gap is longer than two empty lines: who
    approves a draft would not look for more words below it.
    """
    lines = re.sub(r"\r\n?|\x0b|\x0c|\x85|\u2028|\u2029", "\n", text).split("\n")
    seen = (_UNSEEN.sub("", line).rstrip() if as_read(line).strip() else "" for line in lines)
    return re.sub(r"\n{4,}", "\n\n\n", "\n".join(seen)).strip("\n")


def safe_text(text: str, links: LinkPolicy) -> str:
    """The plain body: every link that is not allowed is replaced by `shown`.

    What one look leaves is looked at again, since the rest of a link may be another one (`a.mailto:b`). Each look that
    changes anything takes a link's sign away or puts a blank behind a colon, so that there is a last one.
    """
    before, safe = "", clean_text(text)
    while safe != before:
        before, safe = safe, clean_text(_without_links(safe, links))
    return safe


def _without_links(text: str, links: LinkPolicy) -> str:
    """The text after one look."""
    out, at = [], 0
    while found := next(find_links(text, at), None):
        kept = links.kept(found.url)
        out += [unschemed(text[at : found.start]), kept or shown(found.url)]
        at = found.start + len(kept) if kept else found.end
    return "".join([*out, unschemed(text[at:])])


def html_of(text: str, links: LinkPolicy) -> str:
    """HTML of a safe plain text: paragraphs, line breaks and allowed links, nothing else."""
    paragraphs = (p for p in re.split(r"\n{2,}", text) if p.strip())
    return "".join(f"<p>{_linked(p, links)}</p>\n" for p in paragraphs)


def _linked(paragraph: str, links: LinkPolicy) -> str:
    out, at = [], 0
    while found := next(find_links(paragraph, at), None):
        kept = links.kept(found.url) if is_web(found.url) else ""
        end = found.start + len(kept) if kept else found.end
        shown_as = html.escape(paragraph[found.start : end])
        link = f'<a href="{shown_as}">{shown_as}</a>' if kept else shown_as
        out += [html.escape(paragraph[at : found.start]), link]
        at = end
    return "".join([*out, html.escape(paragraph[at:])]).replace("\n", "<br>\n")


def mime_body(text: str, markup: str, files: Sequence[File] = ()) -> bytes:
    """MIME headers and body: a multipart/alternative, plain part first, within a multipart/mixed where files go along.

    Boundaries are hashes of what stands between them, so that the same reply gives the same bytes. Raises
    `ComposeRefused` for a file whose type is none.
    """
    message = EmailMessage(policy=SMTP)
    message.set_content(text + "\n", cte="quoted-printable")
    message.add_alternative(markup, subtype="html", cte="quoted-printable")
    digest = hashlib.sha256((text + markup).encode())
    message.set_boundary("=_" + digest.hexdigest()[:40])
    for file in files:
        if not _MEDIA_TYPE.fullmatch(file.content_type):
            raise ComposeRefused(f"{plain(file.content_type)[:80]!r} is no media type")
        maintype, _, subtype = file.content_type.partition("/")
        message.add_attachment(file.content, maintype=maintype, subtype=subtype, filename=plain(file.filename))
        digest.update(file.content)
    if files:
        message.set_boundary("=m_" + digest.hexdigest()[:40])
    return message.as_bytes()
