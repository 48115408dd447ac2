"""A call that the code does not allow: said to the model, noted on the draft, and without effect."""

from services.core.errors import Permanent


class CallRefused(Permanent):
    """The call is not allowed."""
