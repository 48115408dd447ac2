"""Moves old events from the table into files of the archive, and back.

The table `archives` changes in the transaction that deletes the rows, after the file was written, synced and read back.
"""
