"""The commands of `correspondent`, one module a subject."""
