"""Periods of people's memory: which are to be told, asked for daily, and how they stand, for people to see."""

TASK = "periods"  # of each day
