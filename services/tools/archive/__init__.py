"""Archive: old events leave the table for compressed files, and are still read by replay, rebuild and fold.

A file is one day's events, as stored, byte for byte: what is encrypted stays so. The table `archives` says which files
count; it changes in the transaction that deletes the rows, after the file was written, synced and read back.
"""
