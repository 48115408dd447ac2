"""What can go wrong, said once: temporary errors are tried again, permanent ones are not."""

from __future__ import annotations


class CorrespondentError(Exception):
    """The base of all errors of this project; its docstring is its message."""

    def __str__(self) -> str:
        return super().__str__() or (self.__doc__ or "").strip()


class Temporary(CorrespondentError):
    """Something outside did not answer; the same call may succeed later."""


class Permanent(CorrespondentError):
    """The same call will fail again however often it is made."""


class ModelUnavailable(Temporary):
    """The model's service did not answer in time, or answered that it is overloaded."""


class ModelRefused(Permanent):
    """The model's service refused the request: the key, the model name or the request is wrong."""
