"""Replies on their way out, for people: the ledger, and the addresses that get no mail."""
