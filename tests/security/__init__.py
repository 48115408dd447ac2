"""Attacks on a running product, from outside: mail goes in by webhook and IMAP, and what comes of it is judged."""
