"""What can go wrong, said once: temporary errors are tried again, permanent ones are not."""

from __future__ import annotations


class CorrespondentError(Exception):
    """The base of all errors of this project; its docstring is its message."""

    def __str__(self) -> str:
        return super().__str__() or (self.__doc__ or "").strip()


class Temporary(CorrespondentError):
    """Something outside did not answer; the same call may succeed later."""


class NotDoneYet(Temporary):
    """What was asked for is kept and waits for its turn; the words are meant for whoever asked."""


class Permanent(CorrespondentError):
    """The same call will fail again however often it is made."""


class Away(Temporary):
    """A service that everything waits for is away, for seconds or for days: what needs it waits, and is not given up.

    `answered` counts what the service answered to others until then. Where it goes on answering others and fails for
    the same event again and again, the event is at fault and not the service.
    """

    answered: int = 0


class DatabaseAway(Away):
    """Postgres cannot be reached, is starting or stopping, or has no room for anything."""


class BlobsAway(Away):
    """The store of bodies and attachments does not do what it is asked for: it has no room, or does not answer."""


class EmbedderUnavailable(Away):
    """The embedding service did not answer in time, answered that it is overloaded, or gave no vectors."""


class EmbedderDenied(EmbedderUnavailable):
    """The embedding service takes no request of ours: the key is wrong or revoked, or the account cannot pay."""


class ModelUnavailable(Away):
    """The model's service did not answer in time, or answered that it is overloaded."""


class ModelDenied(ModelUnavailable):
    """The model's service takes no question of ours: the key is wrong or revoked, or the account cannot pay."""


class ModelRefused(Permanent):
    """The model's service refused the request: the key, the model name or the request is wrong."""
