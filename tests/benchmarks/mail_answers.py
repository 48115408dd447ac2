"""Answers above, below and between quotes: short first lines x the ways of mail programs to announce a quote.

`measure` is called by `tests.benchmarks.mail`; alone: `python -m tests.benchmarks.mail_answers [--n N] [--seed S]`.
Nothing that the customer wrote may be missing from the new text (lost), and no quote may stand there in its place
(swapped); how much of the quote is taken off is measured beside it.
"""

from __future__ import annotations

import argparse
import html
import random
import textwrap
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from services.mail.reply_text import split_reply
from tests.benchmarks.mail_attributions import ALL, Announced, drawn
from tests.benchmarks.measured import Measured, at_least, at_most

COMBINATIONS = 6_000
LEAST_TAKEN_OFF = 98.0

ANSWERS = (
    *(
        "On Thursday.",
        "On Monday",
        "On 5 May.",
        "On 5 May at 10:30",
        "At 9:15.",
        "Tuesday, 10:30",
        "5 May 2024",
        "In May.",
    ),
    *("Yes", "No.", "Yes, please.", "ok", "2", "2 pieces", "12345", "A-1023", "Both.", "The blue one.", "10:30", "+1"),
    *(
        "Sent by post on Monday.",
        "Sent from Berlin yesterday.",
        "From: Berlin",
        "To: the office",
        "Date: 5 May",
        "Ann Lee",
    ),
    *("Ann wrote to you already.", "I wrote on 4 March.", "My address: ann@customer.example", "ann@customer.example"),
    *(
        "At the office: 12 Main Street, 10115 Berlin",
        "Re: yes",
        "Subject to approval.",
        "Quoting your terms: no.",
        "Thanks!",
    ),
    *(
        "Am Donnerstag.",
        "Am 5. Mai.",
        "Ja",
        "Um 9 Uhr.",
        "Von Berlin aus.",
        "Im Mai 2024",
        "Gesendet habe ich es gestern.",
    ),
    *(
        "Le 5 mai.",
        "Le jeudi, merci.",
        "Oui",
        "À Paris.",
        "El jueves.",
        "El 5 de mayo",
        "Sí, gracias",
        "Em maio.",
        "Il 5 maggio.",
    ),
    *(
        "Op donderdag.",
        "Den 5 maj",
        "På torsdag.",
        "W czwartek.",
        "Dne 5. května",
        "V četrtek.",
        "V sredo ob 10:30",
        "U četvrtak.",
    ),
    *("В четверг.", "5 мая", "На 5 май.", "В сряда.", "У четвер.", "Στις 5 Μαΐου.", "Perşembe günü.", "Vào thứ Năm."),
    *(
        "ในวันพฤหัส",
        "วันที่ 5 พฤษภาคม",
        "ใช่ครับ",
        "गुरुवार को।",
        "5 मई को",
        "हाँ",
        "木曜日に。",
        "5月5日です",
        "はい",
        "在周四。",
        "5月5日",
    ),
    *(
        "好的",
        "목요일에요.",
        "네",
        "في يوم الخميس.",
        "نعم",
        "٥ مايو",
        "ביום חמישי.",
        "כן",
        "در پنجشنبه.",
        "Pada hari Kamis.",
        "👍",
        "?",
    ),
)
MORE = (
    "",
    "",
    "",
    "Can you send two more?",
    "It broke again\non the way.",
    "1. the lid\n2. the pan",
    "Best\nAnn",
    "Ann",
)
ASKED = (
    "When would you like the quetzal to be delivered?",
    "Which of the quetzals do you want: the red or the blue one?\nPlease let us know.\n\nKind regards\nQuetzal Support",
    "Hello Ann,\n\nwe sent the quetzal on 4 March 2024.\nDid it arrive?\n\nQuetzal Support\nsupport@shop.example",
)
MARK = "quetzal"


@dataclass(frozen=True, slots=True)
class Written:
    """A mail, what the customer wrote of it, and whether its quote has to be taken off."""

    text: str
    own: str
    quote_goes: bool
    html: str = ""


def _marked(text: str) -> str:
    return "\n".join(f"> {line}".rstrip() for line in text.split("\n"))


def _above(own: str, head: Announced, asked: str) -> Written:
    return Written(f"{own}\n\n{head.text}\n\n{_marked(asked)}\n", own, True)


def _tight(own: str, head: Announced, asked: str) -> Written:
    return Written(f"{own}\n\n{head.text}\n{_marked(asked)}\n", own, True)


def _wrapped(own: str, head: Announced, asked: str) -> Written:
    wrapped = head.text if "\n" in head.text else "\n".join(textwrap.wrap(head.text, 72, break_on_hyphens=False))
    return Written(f"{own}\n\n{wrapped}\n\n{_marked(asked)}\n", own, True)


def _no_gap(own: str, head: Announced, asked: str) -> Written:
    return Written(f"{own}\n{head.text}\n{_marked(asked)}\n", own, False)


def _unmarked(own: str, head: Announced, asked: str) -> Written:
    return Written(f"{own}\n\n{head.text}\n\n{asked}\n", own, head.sure)


def _all_quoted(own: str, head: Announced, asked: str) -> Written:
    return Written(f"{own}\n\n{_marked(f'{head.text}{chr(10)}{chr(10)}{asked}')}\n", own, True)


def _below(own: str, head: Announced, asked: str) -> Written:
    return Written(f"{head.text}\n{_marked(asked)}\n\n{own}\n", own, False)


def _around(own: str, head: Announced, asked: str) -> Written:
    return Written(f"Hi,\n\n{head.text}\n{_marked(asked)}\n\n{own}\n", f"Hi,\n{own}", False)


def _between(own: str, head: Announced, asked: str) -> Written:
    return Written(f"{head.text}\n{_marked(asked)}\n\n{own}\n\n> And the colour?\n\nBlue.\n", f"{own}\nBlue.", False)


def _gmail(own: str, head: Announced, asked: str) -> Written:
    said, told, above = (html.escape(part).replace("\n", "<br>") for part in (own, asked, head.text))
    body = (
        f'<div dir="ltr">{said}</div><br><div class="gmail_quote"><div dir="ltr" class="gmail_attr">{above}<br></div>'
        f'<blockquote class="gmail_quote">{told}</blockquote></div>'
    )
    return Written("", own, True, body)


def _plain_html(own: str, head: Announced, asked: str) -> Written:
    said, told, above = (html.escape(part).replace("\n", "<br>") for part in (own, asked, head.text))
    return Written("", own, True, f"<p>{said}</p><p>{above}</p><blockquote type='cite'><div>{told}</div></blockquote>")


LAYOUTS: tuple[Callable[[str, Announced, str], Written], ...] = (
    *(_above, _tight, _wrapped, _no_gap, _unmarked, _all_quoted, _below, _around, _between, _gmail, _plain_html),
)


def combinations(count: int, seed: int) -> Iterator[tuple[str, Written]]:
    """Mails drawn at random, each with a name that says what it is made of; every format and answer is drawn in turn."""
    chance = random.Random(seed)
    for number in range(count):
        head = drawn(ALL[number % len(ALL)], chance)
        more = chance.choice(MORE)
        own = chance.choice(ANSWERS) + (f"\n\n{more}" if more else "")
        layout = LAYOUTS[(number // len(ALL)) % len(LAYOUTS)]
        yield f"{layout.__name__[1:]}, {head.format}: {own!r}", layout(own, head, chance.choice(ASKED))


def lost(written: Written) -> tuple[str, ...]:
    """Words of the customer that are missing from the new text. A signature may be one, as long as it is no answer."""
    reply = split_reply(written.text, written.html)
    kept = reply.new.split()
    return tuple(word for word in written.own.split() if word not in kept)


def swapped(written: Written) -> bool:
    """Whether the quote stands in the new text, and a word of the customer does not."""
    return MARK in split_reply(written.text, written.html).new.lower() and bool(lost(written))


def taken_off(written: Written) -> bool:
    """Whether nothing of the quote is left in the new text."""
    return MARK not in split_reply(written.text, written.html).new.lower()


def measure(count: int = COMBINATIONS, seed: int = 1) -> list[Measured]:
    """Mails that lost a word of the customer's, mails in which the quote took its place, and quotes taken off."""
    mails = [mail for _, mail in combinations(count, seed)]
    to_go = [mail for mail in mails if mail.quote_goes]
    share = 100 * sum(map(taken_off, to_go)) / max(len(to_go), 1)
    return [
        at_most("answers: mails with a lost word", sum(bool(lost(mail)) for mail in mails), "mails", 0, len(mails)),
        at_most("answers: answer and quote swapped", sum(map(swapped, mails)), "mails", 0, len(mails)),
        at_least("answers: quotes taken off", round(share, 2), "%", LEAST_TAKEN_OFF, len(to_go)),
    ]


def main() -> None:
    """Prints the lines, and the mails that are wrong."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.mail_answers")
    parser.add_argument("--n", type=int, default=COMBINATIONS)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1_000_000))
    parser.add_argument("--show", type=int, default=20)
    given = parser.parse_args()
    print(f"seed {given.seed}")
    wrong = [(name, mail) for name, mail in combinations(given.n, given.seed) if lost(mail)]
    left = [(name, mail) for name, mail in combinations(given.n, given.seed) if mail.quote_goes and not taken_off(mail)]
    for label, found in (("lost", wrong), ("left", left)):
        for name, mail in found[: given.show]:
            print(f"{label}: {name}: {lost(mail)}")
    for line in measure(given.n, given.seed):
        print(f"{line.name:60} {line.value:10.2f} {line.unit:8} n={line.n}  {'met' if line.met else 'NOT met'}")


if __name__ == "__main__":
    main()
