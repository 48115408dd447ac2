"""What can go wrong with the embedded stack; each message says what the person can do about it."""


class EmbeddedStackFailed(RuntimeError):
    """The embedded stack could not be started or stopped."""


class HomeInUse(EmbeddedStackFailed):
    """Another process runs the stack in this folder."""


class PartFailed(EmbeddedStackFailed):
    """One part of the stack did not start; the message ends with the tail of its log."""
