"""Memory in words, for the terminal."""
