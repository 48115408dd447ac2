"""Scrub: deleted rows leave the disk, too. Tables are rewritten, the write-ahead log is recycled.

Postgres deletes nothing: a deleted row lies in its page until another takes its place, and in the write-ahead log until
the segment is written over. `tables` rewrites files and turns the log over, `run` does both for what an erase has
marked (`residues`), `disk` searches the server's files for words.
"""
