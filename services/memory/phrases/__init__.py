"""Phrases of time in the languages that the product knows, a file each.

language.py   reads a language's file into patterns, and tells which languages a text may be in
meaning.py    what a match means: a kind of phrase and a function for it
*.toml        a language: its names of months, days, units and numbers, and the phrases they stand in

To teach a phrase, add a line to a language's file; to teach a language, add a file and name it in `language.NAMES`.
"""
