"""HTML to text: structure kept, hidden text found, hostile documents survived."""

from __future__ import annotations

import pytest

from services.mail.html_text import html_to_text
from services.mail.reply_text import split_reply

HIDING = [
    '<span style="display:none">secret</span>',
    '<span style="DISPLAY : None !important">secret</span>',
    '<div style="visibility:hidden">secret</div>',
    '<div style="opacity:0">secret</div>',
    '<div style="opacity: 0.01">secret</div>',
    '<span style="font-size:0">secret</span>',
    '<span style="font-size:1px">secret</span>',
    '<span style="font-size:0.01em">secret</span>',
    '<span style="color:#fff">secret</span>',
    '<span style="color:rgb(254, 255, 254)">secret</span>',
    '<font color="white">secret</font>',
    '<div style="background:#222"><span style="color:#232323">secret</span></div>',
    '<table bgcolor="#336699"><tr><td style="color:#336699">secret</td></tr></table>',
    '<div style="position:absolute;left:-9999px">secret</div>',
    '<div style="text-indent:-5000px">secret</div>',
    '<div style="max-height:0;overflow:hidden">secret</div>',
    "<div hidden>secret</div>",
    "<style>.x, #y {display:none}</style><p class='a x'>secret</p>",
    "<style>#y {color:white}</style><p id=y>secret</p>",
]

SHOWN = [
    '<table style="font-size:0"><tr><td style="font-size:14px">secret</td></tr></table>',
    '<div style="visibility:hidden"><b style="visibility:visible">secret</b></div>',
    '<div style="background:#000;color:#fff">secret</div>',
    '<div style="background:url(x.png);color:#fff">secret</div>',
    '<div style="height:0">secret</div>',
    "<style>@media print {.x {display:none}}</style><p class=x>secret</p>",
    '<p style="color:nonsense;font-size:nonsense">secret</p>',
]


@pytest.mark.parametrize("html", HIDING)
def test_hidden_text_is_reported(html: str) -> None:
    """Text that a reader cannot see is taken out of the text and reported."""
    found = html_to_text(f"<p>Hello</p>{html}<p>Bye</p>")
    assert found.text.split() == ["Hello", "Bye"]
    assert found.hidden == "secret"


@pytest.mark.parametrize("html", SHOWN)
def test_visible_text_stays(html: str) -> None:
    """Text that a reader sees stays, whatever is said around it."""
    found = html_to_text(html)
    assert (found.text, found.hidden) == ("secret", "")


def test_characters_without_width() -> None:
    """Characters of no width are removed, and what tag characters spell is reported."""
    spelled = "".join(chr(0xE0000 + ord(character)) for character in "obey")
    found = html_to_text(f"<p>He\u200bl\u00adlo{spelled}</p>")
    assert (found.text, found.hidden) == ("Hello", "obey")


def test_structure() -> None:
    """Paragraphs, lists, tables, links, rules and preformatted text keep their shape."""
    html = """<h1>Order</h1><p>See <a href="https://shop.example/a">this   page</a>,
      <a href="https://shop.example">shop.example</a>.</p>
      <ul><li>one<li>two<ol><li>inner</ol></ul>
      <table><tr><th>a<th>b<tr><td>1<td>2</table><pre>x  y
  z</pre><hr>end<br>line<script>alert(1)</script>"""
    assert html_to_text(html).text == (
        "Order\n\nSee this page <https://shop.example/a>, shop.example.\n\n- one\n- two\n  1. inner\n\n"
        "a | b\n1 | 2\n\nx  y\n  z\n\n--------------------\nend\nline"
    )


def test_quotes_become_quote_lines() -> None:
    """A blockquote becomes lines with quote marks."""
    assert html_to_text("a<blockquote>b<blockquote>c</blockquote></blockquote>").text == "a\n\n> b\n>\n> > c"


@pytest.mark.parametrize(
    "html", ["", " ", "<", "<!--", "\x00", "<?xml version='1.0'?>", "<p>" * 50_000, "&#0;&#x110000;"]
)
def test_broken_html_raises_nothing(html: str) -> None:
    """Anything can be read."""
    assert not html_to_text(html).text.strip("<\ufffd")


CLIENTS = {
    "gmail": '<div dir="ltr">Yes.</div><br><div class="gmail_quote"><div class="gmail_attr">Foo bar baz:</div>'
    '<blockquote class="gmail_quote" style="border-left:1px solid">Old</blockquote></div>',
    "outlook web": '<div>Yes.</div><hr><div id="divRplyFwdMsg"><b>Xxx:</b> A<br><b>Yyy:</b> B<br></div><div>Old</div>',
    "outlook desktop": '<p class="MsoNormal">Yes.</p><div style="border:none;border-top:solid #E1E1E1 1.0pt">'
    "<p><b>Xx:</b> A<br><b>Yy:</b> B<br><b>Zz:</b> C</p></div><p>Old</p>",
    "thunderbird": '<p>Yes.</p><div class="moz-cite-prefix">Foo baz:<br></div><blockquote type="cite">Old</blockquote>',
    "thunderbird, typed into the attribution": '<div class="moz-cite-prefix">Yes.<br>On 1 Jan 2024, A wrote:<br></div>'
    '<blockquote type="cite">Old</blockquote>',
    "apple mail": '<div>Yes.</div><div><blockquote type="cite"><div>On 1 Jan 2024, at 10:00, A wrote:</div>'
    "<div>Old</div></blockquote></div>",
    "yahoo": '<div>Yes.</div><div id="yahoo_quoted_1" class="yahoo_quoted"><div>Foo:</div><div>Old</div></div>',
    "proton": '<div>Yes.</div><div class="protonmail_quote">Foo:<blockquote class="cite">Old</blockquote></div>',
}


@pytest.mark.parametrize("html", CLIENTS.values(), ids=CLIENTS)
def test_quotes_are_known_by_their_markup(html: str) -> None:
    """A client's markup tells the quote, in whatever language it announces it."""
    reply = split_reply("", html)
    assert (reply.new, "Old" in reply.quoted) == ("Yes.", True)


def test_forward_in_html() -> None:
    """Below a client's mark of a forward nothing is new, though nothing there is marked as a quote."""
    head = "---------- Forwarded message ---------<br>From: A &lt;a@b.example&gt;<br>Date: 1 Jan<br>Subject: x<br>To: c"
    reply = split_reply("", f"<div>See below.</div><div class=gmail_quote><div class=gmail_attr>{head}</div>Old</div>")
    assert (reply.new, "Old" in reply.quoted) == ("See below.", True)


def test_signature_is_known_by_its_markup() -> None:
    """A client's markup tells the signature."""
    reply = split_reply("", '<div>Yes.</div><div class="gmail_signature">Ann Lee<br>Sales</div>')
    assert (reply.new, "Ann Lee" in reply.signature) == ("Yes.", True)


def test_indentation_is_no_quote() -> None:
    """A blockquote by which an editor only indents is the writer's own."""
    html = '<div>See:</div><blockquote style="margin:0 0 0 40px;border:none;padding:0px">mine</blockquote>'
    assert "mine" in split_reply("", html).new


def test_inline_answers_in_html() -> None:
    """Answers between the pieces of a quote stay."""
    asked = "<blockquote type=cite>{}</blockquote>".format
    new = split_reply("", f"{asked('Which size?')}<p>Medium.</p>{asked('Which colour?')}<p>Red.</p>").new
    assert [word in new for word in ("Medium.", "Red.", "Which size?")] == [True, True, True]


def test_characters_of_no_width_are_taken_out_of_a_long_text_as_of_a_short_one() -> None:
    """A long text is looked through block by block, and what tag characters spell is still what is hidden."""
    tagged = "".join(chr(0xE0000 + ord(one)) for one in "obey")
    found = html_to_text("<p>" + "a\u200b" * 150_000 + tagged + "z</p>")
    assert found.text == "a" * 150_000 + "z"
    assert found.hidden == "obey"
