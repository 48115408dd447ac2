"""Support threads of our own with known answers: long replies between short questions, one product, the same names.

Pure and deterministic. Seven customers of one maker of label printers write about the same matters again and again.
Each thread is about one matter and holds one detail that only its own message says: what we advised, what the customer
told us, a short answer to a question of ours. Questions ask for the detail in other words than the message's; some name
the month, as the same matter came up twice, and some need two messages.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from tests.benchmarks.locomo import Conversation, Question, Turn

CUSTOMERS = 7
THREADS = 34
START = datetime(2025, 1, 6, 9, tzinfo=UTC)
AGENT = ""  # our own side of a thread has no name
NAMES = ("Maria Lang", "Maria Long", "Mario Lang", "Jonas Lang", "Maria Berg", "Jonas Berg", "Mario Berg")
MULTI_HOP, TEMPORAL, ELLIPTIC, SINGLE_HOP = 1, 2, 3, 4
CATEGORY_NAMES = {
    MULTI_HOP: "two messages",
    TEMPORAL: "month named",
    ELLIPTIC: "short answer",
    SINGLE_HOP: "one message",
}


@dataclass(frozen=True, slots=True)
class Matter:
    """What threads are about: the customer's words, our advice with a detail, and how one asks for it later.

    `ours` says what we asked and what the customer answered in two words; `asked_short` asks for that.
    """

    subject: str
    problem: str
    advice: str
    details: tuple[str, ...]
    asked: tuple[str, ...]
    ours: str = ""
    short: tuple[str, ...] = ()
    asked_short: str = ""


MATTERS = (
    Matter("Smudged labels", "Our labels smudge as soon as somebody touches them.",
           "Please change to the {} ribbon and raise the darkness by two steps.",
           ("wax-resin", "full resin", "near-edge", "scratch-proof black", "textile", "metallic silver"),
           ("Which ribbon cured the blurred print?", "What did you tell us to put in when the ink came off?"),
           "Which material are the labels made of?", ("Polyester.", "Vinyl.", "Coated paper.", "Kraft."),
           "What stuff are our stickers made of?"),
    Matter("Printer not found", "The computer does not see the printer in the network any more.",
           "Give it the fixed address {} under Network, then restart both.",
           ("10.0.4.17", "10.0.9.3", "192.168.7.40", "172.16.2.8", "10.1.1.99", "192.168.50.6"),
           ("Which IP should the device have?", "What number did we have to enter so that the PC could reach it?"),
           "Is it on a cable or wireless?", ("Cable.", "Wireless.", "Cable, behind a switch."), "How is the device connected?"),
    Matter("Refund", "We were charged twice for the last order.",
           "We have sent {} back to your card; it takes five working days.",
           ("84.20 EUR", "119.00 EUR", "37.50 EUR", "260.10 EUR", "15.90 EUR", "402.00 EUR"),
           ("How much money did we get back?", "What sum was returned after the double charge?"),
           "Which card was it?", ("The one ending in 4410.", "The one ending in 9032.", "The company card."),
           "Which means of payment was concerned?"),
    Matter("Firmware", "Since the update the display stays blank after a minute.",
           "Go back to version {} with the stick that came with it, and leave automatic updates off.",
           ("4.2.1", "4.1.9", "3.8.0", "5.0.2", "4.4.7", "3.9.5"),
           ("To which release did we have to downgrade?", "What software did you make us install because of the dark screen?"),
           "Which model is it?", ("LP-300.", "LP-450.", "LP-300 Pro.", "LP-80."), "What type of machine do we have?"),
    Matter("Delivery", "The parcel with our cutter has not arrived.",
           "It waits at the depot in {}; ask for it with the number in this mail.",
           ("Wels", "Villach", "Krems", "Steyr", "Hallein", "Bludenz"),
           ("Where was the package held back?", "In which town did we have to collect the shipment?"),
           "Is somebody there on Saturdays?", ("Only until noon.", "No, never.", "Yes, the porter."), "Can things be dropped at the weekend?"),
    Matter("Paper jam", "The paper gets stuck at every third label.",
           "Set the gap sensor to {} and clean the roller with alcohol.",
           ("2.5 mm", "3 mm", "4.2 mm", "1.8 mm", "6 mm", "3.6 mm"),
           ("Which distance did the sensor need against the jamming?", "What value stopped the sheets from getting stuck?"),
           "How wide is the roll?", ("58 millimetres.", "80 millimetres.", "104 millimetres."), "What width of media do we use?"),
    Matter("Training", "Two new colleagues need an introduction.",
           "{} will show them everything in a call of an hour.",
           ("Priya", "Tomasz", "Ingrid", "Olufemi", "Keiko", "Rafael"),
           ("Who of your people taught our beginners?", "Which trainer was going to explain the device to our staff?"),
           "Which day suits you?", ("Thursday.", "Any Monday.", "Friday morning."), "When did we want the lesson?"),
    Matter("Barcodes", "Our customer's scanner refuses the codes that we print.",
           "Use the symbology {} with a quiet zone of ten modules.",
           ("Code 128", "EAN-13", "GS1 DataBar", "ITF-14", "Data Matrix", "Aztec"),
           ("What kind of code could the scanner finally read?", "Which format did you propose for the unreadable stripes?"),
           "Which scanner do they use?", ("A Zebex.", "An old Datalogic.", "Their phones."), "What do our clients scan with?"),
    Matter("Quote", "What would a service contract cost us?",
           "For your two sites it comes to {} a year, on-site help included.",
           ("640 EUR", "780 EUR", "915 EUR", "1,120 EUR", "530 EUR", "1,340 EUR"),
           ("What was the price of the maintenance agreement?", "How expensive was the yearly support that you offered?"),
           "How many printers are there?", ("Four.", "Eleven.", "Six, soon seven."), "What is the number of machines here?"),
    Matter("Noise", "It squeaks loudly while it prints.",
           "Put a drop of {} on the left bearing, never on the belt.",
           ("silicone oil", "PTFE grease", "sewing machine oil", "graphite powder", "lithium grease", "clock oil"),
           ("With what should we lubricate against the squeal?", "Which substance made it quiet again?"),
           "Since when?", ("Since the move.", "Since Easter.", "For a week."), "How long had it been loud?"),
    Matter("Driver", "Windows says that the driver is not signed.",
           "Install the package named {} as administrator and plug the cable in last.",
           ("lp-signed-w11", "lp-universal", "lp-legacy-32", "lp-certified-q3", "lp-enterprise-msi", "lp-arm64"),
           ("What is the file called that Windows accepted?", "Which download solved the signature warning?"),
           "Is it Windows 10 or 11?", ("11.", "Still 10.", "Both."), "Which operating system do we run?"),
    Matter("Colour", "The red on our labels looks brown.",
           "Choose the profile {} and print at the slowest speed.",
           ("sRGB soft", "Fogra 39", "ISO coated", "Vivid 2", "Spot match", "Press neutral"),
           ("Which colour setting turned the brown into red?", "What profile did you recommend for the wrong tint?"),
           "Is it for food?", ("Yes, jars.", "No, cosmetics.", "Yes, honey."), "What do we put the coloured labels on?"),
)  # fmt: skip

OPENINGS = (
    "Thank you for your message, and for the patience that you have shown with your label printer so far.",
    "Thank you for writing to us again. We have looked at the settings of your label printer together with a technician.",
    "We are sorry for the trouble that the printer and its labels have caused you, and we want to settle this quickly.",
)
MIDDLES = (
    "Before you begin, switch the printer off, wait for a minute, and make sure that the labels lie flat in the tray. Should a light blink, note its colour.",
    "Please print the test page from the menu first, and compare it with the sample in the manual, page twelve. A photo of both helps us, if something looks odd.",
    "Other customers with the same printer told us that this took them about ten minutes. You need no tools. Nothing that is stored in the printer gets lost, neither templates nor counters.",
    "If your network or your labels are looked after by somebody else, forward this mail to them; they may write to us directly, and we keep everything in this thread.",
)
CLOSINGS = (
    "If the printer still gives you trouble with a label, a ribbon, the network, an order or a refund, just answer this mail. We read every answer within a working day.",
    "Let us know whether that helped. Your printer has a guarantee of three years, labels and ribbons have none, and we are here from eight to six.",
)
WAITING = ("Still the same here.", "We are waiting.", "Any news?", "It got worse.")
THANKS = ("Thanks, that did it.", "Perfect, thank you!", "Works now.", "Great, thanks a lot.", "OK, we will try that.")


def conversations() -> list[Conversation]:
    """All customers' threads, each customer's as one conversation with its questions."""
    return [_conversation(number, random.Random(1_000 + number)) for number in range(CUSTOMERS)]


@dataclass(frozen=True, slots=True)
class _Told:
    """A matter of one thread, the turns that hold its detail and the short answer (if there is one), and when."""

    matter: Matter
    advice: int
    short: int | None
    at: datetime


def _conversation(number: int, dice: random.Random) -> Conversation:
    turns: list[Turn] = []
    told = [_thread(turns, session, dice, NAMES[number]) for session in range(1, THREADS + 1)]
    return Conversation(f"customer {number}", tuple(turns), tuple(_questions(told, dice)))


def _thread(turns: list[Turn], session: int, dice: random.Random, name: str) -> _Told:
    """A thread of two to eight turns: our question and its answer come first, last, or not at all."""
    matter = MATTERS[(session * 5 + dice.randrange(2)) % len(MATTERS)]
    at = START + timedelta(days=17 * session, hours=dice.randrange(6))
    asking = (AGENT, _long(dice, matter.ours)), (name, dice.choice(matter.short))
    advice = (AGENT, _long(dice, matter.advice.format(dice.choice(matter.details))))
    said = [(name, f"Hello, {matter.problem[0].lower()}{matter.problem[1:]} Can you help?")]
    when = dice.choice(("before", "after", "never"))
    said += asking if when == "before" else ()
    if dice.random() < 0.3:
        said += [(AGENT, _long(dice, "We will come back to you.")), (name, dice.choice(WAITING))]
    said.append(advice)
    if dice.random() < 0.6:
        said.append((name, dice.choice(THANKS)))
    said += asking if when == "after" else ()
    first = len(turns)
    turns += [
        Turn(session, place, who, text, at + timedelta(hours=3 * place)) for place, (who, text) in enumerate(said)
    ]
    short = None if when == "never" else first + said.index(asking[1])
    return _Told(matter, first + said.index(advice), short, at)


def _long(dice: random.Random, sentence: str) -> str:
    """A long answer of ours with a sentence somewhere among the others."""
    parts = [dice.choice(OPENINGS), *dice.sample(MIDDLES, dice.randint(1, 3)), dice.choice(CLOSINGS)]
    parts.insert(dice.randint(1, len(parts) - 1), sentence)
    return "\n\n".join(parts) if dice.random() < 0.5 else " ".join(parts)


def _questions(told: list[_Told], dice: random.Random) -> Iterator[Question]:
    for one in told:
        same = [other for other in told if other.matter is one.matter]
        month = sum(f"{other.at:%Y-%m}" == f"{one.at:%Y-%m}" for other in same)
        asked = dice.choice(one.matter.asked)
        if month == 1:
            yield Question(f"{asked[:-1]} in {one.at:%B %Y}?", TEMPORAL, frozenset({one.advice}))
    for matter in MATTERS:
        same = [one for one in told if one.matter is matter]
        if not same:
            continue
        yield Question(dice.choice(matter.asked), SINGLE_HOP, frozenset(one.advice for one in same))
        if short := frozenset(one.short for one in same if one.short is not None):
            yield Question(matter.asked_short, ELLIPTIC, short)
        other = dice.choice([one for one in told if one.matter is not matter])
        both = f"{matter.asked[0][:-1]}, and {other.matter.asked[1][0].lower()}{other.matter.asked[1][1:]}"
        others = {one.advice for one in told if one.matter is other.matter}
        yield Question(both, MULTI_HOP, frozenset({one.advice for one in same} | others))
