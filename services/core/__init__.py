"""The runtime below processors: bus, database, keys, settings, blobs, HTTP, clock, errors. Imports no processor."""
