"""Archive: old events lie in compressed files, and are read there as in the table.

A file is one day's events, as stored, byte for byte: what is encrypted stays so. The table `archives` says which files
count.
"""
