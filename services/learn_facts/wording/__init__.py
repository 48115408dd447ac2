"""Words of customers in the languages that the product knows (see `services.core.wording`).

orders.txt     sentences that speak to the memory or its rules, not about the customer
grants.txt     keys of what we grant
"""

from services.core.wording import folded, wording


def says(name: str, text: str) -> bool:
    """Whether any line of `name.txt` stands in a text."""
    return wording(__name__, name).search(folded(text)) is not None
