"""The stream processors, one folder each, and `core`, which they share."""
