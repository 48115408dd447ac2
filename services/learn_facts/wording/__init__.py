"""Words of customers in the languages that the product knows (see `services.core.wording`).

orders.txt     sentences that speak to the memory or its rules, not about the customer
grants.txt     keys of what we grant
our_acts.txt   what we are said to have promised, granted or owe
imperatives.txt  a text that gives an order to its reader
numbers.txt    numbers in words
denials.txt    words that turn a sentence into its opposite
glue.txt       words that say nothing of what a sentence is about

Of a clause in which the value is written `@` (see `assertion`):

asked.txt, questions.txt, tags.txt   it asks
conditions.txt, requests.txt           it is thought of, or wanted
bygone.txt, left.txt, origins.txt, changes.txt, now.txt   it was so; it is another now
reports.txt, others.txt, own.txt, i_am.txt   somebody else says it, or it is theirs; the author's own
contact_requests.txt                 asks us to use it
keys.toml                            usual keys with the other names that models give them
"""

from services.core.wording import accented, folded, wording


def says(name: str, text: str) -> bool:
    """Whether any line of `name.txt` stands in a text."""
    return wording(__name__, name).search(folded(text)) is not None


def says_exactly(name: str, text: str) -> bool:
    """Whether any line of `name.txt` stands in a text, accents and all: "si" is no "sí"."""
    return accented(__name__, name).search(text.casefold()) is not None


def said_of(name: str, text: str) -> frozenset[str]:
    """What of a text the lines of `name.txt` match, folded."""
    return frozenset(found.group() for found in wording(__name__, name).finditer(folded(text)))


def is_glue(word: str) -> bool:
    """Whether a folded word only holds a sentence together."""
    return wording(__name__, "glue").fullmatch(word) is not None
