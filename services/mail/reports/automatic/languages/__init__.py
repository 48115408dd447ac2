"""The parts of what robots and people say, one small table a language (named by its ISO 639-1 code).

A line is `part: phrase`, the phrase in the language of `phrases.py`. A table is read for mails in its language only, so
that its words may be short. Apart from the parts that are tables of all languages too (`../absent.txt` and its like):
`place` and `closed` make an office that is closed, `handling` says that what was received is looked at, `moved` is talk
of a new address, and `conversing` is what one says to a person who answered, which makes its author one.
"""
