"""Erase: everything about a person is made unreadable at once, and what was derived from it is made again without it.

The order: `survey` reads the history and says what is about the person; `reseal` destroys keys and re-seals what other
people wrote; `refold` rebuilds the tables from what can still be read; all in one transaction. `run` then clears what
lies outside the database. `proof` searches every store for the person's words.
"""
