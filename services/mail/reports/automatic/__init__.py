"""Automatic replies recognised by their words: what a text says, what speaks for a robot, what for a person."""
