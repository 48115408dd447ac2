"""What stands around the words of a reply: signature, footer, the answered mail, copies and files."""

from __future__ import annotations

import dataclasses
from email.message import EmailMessage

import pytest

from services.mail.compose import Block, ComposeRefused, File, compose
from services.mail.message import Address
from tests.unit.mail.test_compose import OUTGOING, composed

SIGNATURE = Block(
    "Grace Hopper\nShop, https://shop.example/about", '<p>Grace <b onclick="x()">Hopper</b></p><img src=x>'
)
FOOTER = Block("Shop Ltd · 1 Harbour Street")


def parts(message: EmailMessage) -> tuple[str, str]:
    plain, html = message.get_body(("plain",)), message.get_body(("html",))
    assert plain is not None
    assert html is not None
    return plain.get_content().replace("\r\n", "\n"), html.get_content().replace("\r\n", "\n")


def test_signature_footer_and_quote_stand_below_the_words_in_this_order() -> None:
    """The signature mark keeps its blank (RFC 3676); the operator's links stay."""
    plain, _ = parts(
        composed(
            signature=SIGNATURE, footer=FOOTER, quoted="Where is it?\nAnn", quote_intro="On 2026-11-20, Ann wrote:"
        )
    )
    assert plain == (
        "Hello Ann,\n\nit is on its way.\n\nShop\n\n-- \nGrace Hopper\nShop, https://shop.example/about\n\n"
        "Shop Ltd · 1 Harbour Street\n\nOn 2026-11-20, Ann wrote:\n> Where is it?\n> Ann\n"
    )


def test_html_of_the_operator_runs_nothing_and_loads_nothing() -> None:
    """Handlers, images and scripts go; what is given as text alone becomes HTML with its links."""
    _, html = parts(composed(signature=SIGNATURE, footer=Block("https://shop.example/legal")))
    assert "<b>Hopper</b>" in html
    assert "onclick" not in html
    assert "<img" not in html
    assert '<a href="https://shop.example/legal">' in html


def test_links_of_a_quoted_mail_are_not_sent_on() -> None:
    """What a customer wrote is quoted without anything to click."""
    plain, html = parts(
        composed(quoted="see https://evil.example/x?d=1", quote_intro="On https://evil.example/y, x wrote:")
    )
    assert "evil.example/" not in plain + html
    assert "<blockquote>" in html


def test_a_signature_alone_is_no_reply() -> None:
    """A reply without words is refused, whatever stands around it."""
    with pytest.raises(ComposeRefused, match="no text"):
        compose(dataclasses.replace(OUTGOING, text="\n", signature=SIGNATURE, quoted="hello"))


def test_what_is_shown_for_approval_is_what_leaves() -> None:
    """`Composed.text` is the plain part, to the letter."""
    made = compose(dataclasses.replace(OUTGOING, text="see www.evil.example/x", signature=SIGNATURE, footer=FOOTER))
    plain, _ = parts(composed(text="see www.evil.example/x", signature=SIGNATURE, footer=FOOTER))
    assert made.text + "\n" == plain
    assert "[.]" in made.text


def test_copies_stand_in_cc_and_in_the_envelope() -> None:
    """Colleagues are named as they were written; a name that hides an address is left out."""
    cc = (Address("Bo, the Boss", "Bo@customer.example"), Address("x@evil.example", "cy@customer.example"))
    made = compose(dataclasses.replace(OUTGOING, cc=cc))
    assert made.cc == ("Bo@customer.example", "cy@customer.example")
    assert [one.addr_spec for one in composed(cc=cc)["Cc"].addresses] == list(made.cc)


@pytest.mark.parametrize(
    "addr", ["a@b.example, eve@evil.example", "a@b.example\r\nBcc: eve@evil.example", "no address"]
)
def test_a_copy_to_what_is_no_single_address_is_refused(addr: str) -> None:
    """Nothing rides along on a colleague's address."""
    with pytest.raises(ComposeRefused):
        compose(dataclasses.replace(OUTGOING, cc=(Address("", addr),)))


def test_files_go_along_and_the_same_reply_gives_the_same_bytes() -> None:
    """A file is an attachment with its own name and type, behind the text."""
    files = (File("Preise – Übersicht.pdf", "application/pdf", b"%PDF-1.7 x"), File("a.txt", "text/plain", b"hi\n"))
    message = composed(files=files)
    attached = [(one.get_filename(), one.get_content_type()) for one in message.iter_attachments()]
    assert attached == [("Preise – Übersicht.pdf", "application/pdf"), ("a.txt", "text/plain")]
    assert parts(message)[0].startswith("Hello Ann,")
    assert (
        compose(dataclasses.replace(OUTGOING, files=files)).raw
        == compose(dataclasses.replace(OUTGOING, files=files)).raw
    )


def test_a_file_name_cannot_add_a_header() -> None:
    """Line breaks in a file's name stay in the name."""
    message = composed(files=(File("a.pdf\r\nBcc: eve@evil.example", "application/pdf", b"x"),))
    assert message["Bcc"] is None
    assert [one["Bcc"] for one in message.walk()] == [None] * len(list(message.walk()))
