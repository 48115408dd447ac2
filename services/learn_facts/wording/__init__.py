"""Words of customers in the languages that the product knows (see `services.core.wording`).

orders.txt     sentences that speak to the memory or its rules, not about the customer
grants.txt     keys of what we grant
numbers.txt    numbers in words
denials.txt    words that turn a sentence into its opposite
glue.txt       words that say nothing of what a sentence is about
"""

from services.core.wording import folded, wording


def says(name: str, text: str) -> bool:
    """Whether any line of `name.txt` stands in a text."""
    return wording(__name__, name).search(folded(text)) is not None


def said_of(name: str, text: str) -> frozenset[str]:
    """What of a text the lines of `name.txt` match, folded."""
    return frozenset(found.group() for found in wording(__name__, name).finditer(folded(text)))


def is_glue(word: str) -> bool:
    """Whether a folded word only holds a sentence together."""
    return wording(__name__, "glue").fullmatch(word) is not None
