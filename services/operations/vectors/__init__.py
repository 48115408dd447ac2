"""Keeps vectors those of the model in use: facts and passages without one get theirs."""
