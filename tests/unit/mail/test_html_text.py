"""HTML to text: structure kept, hidden text found, hostile documents survived."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from services.mail.html_text import html_to_text
from services.mail.reply_text import split_reply
from tests.support.cpu import at_most

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
    "<style>section {display:none}</style><section>secret</section>",
    '<span style="color:transparent">secret</span>',
    '<span style="color:rgba(0,0,0,0)">secret</span>',
    '<span style="color:#0000">secret</span>',
    '<span style="-webkit-text-fill-color:transparent;color:red">secret</span>',
    '<span style="color:rgb(100%,100%,100%)">secret</span>',
    '<span style="color:rgb(99.5% 99.5% 99.5%)">secret</span>',
    '<span style="color:hsl(0, 0%, 100%)">secret</span>',
    '<span style="color:ghostwhite">secret</span>',
    '<span style="font:0/0 a">secret</span>',
    '<span style="font:italic 1px serif">secret</span>',
    '<div style="transform:scale(0)">secret</div>',
    '<div style="transform:translateX(-9999px)">secret</div>',
    '<div style="filter:opacity(0)">secret</div>',
    '<div style="clip-path:circle(0)">secret</div>',
    '<div style="position:absolute;clip:rect(1px, 1px, 1px, 1px)">secret</div>',
    '<div style="width:1px;height:1px;overflow:hidden">secret</div>',
    '<div style="display:/* */none">secret</div>',
    '<div style="d\\69splay:none">secret</div>',
    "<dialog>secret</dialog>",
    "<datalist><option>secret</datalist>",
    "<div popover>secret</div>",
    '<div style="content-visibility:hidden">secret</div>',
    '<div style="scale:0">secret</div>',
    '<div style="translate:-9999px 0">secret</div>',
    '<div style="transform:rotateX(90deg)">secret</div>',
    '<div style="position:relative;left:-9999px">secret</div>',
    '<div style="text-indent:calc(-1 * 9999px)">secret</div>',
    '<p style="font-size:calc(0px)">secret</p>',
    '<p style="font-size:14px;font:0/0 a">secret</p>',
    '<p style="background-color:red;background:white;color:white">secret</p>',
    '<p style="color:white !important;color:black">secret</p>',
    *(
        f"<style>{sheet}</style><div id=o class='Outer a' lang=en><section><b>"
        f"</b><u class='x y' data-k='one two' title=Note>secret</u></section></div>"
        for sheet in (
            "div u {display:none}",
            ".outer .x {display:none}",
            "#o > section > u {display:none}",
            "section>u{display:none}",
            "b + u {display:none}",
            "b ~ .x {display:none}",
            "u.x.y {display:none}",
            "u[title] {display:none}",
            "[title=note] {display:none}",
            "[data-k~='two'] {display:none}",
            "[data-k^=one] {display:none}",
            '[data-k$="o"] {display:none}',
            "[data-k*='e t'] {display:none}",
            "[lang|=en] u {display:none}",
            "u:not(.z) {display:none}",
            "u:last-child {display:none}",
            "u:nth-child(2) {display:none}",
            "u:nth-child(even) {display:none}",
            "u:first-of-type {display:none}",
            "section :is(i, .x) {display:none}",
            ":where(div) .y {display:none}",
            "i, u.x, b {display:none}",
            "\\.q, .\\78 {display:none}",
            "/* } */ u {display:none}",
            "@import 'a;b{'; u {display:none}",
            "@charset 'x'; @font-face {font-family:a} u {display:none}",
            "@media screen {u {display:none}}",
            "@media all and (min-width: 300px) {.x {display:none}}",
            "@media print, screen {.x {display:none}}",
            "@media not print {.x {display:none}}",
            "@supports (display:grid) {@layer a {u {display:none}}}",
            "b:after {content:'}'} u {display:none}",
            "u {display:none !important} .x.y {display:block}",
            ".x {display:none} u {display:block}",
            "u {font-size:0}",
            "div u {color:#fff}",
            "div u {visibility:hidden",
        )
    ),
    "<style>.x {display:none !important}</style><p class=x style='display:block'>secret</p>",
]

READ = (
    "color", "background", "background-color", "font", "font-size", "opacity", "filter", "transform", "clip", "clip-path",
    "display", "visibility", "height", "left", "text-indent", "margin-top", "-webkit-text-fill-color",
)  # fmt: skip
PIECES = (
    "rgb(", "rgba(", "hsl(", "#", "9" * 5000, "1", "0", ".", ",", " ", "/", ")", "%", "-", "px", "em", "f", "e5", "٣", "²",
    "scale(", "translate(", "rect(", "opacity(", "\\", "\\110000 ", "\\d800 ", "/*", "*/", "white", "none", "deg",
)  # fmt: skip

SHOWN = [
    '<table style="font-size:0"><tr><td style="font-size:14px">secret</td></tr></table>',
    '<div style="visibility:hidden"><b style="visibility:visible">secret</b></div>',
    '<div style="background:#000;color:#fff">secret</div>',
    '<div style="background:url(x.png);color:#fff">secret</div>',
    '<div style="height:0">secret</div>',
    "<style>@media print {.x {display:none}}</style><p class=x>secret</p>",
    '<p style="color:nonsense;font-size:nonsense">secret</p>',
    '<p style="font:bold 14px/20px Arial">secret</p>',
    '<p style="font:700 1em Arial">secret</p>',
    '<p style="background:linear-gradient(red,blue);-webkit-background-clip:text;color:transparent">secret</p>',
    '<div style="color:transparent"><b style="color:black">secret</b></div>',
    '<div style="transform:scale(0.9) translate(10px, 5px)">secret</div>',
    '<p style="color:hsl(0, 0%, 40%)">secret</p>',
    *(
        f"<style>{sheet}</style><div id=o class=a><section><p class=x>secret</p></section></div>"
        for sheet in (
            "p p {display:none}",
            ".x .a {display:none}",
            "div > p {display:none}",
            "section + p {display:none}",
            "p:not(.x) {display:none}",
            "p:hover {display:none}",
            "p::before {display:none}",
            "p:nth-child(2) {display:none}",
            "[title] {display:none}",
            "@media (max-width: 600px) {p {display:none}}",
            "@media (prefers-color-scheme: dark) {p {color:#fff}}",
            "@media not screen {p {display:none}}",
            "@supports not (display:grid) {p {display:none}}",
            "@keyframes a {from {display:none} p {display:none}}",
            "p {display:none} p.x {display:block}",
            "p {display:none} p {display:block}",
            "p {font-size:0; color:#fff} section p {font-size:14px; color:#000}",
            "a::b(, p {display:none",
        )
    ),
    "<dialog open>secret</dialog>",
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


@settings(max_examples=300)
@given(st.sampled_from(READ), st.lists(st.sampled_from(PIECES), max_size=14))
def test_a_style_that_no_program_can_read_made_a_mail_unreadable(name: str, pieces: list[str]) -> None:
    """Whatever stands in a style, numbers of any length and several points in one among it, is read or left."""
    shown = html_to_text(
        f"<style>.x {{{name}:{''.join(pieces)}}}</style><p class=x style='{name}:{''.join(pieces)}'>said</p>"
    )
    assert shown.text + shown.hidden == "said"


@pytest.mark.parametrize("colour", ["rgba(1,2,3,1.2.3)", "rgba(1,2,3,..)", f"rgb({'9' * 5000},1,2)"])
def test_a_colour_that_is_no_number_is_left(colour: str) -> None:
    """The mail is shown in the colour that it had."""
    assert html_to_text(f'<p style="color:{colour}">said</p>').text == "said"


@pytest.mark.parametrize(
    "sheet",
    [
        "*{color:red}" * 1_900,
        "".join(f".a{n} * > b + i ~ u{{color:red}}" for n in range(390)),
        "".join(f"[title*=a{n}]{{color:red}}" for n in range(900)),
        "".join(f"b:nth-child({n}n+1){{color:red}}" for n in range(900)),
        ":is(" * 2_000 + "b" + ")" * 2_000 + "{color:red}",
        "b{" * 30_000,
        "b:is(" * 19_000,
    ],
)
def test_no_style_sheet_makes_a_mail_slow(sheet: str) -> None:
    """Selectors by the hundred, of every kind, on elements by the thousand: each is read once."""
    document = f"<style>{sheet}</style>" + "<b title=abc class='a1 a2'>x</b><i>y</i>" * 4_000
    with at_most(10.0):
        assert len(html_to_text(document).text.replace(" ", "")) == 8_000


def test_characters_without_width() -> None:
    """Characters of no width are removed, and what tag characters spell is reported."""
    spelled = "".join(chr(0xE0000 + ord(character)) for character in "obey")
    found = html_to_text(f"<p>He\u200bl\u00adlo{spelled}</p>")
    assert (found.text, found.hidden) == ("Hello", "obey")


def test_text_that_is_turned_around_reads_for_everybody_as_it_is_stored() -> None:
    """An override of the direction (U+202D, U+202E) shows a person other words than it gives a model: it is taken out."""
    assert html_to_text("<p>Pay \u202e005\u202c now, \u202dabc</p>").text == "Pay 005\u202c now, abc"
    assert (
        html_to_text("<p>\u2067\u05e9\u05dc\u05d5\u05dd\u2069 Ada</p>").text
        == "\u2067\u05e9\u05dc\u05d5\u05dd\u2069 Ada"
    )


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
